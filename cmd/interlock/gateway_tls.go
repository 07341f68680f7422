package main

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"interlock"
	"interlock/internal/config"
	"interlock/internal/fileio"
)

// lookAgain is how often the files of certificates are looked at, at most.
const lookAgain = 2 * time.Second

// A renewable is a gateway's TLS as its files have it: when they change, connections from then on get what is new. What can't be
// read or doesn't fit together, a certificate without its new key yet, say, changes nothing.
type renewable struct {
	files   config.GatewayTLS
	now     func() time.Time
	logger  *slog.Logger
	current atomic.Pointer[tls.Config]

	mu     sync.Mutex
	looked time.Time
	read   [3]os.FileInfo // what current was read from; nil: not there
	failed string         // why what is there now was not taken
}

// gatewayTLS is the gateway's certificate and the authorities of its clients', read again when they change; nil: there is none.
func gatewayTLS(files config.GatewayTLS, now func() time.Time, logger *slog.Logger) (*tls.Config, error) {
	if files == (config.GatewayTLS{}) {
		return nil, nil
	}
	r := &renewable{files: files, now: now, logger: logger}
	r.looked, r.read = now(), r.look() // before they are read, so that a change meanwhile is seen
	secure, err := readGatewayTLS(files)
	if err != nil {
		return nil, err
	}
	r.current.Store(secure)
	outer := secure.Clone()
	outer.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return r.config(), nil }
	return outer, nil
}

// config is what the next connection gets.
func (r *renewable) config() *tls.Config {
	if r.mu.TryLock() { // or another is looking, and this one does not wait
		defer r.mu.Unlock()
		if now := r.now(); now.Sub(r.looked) >= lookAgain || now.Before(r.looked) {
			r.looked = now
			r.renewLocked()
		}
	}
	return r.current.Load()
}

func (r *renewable) renewLocked() {
	found := r.look()
	if r.failed == "" && sameFiles(found, r.read) {
		return
	}
	secure, err := readGatewayTLS(r.files)
	if err != nil { // tried again each time: what is written in two steps is whole at some point
		if text := err.Error(); text != r.failed {
			r.failed = text
			r.logger.Error("the gateway's certificates have changed and can't be used; those from before stay", "error", text)
		}
		return
	}
	r.current.Store(secure)
	r.read, r.failed = found, ""
	r.logger.Info("the gateway's certificates were read again")
}

// look is what the files are like now.
func (r *renewable) look() (found [3]os.FileInfo) {
	for n, name := range []string{r.files.Cert, r.files.Key, r.files.ClientCA} {
		if info, err := os.Stat(name); err == nil {
			found[n] = info
		}
	}
	return found
}

func sameFiles(a, b [3]os.FileInfo) bool {
	for n := range a {
		if (a[n] == nil) != (b[n] == nil) {
			return false
		}
		if a[n] != nil && (!a[n].ModTime().Equal(b[n].ModTime()) || a[n].Size() != b[n].Size() || !os.SameFile(a[n], b[n])) {
			return false
		}
	}
	return true
}

// maxPEM bounds a file of certificates or keys, in bytes.
const maxPEM = 4 << 20

// readGatewayTLS reads the gateway's certificate and the authorities of its clients'.
func readGatewayTLS(t config.GatewayTLS) (*tls.Config, error) {
	if t.Cert == "" || t.Key == "" {
		return nil, interlock.Errorf(interlock.CodeInvalid, "gateway.tls", "needs both cert and key, files in PEM form")
	}
	cert, err := fileio.Own(t.Cert, maxPEM, fileio.Settled)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "gateway.tls.cert", "can't be used: %s", fileio.Reason(err))
	}
	key, err := fileio.Own(t.Key, maxPEM, fileio.Secret)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "gateway.tls.key", "can't be used: %s", fileio.Reason(err))
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "gateway.tls", "cert and key can't be read or don't belong together")
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair},
		NextProtos: []string{"h2", "http/1.1"}}
	if t.ClientCA == "" {
		if t.Client != "" || t.Agent != "" {
			return nil, interlock.Errorf(interlock.CodeInvalid, "gateway.tls.client_ca",
				"is missing; name the file of authorities whose client certificates are taken")
		}
		return secure, nil
	}
	text, err := fileio.Own(t.ClientCA, maxPEM, fileio.Settled)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "gateway.tls.client_ca", "can't be used: %s", fileio.Reason(err))
	}
	secure.ClientCAs = x509.NewCertPool()
	if !secure.ClientCAs.AppendCertsFromPEM(text) {
		return nil, interlock.Errorf(interlock.CodeInvalid, "gateway.tls.client_ca", "holds no certificate in PEM form")
	}
	switch t.Client {
	case "", "required":
		secure.ClientAuth = tls.RequireAndVerifyClientCert
	case "optional":
		secure.ClientAuth = tls.VerifyClientCertIfGiven
	default:
		return nil, interlock.Errorf(interlock.CodeInvalid, "gateway.tls.client",
			"%.20q is neither required nor optional", t.Client)
	}
	return secure, nil
}
