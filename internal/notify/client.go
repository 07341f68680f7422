package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"interlock"
	"interlock/internal/notice"
)

// A client posts to one address. It follows no redirect, because a code must not go where nobody configured it to, and it
// speaks TLS to everything but this machine.
type client struct {
	address notice.Secret // with what is secret in it
	http    *http.Client
	tls     *tls.Config
}

// newClient returns a client for the address that a setting holds or refers to.
func newClient(field, setting string, c Config) (*client, error) {
	address := notice.Secret(setting)
	if isReference(setting) {
		var err error
		if address, err = secret(field, setting, c.Getenv); err != nil {
			return nil, err
		}
	}
	parsed, err := url.Parse(address.Reveal())
	switch {
	case err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http":
		return nil, interlock.Errorf(interlock.CodeInvalid, field, "is not an address that begins with https://")
	case parsed.Scheme == "http" && !isLoopback(parsed.Hostname()):
		return nil, interlock.Errorf(interlock.CodeInvalid, field,
			"must begin with https://; only this machine itself is spoken to without TLS")
	case !isReference(setting) && (parsed.User != nil || parsed.RawQuery != ""):
		return nil, interlock.Errorf(interlock.CodeInvalid, field,
			"holds a password or a query; put the address into a file and name it as file:PATH")
	}
	made := &client{address: address, tls: &tls.Config{MinVersion: tls.VersionTLS12}}
	made.http = &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: made.tls, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if c.trust != nil {
		c.trust(made, nil)
	}
	return made, nil
}

// post sends a body. An answer other than 2xx is a failure; nothing of it is repeated, because it may echo what was sent.
func (c *client) post(ctx context.Context, body []byte, header map[string]string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address.Reveal(), bytes.NewReader(body))
	if err != nil {
		return errors.New("the address can't be used")
	}
	request.Header.Set("User-Agent", "interlock")
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return failure(err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // what it says is of no use here
	switch {
	case response.StatusCode >= 300 && response.StatusCode < 400:
		return errors.New("the server redirects elsewhere, and that is not followed")
	case response.StatusCode < 200 || response.StatusCode >= 300:
		return errors.New("the server answers with status " + strconv.Itoa(response.StatusCode))
	}
	return nil
}

// failure says why a server was not reached, without its address or anything that was sent.
func failure(err error) error {
	var certificate *tls.CertificateVerificationError
	var unknown *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &certificate):
		return errors.New("the server's certificate is not trusted")
	case errors.As(err, &unknown):
		return errors.New("the server's name is not known")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.As(err, &timeout) &&
		timeout.Timeout():
		return errors.New("the server does not answer in time")
	default:
		return errors.New("the server can't be reached")
	}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
