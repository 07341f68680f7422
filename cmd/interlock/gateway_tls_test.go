package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interlock/cmd/interlock/serve"
	"interlock/internal/config"
	"interlock/test/wait"
)

// A renewed is a server with certificates in files, and a clock that the test moves.
type renewed struct {
	t       *testing.T
	dir     string
	address string
	clock   time.Time
	log     bytes.Buffer
	roots   *x509.CertPool
}

// newRenewed serves with what files hold. What is done to r.clock and r.log happens between connections.
func newRenewed(t *testing.T, files map[string][]byte, roots ...*authorityOf) *renewed {
	t.Helper()
	r := &renewed{t: t, dir: t.TempDir(), clock: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), roots: x509.NewCertPool()}
	for _, root := range roots {
		r.roots.AddCert(root.certificate)
	}
	r.write(files)
	settings := config.GatewayTLS{Cert: filepath.Join(r.dir, "cert.pem"), Key: filepath.Join(r.dir, "key.pem")}
	if files["ca.pem"] != nil {
		settings.ClientCA = filepath.Join(r.dir, "ca.pem")
	}
	secure, err := serve.GatewayTLS(settings, func() time.Time { return r.clock }, slog.New(slog.NewTextHandler(&r.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.address = listener.Addr().String()
	server := &http.Server{TLSConfig: secure, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			_, _ = io.WriteString(w, q.Proto)
		})}
	done := make(chan error, 1)
	go func() { done <- server.ServeTLS(listener, "", "") }()
	t.Cleanup(func() {
		_ = server.Shutdown(context.WithoutCancel(t.Context()))
		<-done
	})
	return r
}

func (r *renewed) write(files map[string][]byte) {
	r.t.Helper()
	for name, text := range files {
		next := filepath.Join(r.dir, name+".next") // put in place at once, as those who renew certificates do
		if err := os.WriteFile(next, text, 0o600); err != nil {
			r.t.Fatal(err)
		}
		if err := os.Rename(next, filepath.Join(r.dir, name)); err != nil {
			r.t.Fatal(err)
		}
	}
}

// serial is the number of the certificate that a new connection is shown, or why there was none. A client that has sessions takes
// up what it had before where it may.
func (r *renewed) serial(shown *tls.Certificate, sessions tls.ClientSessionCache) string {
	r.t.Helper()
	secure := &tls.Config{RootCAs: r.roots, ClientSessionCache: sessions, ServerName: "127.0.0.1"}
	if shown != nil {
		secure.Certificates = []tls.Certificate{*shown}
	}
	transport := &http.Transport{TLSClientConfig: secure, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: transport}).Get("https://" + r.address)
	if err != nil {
		return "refused"
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "HTTP/2.0" {
		r.t.Errorf("the answer is %q, %v", text, err)
	}
	return answer.TLS.PeerCertificates[0].Subject.CommonName
}

// later lets so much time pass that the files are looked at again.
func (r *renewed) later() { r.clock = r.clock.Add(serve.LookAgain) }

func (r *renewed) expect(moment, want string, logged int) {
	r.t.Helper()
	if got := r.serial(nil, nil); got != want {
		r.t.Errorf("%s the certificate is that of %s, want %s", moment, got, want)
	}
	if got := strings.Count(r.log.String(), "level=ERROR"); got != logged {
		r.t.Errorf("%s there are %d errors in the log, want %d: %s", moment, got, logged, r.log.String())
	}
}

// A certificate that changes counts from the next connection on, and one that can't be used changes nothing and is told once for each reason.
func TestCertificatesAreReadAgain(t *testing.T) {
	authority := newAuthorityOf(t, "authority")
	first, firstKey := authority.issue("first")
	second, secondKey := authority.issue("second")
	r := newRenewed(t, map[string][]byte{"cert.pem": first, "key.pem": firstKey}, authority)
	r.expect("at first", "first", 0)
	r.write(map[string][]byte{"cert.pem": second})
	r.expect("before it is looked at", "first", 0)
	r.later()
	r.expect("with a certificate that has no key yet", "first", 1)
	r.later()
	r.expect("still", "first", 1)
	r.write(map[string][]byte{"key.pem": secondKey})
	r.later()
	r.expect("with both", "second", 1)
	r.write(map[string][]byte{"cert.pem": []byte("garbage")})
	r.later()
	r.expect("with garbage", "second", 2)
	if err := os.Remove(filepath.Join(r.dir, "cert.pem")); err != nil {
		t.Fatal(err)
	}
	r.later()
	r.expect("without a file", "second", 3)
	r.write(map[string][]byte{"cert.pem": first, "key.pem": firstKey})
	r.later()
	r.expect("with the first again", "first", 3)
	if log := r.log.String(); strings.Contains(log, "PRIVATE") || strings.Count(log, "were read again") != 2 {
		t.Errorf("the log: %s", log)
	}
}

// An authority that is taken out lets in nobody from the next connection on, not even who takes up an earlier session.
func TestAuthoritiesOfClientsAreReadAgain(t *testing.T) {
	ours, theirs := newAuthorityOf(t, "ours"), newAuthorityOf(t, "theirs")
	certificate, key := ours.issue("gateway")
	root := func(a *authorityOf) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
	}
	r := newRenewed(t, map[string][]byte{"cert.pem": certificate, "key.pem": key, "ca.pem": root(ours)}, ours)
	sessions := tls.NewLRUClientSessionCache(4)
	our, their := ours.pair("robot"), theirs.pair("robot")
	look := func(moment, wantOurs, wantTheirs string) {
		t.Helper()
		if a, b := r.serial(our, sessions), r.serial(their, nil); a != wantOurs || b != wantTheirs {
			t.Errorf("%s: our client gets %s, their client %s", moment, a, b)
		}
	}
	look("at first", "gateway", "refused")
	r.write(map[string][]byte{"ca.pem": root(theirs)})
	look("before it is looked at", "gateway", "refused")
	r.later()
	look("with the other authority", "refused", "gateway")
	r.write(map[string][]byte{"ca.pem": []byte("garbage")})
	r.later()
	look("with garbage", "refused", "gateway")
	if err := os.Remove(filepath.Join(r.dir, "ca.pem")); err != nil {
		t.Fatal(err)
	}
	r.later()
	look("without a file", "refused", "gateway")
}

// The program serves a certificate that was put in place while it ran.
func TestGatewayRenewsItsCertificate(t *testing.T) {
	home := t.TempDir()
	authority := newAuthorityOf(t, "authority")
	put := func(name string) {
		t.Helper()
		certificate, key := authority.issue(name)
		for file, text := range map[string][]byte{"cert.pem": certificate, "key.pem": key} {
			if err := os.WriteFile(filepath.Join(home, file), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	put("first")
	settings := "gateway:\n  tls: {cert: " + filepath.Join(home, "cert.pem") + ", key: " + filepath.Join(home, "key.pem") + "}\n"
	if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	endpoint, _ := startGateway(t, home)
	address, _, _ := strings.Cut(strings.TrimPrefix(endpoint, "https://"), "/")
	roots := x509.NewCertPool()
	roots.AddCert(authority.certificate)
	shown := func() string {
		t.Helper()
		connection, err := tls.Dial("tcp", address, &tls.Config{RootCAs: roots})
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		return connection.ConnectionState().PeerCertificates[0].Subject.CommonName
	}
	if got := shown(); got != "first" {
		t.Errorf("at first the certificate is that of %s", got)
	}
	put("second")
	wait.Until(t, "the new certificate is served", func() bool { return shown() == "second" })
}
