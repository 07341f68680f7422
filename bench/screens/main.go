// Command screens makes the pictures of the console for docs/operating.md: it fills a store with a day of a small team's
// agents, serves the console over it, and has Chromium look at its pages, wide and on a phone, in light and dark. It needs
// Chromium; scripts/screenshots.sh calls it.
package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/pem"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/crypto/ssh"

	"interlock"
	"interlock/embedded"
	"interlock/internal/auditlog"
	"interlock/internal/console"
	"interlock/internal/identity"
	"interlock/internal/ledger"
)

func main() {
	into := flag.String("into", "docs/pictures", "directory for the pictures")
	all := flag.Bool("all", false, "make those too that no document shows: every page, wide and on a phone, light and dark")
	flag.Parse()
	if err := run(context.Background(), *into, *all); err != nil {
		fmt.Fprintln(os.Stderr, "screens:", err)
		os.Exit(1)
	}
}

// A picture is one page as one browser shows it.
type picture struct {
	name string
	path string
	wide int
	high int
	dark bool
}

func run(ctx context.Context, into string, all bool) error {
	home, err := os.MkdirTemp("", "interlock-screens-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	backend, err := embedded.Open(ctx, embedded.Config{Home: filepath.Join(home, "store")})
	if err != nil {
		return err
	}
	defer backend.Close()
	signer, err := newSigner(home)
	if err != nil {
		return err
	}
	filled, err := fill(ctx, backend, signer)
	if err != nil {
		return fmt.Errorf("filling the store: %w", err)
	}
	address, stop, err := serve(backend)
	if err != nil {
		return err
	}
	defer stop()
	link, err := loginLink(address, signer)
	if err != nil {
		return err
	}
	browser, err := startBrowser(ctx)
	if err != nil {
		return err
	}
	defer browser.Close()
	if err := browser.open(ctx, link); err != nil {
		return err
	}
	if err := browser.click(ctx, "main form button"); err != nil {
		return err
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	for _, p := range filled.pictures(all) {
		png, err := browser.picture(ctx, address+p.path, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := os.WriteFile(filepath.Join(into, p.name+".png"), png, 0o644); err != nil {
			return err
		}
		fmt.Println(p.name, len(png))
	}
	return nil
}

// serve serves the console over a store on this machine.
func serve(backend *embedded.Backend) (address string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return "", nil, err
	}
	address = "http://localhost:" + port
	done := make(chan struct{})
	pages, err := console.New(console.Config{Backend: backend, Tokens: identity.NewTokens(backend.Ground, time.Now),
		Log:    backend.Store,
		Verify: backend.Proved, Attest: backend.Attest, URL: address, Logger: slog.New(slog.DiscardHandler),
		Now: time.Now, Done: done,
		Decision: func(ctx context.Context, request interlock.ApprovalRequest) (*interlock.Decision, error) {
			return behind(ctx, backend, request)
		},
		Facts: console.Facts{Rules: backend.Rules, Analyser: backend.Analyser(), Key: backend.Key, Version: "demonstration",
			Profile: backend.Settings.Profile, Channels: []string{"mail (email) to ops@example.com", "phone (ntfy)"}}})
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: pages, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }()
	return address, func() { close(done); _ = server.Close() }, nil
}

// behind finds the decision that left a request behind.
func behind(ctx context.Context, backend *embedded.Backend, request interlock.ApprovalRequest) (*interlock.Decision, error) {
	entries, err := backend.Store.Entries(ctx, interlock.EventReviewRequest, ledger.Before(-1, 100))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if d, err := auditlog.ReadDecision(e); err == nil && d.Request == request.ID {
			return &d.Decision, nil
		}
	}
	return nil, nil
}

// newSigner makes an operator's SSH key.
func newSigner(home string) (*identity.Signer, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(home, "key")
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		return nil, err
	}
	return identity.FileSigner(file, nil)
}

// loginLink is what `interlock operator login ada` prints.
func loginLink(address string, signer *identity.Signer) (string, error) {
	var nonce [16]byte
	if _, err := rand.Read(nonce[:]); err != nil {
		return "", err
	}
	ticket := console.Ticket{Operator: "ada", Nonce: hex.EncodeToString(nonce[:]), Issued: time.Now().UTC()}
	var err error
	if ticket.Signature, err = signer.SignApproval(rand.Reader, ticket.Statement(address)); err != nil {
		return "", err
	}
	return ticket.Link(address)
}
