package judge

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"interlock"
)

// The bounds of one exchange.
const (
	maxReply   = 256 << 10 // bytes of an answer with all that is around it
	maxHeaders = 32 << 10
	connectIn  = 10 * time.Second

	writeAtOnce = 16 << 10 // bytes of a question that leave in one piece: most are not longer
)

// A reply is what came of sending a question once.
type reply struct {
	body    []byte
	failure interlock.Judgment // its Failure is empty where body is an answer
	sent    bool               // the server may have begun to work, and to charge
	free    bool               // it said that it did not
	again   bool               // the connection broke before a byte of an answer
}

// newHTTP is a client that goes to one place and carries nothing along: no cookies, no proxy that the environment names, no redirects.
func newHTTP(c Config) *http.Client {
	transport := &http.Transport{
		DialContext:            (&net.Dialer{Timeout: connectIn, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.Roots},
		TLSHandshakeTimeout:    connectIn,
		DisableCompression:     true,
		MaxIdleConns:           c.InFlight,
		MaxIdleConnsPerHost:    c.InFlight,
		IdleConnTimeout:        60 * time.Second,
		MaxResponseHeaderBytes: maxHeaders,
		WriteBufferSize:        writeAtOnce,
		ForceAttemptHTTP2:      true,
	}
	if c.Proxy != nil {
		transport.Proxy = http.ProxyURL(c.Proxy)
	}
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// post sends a body to the judge's server once.
func (c *Client) post(ctx context.Context, path string, body []byte, sign func(h http.Header, key string)) reply {
	var sent, began atomic.Bool // the transport's own goroutines set them
	trace := &httptrace.ClientTrace{
		WroteHeaders:         func() { sent.Store(true) },
		GotFirstResponseByte: func() { began.Store(true) },
	}
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), http.MethodPost,
		strings.TrimSuffix(c.config.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return reply{failure: failed(interlock.JudgeUnavailable, "the address can't be used")}
	}
	request.GetBody = nil // else the transport would send it again by itself
	request.Header.Set("User-Agent", "interlock")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", "application/json")
	if c.config.Wire == WireAnthropic {
		request.Header.Set("Anthropic-Version", anthropicVersion)
	}
	if c.config.Key != nil {
		key, err := c.config.Key()
		if err != nil || key == "" || strings.ContainsAny(key, "\r\n\x00") {
			return reply{failure: failed(interlock.JudgeUnavailable, "the key of the judge can't be had")}
		}
		sign(request.Header, key)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return reply{failure: broken(ctx, err), sent: sent.Load(), again: !began.Load() && mayRetry(err)}
	}
	defer response.Body.Close()
	r := reply{sent: true}
	r.take(ctx, response)
	return r
}

// take reads an answer within its bounds.
func (r *reply) take(ctx context.Context, response *http.Response) {
	if status := response.StatusCode; status != http.StatusOK {
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 4<<10)) // it may repeat what was sent, so nobody looks at it
		r.failure, r.free = failed(interlock.JudgeUnavailable, statusReason(status)), true
		return
	}
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		r.failure = failed(interlock.JudgeMalformed, "what came back does not say that it is JSON")
		return
	}
	if e := response.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		r.failure = failed(interlock.JudgeMalformed, "what came back is compressed, which nobody asked for")
		return
	}
	r.body, err = io.ReadAll(io.LimitReader(response.Body, maxReply+1))
	switch {
	case len(r.body) > maxReply:
		r.body = nil
		r.failure = failed(interlock.JudgeMalformed, "what came back is longer than an answer may be")
	case err != nil && timedOut(ctx, err):
		r.failure = failed(interlock.JudgeTimeout, "the answer began and did not end in time")
	case err != nil:
		r.failure = failed(interlock.JudgeUnavailable, "the connection broke in the middle of the answer")
	case len(r.body) == 0:
		r.failure = failed(interlock.JudgeMalformed, "what came back is empty")
	}
}

// statusReason says what a server's status means, without its words.
func statusReason(status int) string {
	with := "the server answers with status " + strconv.Itoa(status)
	switch {
	case status >= 300 && status < 400:
		return "the server redirects elsewhere, and that is not followed"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return with + ": it does not take the key"
	case status == http.StatusNotFound:
		return with + ": it knows no such path or model"
	case status == http.StatusTooManyRequests:
		return with + ": it was asked too often, or its budget is used up"
	case status >= 400 && status < 500:
		return with + ": it does not take the request; see omit in the settings"
	}
	return with
}

// broken says why there was no answer, without addresses or anything that was sent.
func broken(ctx context.Context, err error) interlock.Judgment {
	var name *net.DNSError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return failed(interlock.JudgeTimeout, "whoever asked did not wait for the answer")
	case timedOut(ctx, err):
		return failed(interlock.JudgeTimeout, "the judge did not answer in time")
	case distrusted(err):
		return failed(interlock.JudgeUnavailable, "the server's certificate is not trusted")
	case errors.As(err, &name):
		return failed(interlock.JudgeUnavailable, "the server's name is not known")
	}
	return failed(interlock.JudgeUnavailable, "the server can't be reached, or closed the connection")
}

func timedOut(ctx context.Context, err error) bool {
	var slow net.Error
	return ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &slow) && slow.Timeout()
}

func distrusted(err error) bool {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &certificate) || errors.As(err, &record)
}

// mayRetry reports whether a second try may find another connection: not where the first failed for what it was.
func mayRetry(err error) bool {
	var slow net.Error
	var name *net.DNSError
	return !distrusted(err) && !errors.As(err, &name) && !(errors.As(err, &slow) && slow.Timeout())
}

// run asks a command.
func (c *Client) run(ctx context.Context, body []byte) reply {
	out, err := c.config.Run(ctx, c.config.Command, body, maxAnswer)
	r := reply{body: out, sent: true}
	switch {
	case ctx.Err() != nil:
		r.failure = failed(interlock.JudgeTimeout, "the judge's command did not answer in time")
	case err != nil:
		r.failure = failed(interlock.JudgeUnavailable, "the judge's command failed, or wrote too much")
	case len(out) == 0:
		r.failure = failed(interlock.JudgeMalformed, "the judge's command wrote nothing")
	}
	if r.failure.Failure != "" {
		r.free = true
	}
	return r
}
