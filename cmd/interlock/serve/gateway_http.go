package serve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/fileio"
	"interlock/internal/identity"
	"interlock/internal/kill"
	"interlock/internal/ledger"
	"interlock/internal/mcpgateway"
	"interlock/internal/mcphttp"
)

// serveGateway serves a gateway over HTTP until the program is interrupted.
func serveGateway(p *cli.Program, settings config.Config, backend *embedded.Backend, gateway *mcpgateway.Gateway, address,
	ready string) error {
	front, err := gatewayFront(settings, backend, gateway, "")
	if err != nil {
		return err
	}
	secure, err := GatewayTLS(settings.Gateway.TLS, cli.Now, gatewayLogger(p))
	if err != nil {
		return err
	}
	listener, err := gatewayListener(settings.Gateway, "--listen", address)
	if err != nil {
		return err
	}
	defer listener.Close()
	reached := gatewayAddress(listener, secure != nil) + front.Path()
	fmt.Fprintf(p.Stdout, "interlock %s is a gateway: profile %s, mode %s\n  mcp     %s\n", embedded.Version(), settings.Profile,
		settings.Mode, reached)
	if ready != "" {
		if err := cli.ReplaceFile(ready, []byte(reached+"\n")); err != nil {
			fmt.Fprintln(p.Stderr, "interlock: --ready:", err)
		}
	}
	return front.Serve(p.Ctx, listener, secure)
}

func gatewayAddress(listener net.Listener, secure bool) string {
	if secure {
		return "https://" + listener.Addr().String()
	}
	return "http://" + listener.Addr().String()
}

// gatewayFront is the HTTP front of a gateway, with the credentials the settings take. An empty path is the settings' own.
func gatewayFront(settings config.Config, backend *embedded.Backend, gateway *mcpgateway.Gateway,
	path string) (*mcphttp.Front, error) {
	g := settings.Gateway
	credentials := &identity.Credentials{Tokens: identity.NewTokens(backend.Known, cli.Now), Certificate: g.TLS.Agent,
		Ground: backend.Known, Now: cli.Now}
	if name := g.TLS.Agent; name != "" && !slices.Contains(identity.CertificateNames(), name) {
		return nil, interlock.Errorf(interlock.CodeInvalid, "gateway.tls.client_name", "%.20q is none of %s", name,
			strings.Join(identity.CertificateNames(), ", "))
	}
	var issuers []identity.Issuer
	var addresses, scopes []string
	for _, i := range g.Auth.Issuers {
		issuers = append(issuers, identity.Issuer{Name: i.Name, URL: i.Issuer, Audience: i.Audience, Keys: i.JWKS,
			Algorithms: i.Algorithms,
			Agent:      i.Agent, Principal: i.Principal, Scopes: i.Scopes})
		addresses = append(addresses, i.Issuer)
		for _, scope := range i.Scopes {
			if !slices.Contains(scopes, scope) {
				scopes = append(scopes, scope)
			}
		}
	}
	if len(issuers) > 0 {
		access, err := identity.NewAccessTokens(issuers, cli.Now)
		if err != nil {
			return nil, err
		}
		credentials.Access = access
	}
	return mcphttp.New(mcphttp.Config{Gateway: gateway, Credentials: credentials, Path: path, URL: g.URL,
		Issuers: addresses, Scopes: scopes,
		Hosts: g.Hosts, Origins: g.Origins, Limits: mcphttp.Limits{Connections: g.Connections, PerAddress: g.PerAddress}})
}

// gatewayListener listens where the gateway is to be reached, which the user has said in field. Tokens that go over a network go
// through TLS.
func gatewayListener(g config.Gateway, field, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	switch {
	case err != nil:
		return nil, cli.Usage(interlock.Errorf(interlock.CodeInvalid, field,
			"%.60q is not an address such as 127.0.0.1:7434", address))
	case !cli.IsLoopback(host) && !g.Remote:
		return nil, cli.Usage(interlock.Errorf(interlock.CodeInvalid, field,
			"%.60q is not a loopback address; gateway.allow_remote in the settings permits others", address))
	case !cli.IsLoopback(host) && g.TLS.Cert == "":
		return nil, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "gateway.tls.cert",
			"is missing; other machines come to the gateway through TLS only"))
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeUnavailable, field,
			"%s can't be listened on; is it in use? Name another with %s", address, field)
	}
	return listener, nil
}

