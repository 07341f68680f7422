package judge

import (
	"net"
	"net/url"
	"slices"
	"time"

	"interlock"
)

// The bounds of settings.
const (
	maxInFlight = 10_000
	maxAllowed  = 1 << 20 // bytes of a question
	maxOut      = 32 << 10
	maxTimeout  = 10 * time.Minute
)

// check refuses what no judge can be made of, and names the field as the settings do.
func (c Config) check() error {
	wrong := func(field, format string, args ...any) error {
		return interlock.Errorf(interlock.CodeInvalid, field, format, args...)
	}
	switch {
	case c.Name == "":
		return wrong("name", "is missing")
	case c.Ground == nil || c.Nonce == nil || c.Now == nil:
		return wrong("rules", "a judge needs ground rules, randomness and a clock")
	case c.Model == "" && c.Wire != WireCommand:
		return wrong("model", "is missing; name the exact version of the model")
	case c.Timeout <= 0 || c.Timeout > maxTimeout:
		return wrong("timeout", "must be more than 0 and at most %v", maxTimeout)
	case c.MaxPayload < 256 || c.MaxPayload > maxAllowed:
		return wrong("max_payload", "must be from 256 bytes to 1 MB")
	case c.Context != 0 && (c.Context < 1024 || c.Context > maxTokens):
		return wrong("context", "must be from 1024 to %d tokens", maxTokens)
	case c.MaxTokens < 32 || c.MaxTokens > maxOut:
		return wrong("max_answer_tokens", "must be from 32 to %d", maxOut)
	case c.InFlight < 1 || c.InFlight > maxInFlight:
		return wrong("in_flight", "must be from 1 to %d", maxInFlight)
	case c.Waiting < 0 || c.Waiting > maxInFlight:
		return wrong("waiting", "must be from 0 to %d", maxInFlight)
	case len(c.Canary.Deny) == 0 || len(c.Canary.Allow) == 0 || c.Canary.Every <= 0:
		return wrong("canary", "a judge needs a question that it must deny, one that it must allow, and a time between tests")
	}
	for _, what := range c.Omit {
		if !slices.Contains([]string{OmitTemperature, OmitSeed, OmitFormat, OmitMaxTokens}, what) {
			return wrong("omit", "%.40q can't be left out; name temperature, seed, format or max_tokens", what)
		}
	}
	if err := c.Price.check(); err != nil {
		return err
	}
	return c.checkPlace()
}

func (p Price) check() error {
	for _, one := range []struct {
		field string
		value int64
	}{{"price_in", p.In}, {"price_out", p.Out}, {"price_cached", p.Cached}} {
		if one.value < 0 || one.value > MaxPrice {
			return interlock.Errorf(interlock.CodeInvalid, one.field, "must be from 0 to 10000 for a million tokens")
		}
	}
	if _, known := interlock.MinorUnits(p.Currency); !known && (p.In > 0 || p.Out > 0 || p.Cached > 0) {
		return interlock.Errorf(interlock.CodeInvalid, "currency", "must name the currency of the prices, such as USD")
	}
	return nil
}

// checkPlace refuses an address that questions must not go to: they say what agents do, and to change an answer is to decide.
func (c Config) checkPlace() error {
	wrong := func(field, what string) error { return interlock.Errorf(interlock.CodeInvalid, field, "%s", what) }
	switch c.Wire {
	case WireCommand:
		if len(c.Command) == 0 || c.Command[0] == "" || c.Run == nil {
			return wrong("command", "is missing; name the program that answers, and its arguments")
		}
		return nil
	case WireChat, WireResponses, WireAnthropic:
	default:
		return wrong("wire", "is not known; name openai-chat, openai-responses, anthropic or command")
	}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return wrong("url", "is no address that begins with https://")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return wrong("url", "must hold no user, query or fragment; name the key as key")
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return wrong("url", "must begin with https://; only this machine itself is spoken to without TLS")
	case c.Proxy != nil && u.Scheme == "http":
		return wrong("proxy", "an address of this machine is not reached by a proxy")
	case c.Proxy != nil && (c.Proxy.Host == "" || c.Proxy.Scheme != "http" && c.Proxy.Scheme != "https" || c.Proxy.User != nil):
		return wrong("proxy", "is no address such as http://proxy.example:3128, without a user")
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
