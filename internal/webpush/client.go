package webpush

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"interlock"
	"interlock/internal/hostname"
)

// maxEndpoint bounds the address of a push service, in bytes.
const maxEndpoint = 2048

// errGone says that a browser does not want to be told any more, as its push service knows.
var errGone = errors.New("the browser has switched it off")

// errInside says that an address is of this machine or of a network that strangers don't reach.
var errInside = errors.New("the push service is at an address inside; push_hosts in the settings can name it")

// parse reads what a browser says about itself, and refuses what no message may go to.
func parse(endpoint, key, auth string, hosts []string) (target, error) {
	to, err := url.Parse(endpoint)
	switch {
	case err != nil || len(endpoint) > maxEndpoint || to.Scheme != "https" || to.Host == "" || to.User != nil || to.Fragment != "":
		return target{}, interlock.Errorf(interlock.CodeInvalid, "endpoint", "is not the https address of a push service")
	case !slices.Contains(hosts, to.Hostname()) && inside(to.Hostname()):
		return target{}, interlock.Errorf(interlock.CodeInvalid, "endpoint", "%s", errInside)
	}
	t := target{endpoint: endpoint}
	point, err := unpadded(key)
	if err == nil {
		t.public, err = ecdh.P256().NewPublicKey(point)
	}
	if err == nil {
		t.auth, err = unpadded(auth)
	}
	if err != nil || len(t.auth) != authBytes {
		return target{}, interlock.Errorf(interlock.CodeInvalid, "p256dh", "the browser's keys can't be used")
	}
	return t, nil
}

// inside reports whether a host is one that strangers don't reach, as far as its name says: what it resolves to is looked at when it
// is called.
func inside(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return !hostname.Public(address)
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") ||
		strings.HasSuffix(host, ".internal")
}

// A client speaks to push services.
type client struct {
	key     func() (Key, error)
	contact string
	hosts   []string
	now     func() time.Time
	direct  *http.Client // connects itself, and looks where to
	named   *http.Client // for hosts that the settings name, and by way of the system's proxy, which looks names up itself
}

func newClient(c Config) *client {
	client := &client{key: c.Key, contact: c.Contact, hosts: c.Hosts, now: c.Now}
	dialer := &net.Dialer{Timeout: c.Timeout, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !hostname.Public(to.Addr()) {
			return errInside
		}
		return nil
	}}
	made := func(dial *net.Dialer, proxy func(*http.Request) (*url.URL, error)) *http.Client {
		return &http.Client{
			Transport: &http.Transport{Proxy: proxy, DialContext: dial.DialContext, DisableKeepAlives: true,
				TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.Roots}},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       c.Timeout,
		}
	}
	client.direct = made(dialer, nil)
	client.named = made(&net.Dialer{Timeout: c.Timeout}, http.ProxyFromEnvironment)
	return client
}

// send hands one message to a browser's push service, to be kept for a while if the browser is away. A later one of the same topic takes
// the place of one that has not been fetched.
func (c *client) send(ctx context.Context, t target, plain []byte, topic string, keep time.Duration) error {
	body, err := seal(t, plain, rand.Reader)
	if err != nil {
		return err
	}
	key, err := c.key()
	if err != nil {
		return errors.New("the key for push messages can't be used")
	}
	authorization, err := key.authorization(t.endpoint, c.contact, c.now())
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.endpoint, bytes.NewReader(body))
	if err != nil {
		return errors.New("the address can't be used")
	}
	for name, value := range map[string]string{"Authorization": authorization, "Content-Encoding": "aes128gcm",
		"Content-Type": "application/octet-stream", "TTL": strconv.Itoa(max(0, int(keep.Seconds()))), "Urgency": "high",
		"User-Agent": "interlock"} { // any order
		request.Header.Set(name, value)
	}
	if topic != "" {
		request.Header.Set("Topic", topic)
	}
	by := c.direct
	if proxy, err := http.ProxyFromEnvironment(request); slices.Contains(c.hosts, request.URL.Hostname()) || err == nil && proxy != nil {
		by = c.named
	}
	response, err := by.Do(request)
	if err != nil {
		return unreached(err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // what it says is of no use here
	switch status := response.StatusCode; {
	case status == http.StatusNotFound || status == http.StatusGone:
		return errGone
	case status >= 300 && status < 400:
		return errors.New("the push service redirects elsewhere, and that is not followed")
	case status < 200 || status >= 300:
		return errors.New("the push service answers with status " + strconv.Itoa(status))
	}
	return nil
}

// unreached says why a push service was not reached, without its address, which anyone who knows it could send to.
func unreached(err error) error {
	var certificate *tls.CertificateVerificationError
	var unknown *net.DNSError
	var timeout net.Error
	switch {
	case errors.Is(err, errInside):
		return errInside
	case errors.As(err, &certificate):
		return errors.New("the push service's certificate is not trusted")
	case errors.As(err, &unknown):
		return errors.New("the push service's name is not known")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("the push service does not answer in time")
	}
	return errors.New("the push service can't be reached")
}