// An upGateway is the gateway of `interlock up`: beside the API, or at an address of its own.
type upGateway struct {
	gateway  *mcpgateway.Gateway
	front    *mcphttp.Front
	listener net.Listener // nil: beside the API
	secure   *tls.Config
}

// newUpGateway makes the gateway for the servers of the settings; nil: there are none.
func newUpGateway(p *cli.Program, settings config.Config, backend *embedded.Backend) (*upGateway, error) {
	if len(settings.Gateway.Servers) == 0 {
		return nil, nil
	}
	servers, err := (&GatewayCommand{}).servers(p, settings)
	if err != nil {
		return nil, err
	}
	u := &upGateway{}
	path := ""
	if settings.Gateway.Listen == "" {
		path = "/gateway"
	} else {
		if u.secure, err = GatewayTLS(settings.Gateway.TLS, cli.Now, gatewayLogger(p)); err != nil {
			return nil, err
		}
		if u.listener, err = gatewayListener(settings.Gateway, "gateway.listen", settings.Gateway.Listen); err != nil {
			return nil, err
		}
	}
	if u.gateway, err = newGateway(p, settings, backend, servers); err == nil {
		u.front, err = gatewayFront(settings, backend, u.gateway, path)
	}
	if err != nil {
		u.close()
		return nil, err
	}
	return u, nil
}

// beside serves the gateway's paths before another handler's, if it has no address of its own.
func (u *upGateway) beside(others http.Handler) http.Handler {
	if u == nil || u.listener != nil || others == nil {
		return others
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u.front.Serves(r.URL.Path) {
			u.front.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}

// address is where agents reach the gateway; api is where the API is reached, or empty.
func (u *upGateway) address(api string) string {
	switch {
	case u == nil:
		return ""
	case u.listener != nil:
		return gatewayAddress(u.listener, u.secure != nil) + u.front.Path()
	case api == "":
		return ""
	}
	return "http://" + api + u.front.Path()
}

// serve serves until ctx ends; beside the API it looks after the sessions.
func (u *upGateway) serve(ctx context.Context, logger *slog.Logger) {
	if u == nil {
		return
	}
	if u.listener == nil {
		u.front.Tend(ctx)
		u.front.Quiesce() // the API's server waits for what is under way, but not for streams
		return
	}
	if err := u.front.Serve(ctx, u.listener, u.secure); err != nil {
		logger.Error("serving the gateway", "error", err.Error())
	}
}

// obey is obey for the gateway of `interlock up`.
func (u *upGateway) obey(ctx context.Context, home string) {
	if u == nil {
		return
	}
	obey(ctx, u.gateway, home)
}

// obey cuts a gateway off from its servers while everything is stopped.
func obey(ctx context.Context, gateway *mcpgateway.Gateway, home string) {
	kill.In(home).Watch(ctx, cli.KillEvery, cli.Now, func(step ledger.KillStep, _ ledger.HoldBody) { gateway.Cut(step == ledger.KillStopped) })
}

func (u *upGateway) close() {
	if u == nil {
		return
	}
	if u.listener != nil {
		u.listener.Close()
	}
	if u.front != nil {
		u.front.Close()
	}
	if u.gateway != nil {
		u.gateway.Close()
	}
}

// LookAgain is how often the files of certificates are looked at, at most.
const LookAgain = 2 * time.Second

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

// GatewayTLS is the gateway's certificate and the authorities of its clients', read again when they change; nil: there is none.
func GatewayTLS(files config.GatewayTLS, now func() time.Time, logger *slog.Logger) (*tls.Config, error) {
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
		if now := r.now(); now.Sub(r.looked) >= LookAgain || now.Before(r.looked) {
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
