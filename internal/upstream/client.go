package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/textproto"
	"strings"
	"time"

	"interlock/internal/fileio"
)

// errRedirect refuses a redirect that would take a message, and the headers with it, to another place or turn it into another.
var errRedirect = errors.New("the server redirects to another place")

// maxRedirects bounds redirects within one server.
const maxRedirects = 3

// connections bounds idle connections kept to one server.
const connections = 64

// newClient returns the HTTP client of one server. Certificates are always verified.
func newClient(c Config, o Options) (*http.Client, error) {
	authorities, err := authorities(c.CA)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: c.Connect}).DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: authorities},
		TLSHandshakeTimeout:    c.Connect,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           connections,
		MaxIdleConnsPerHost:    connections,
		IdleConnTimeout:        90 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true,
	}
	if o.Trust != nil {
		o.Trust(transport)
	}
	return &http.Client{Transport: transport, CheckRedirect: sameServer}, nil
}

// sameServer follows redirects of the same request on the same server.
func sameServer(next *http.Request, before []*http.Request) error {
	first := before[0]
	if len(before) > maxRedirects || next.URL.Scheme != first.URL.Scheme || next.URL.Host != first.URL.Host ||
		next.Method != first.Method {
		return errRedirect
	}
	return nil
}

// maxCertificates bounds what is read of a file of authorities, in bytes.
const maxCertificates = 4 << 20

// authorities are the system's and those in a file.
func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := fileio.Own(file, maxCertificates, fileio.Settled)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, invalid("ca", "the file of certificates can't be read")
	}
	if err != nil {
		return nil, invalid("ca", "the file of certificates can't be read: %s", fileio.Reason(err))
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, invalid("ca", "the file holds no certificate in PEM form")
	}
	return pool, nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

// validHeader reports whether a name may be a header's (RFC 9110 5.6.2).
func validHeader(name string) bool {
	const token = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	return name != "" && len(name) <= 128 && strings.Trim(name, token) == ""
}

// reservedHeader reports whether a header is the transport's to set.
func reservedHeader(name string) bool {
	switch name = textproto.CanonicalMIMEHeaderKey(name); name {
	case "Host", "Content-Type", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Te", "Trailer", "Accept",
		"Accept-Encoding", "Last-Event-Id",
		"Idempotency-Key", "X-Idempotency-Key": // with one of these two the standard library would send a message again
		return true
	default:
		return strings.HasPrefix(name, "Mcp-") && name != "Mcp-"
	}
}
