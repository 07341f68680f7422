package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"interlock"
	"interlock/internal/cosign"
	"interlock/internal/fileio"
)

// witnessCommand is a witness of logs. It needs no home: it should stand on another machine than the logs it watches.
type witnessCommand struct {
	Serve witnessServeCommand `cmd:"" help:"Cosign the heads of logs, each only if it goes on from what was cosigned before."`
	Key   witnessKeyCommand   `cmd:"" help:"Print the witness's public key, for those who check its cosignatures; made if there is none."`
}

// witnessDir is where a witness keeps its key and what it has seen.
type witnessDir struct {
	Dir  string `help:"Where the key is and what was seen; of this user alone." required:"" type:"path" placeholder:"DIR"`
	Name string `help:"The witness's name in a new key, such as witness.example/w1. Default: this machine's name and /interlock." placeholder:"NAME"`
}

const witnessKeyFile = "witness.key"

// key reads the witness's key, and makes it where there is none.
func (d *witnessDir) key() (cosign.Key, error) {
	if err := os.MkdirAll(d.Dir, 0o700); err != nil {
		return cosign.Key{}, interlock.Errorf(interlock.CodeUnavailable, "--dir", "can't be made: %s", fileio.Reason(err))
	}
	path := filepath.Join(d.Dir, witnessKeyFile)
	text, err := fileio.Own(path, 4096, fileio.Secret)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = d.newKey(path)
	}
	var key cosign.Key
	if err == nil {
		key, err = cosign.ParseKey(string(text))
	}
	if err != nil {
		return key, interlock.Errorf(interlock.CodeInvalid, "--dir", "its %s can't be used: %s", witnessKeyFile, fileio.Reason(err))
	}
	return key, nil
}

func (d *witnessDir) newKey(path string) ([]byte, error) {
	name := d.Name
	if name == "" {
		host, err := os.Hostname()
		if err != nil || host == "" {
			return nil, errors.New("this machine has no name; give one with --name")
		}
		name = host + "/interlock"
	}
	private, _, err := cosign.GenerateKey(rand.Reader, name)
	if err != nil {
		return nil, err
	}
	return []byte(private), writePrivate(path, []byte(private+"\n"))
}

type witnessKeyCommand struct{ witnessDir }

// Run prints the public key.
func (c *witnessKeyCommand) Run(p *program) error {
	key, err := c.key()
	if err == nil {
		_, err = fmt.Fprintln(p.stdout, key.Public())
	}
	return err
}

type witnessServeCommand struct {
	witnessDir
	Logs    string `help:"File with the public key of each log that is cosigned on a line." required:"" type:"path" placeholder:"FILE"`
	Listen  string `help:"Where it answers; beyond this machine it takes TLS." default:"127.0.0.1:7435" placeholder:"ADDR"`
	TLSCert string `name:"tls-cert" help:"The server's certificates, in PEM form." type:"path" placeholder:"FILE"`
	TLSKey  string `name:"tls-key" help:"Their private key, in PEM form." type:"path" placeholder:"FILE"`
	Ready   string `help:"Write the address to this file once requests are answered." type:"path" placeholder:"FILE"`
}

// Help is what `interlock witness serve --help` adds.
func (witnessServeCommand) Help() string {
	return "Speaks https://c2sp.org/tlog-witness: POST /add-checkpoint. What it cosigned last of each log is on disk before it answers; lost,\n" +
		"it could be made to cosign a log that was cut. Run it on another machine, or as another user, than the logs it watches."
}

// Run serves until it is interrupted.
func (c *witnessServeCommand) Run(p *program) error {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil || !isLoopback(host) && c.TLSCert == "" {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--listen",
			"%.60q is not a loopback address such as 127.0.0.1:7435; --tls-cert and --tls-key permit others", c.Listen))
	}
	text, err := fileio.Own(c.Logs, 1<<20, fileio.Settled)
	if err != nil {
		return interlock.Errorf(interlock.CodeInvalid, "--logs", "can't be used: %s", fileio.Reason(err))
	}
	logs, err := cosign.ParseLogs(string(text))
	if err != nil {
		return interlock.Errorf(interlock.CodeInvalid, "--logs", "%s", err)
	}
	key, err := c.key()
	if err != nil {
		return err
	}
	unlock, err := cosign.Lock(c.Dir)
	if err != nil {
		return interlock.Errorf(interlock.CodeConflict, "--dir", "%s", err)
	}
	defer func() { _ = unlock() }() // the process ends
	witness, err := cosign.New(key, c.Dir, logs, p.now)
	if err != nil {
		return interlock.Errorf(interlock.CodeInvalid, "--dir", "%s", err)
	}
	door, err := c.listen()
	if err != nil {
		return err
	}
	scheme := "http"
	if c.TLSCert != "" {
		scheme = "https"
	}
	fmt.Fprintf(p.stdout, "interlock witness at %s://%s, for %d logs\n  key %s\n", scheme, door.Addr(), len(logs), key.Public())
	if c.Ready != "" {
		if err := replaceFile(c.Ready, []byte(scheme+"://"+door.Addr().String()+"\n")); err != nil {
			fmt.Fprintln(p.stderr, "interlock: --ready:", err)
		}
	}
	return serveWitness(p.ctx, door, witness.Handler(slog.New(slog.NewJSONHandler(p.stderr, nil))))
}

// listen opens the door, under TLS where there are certificates.
func (c *witnessServeCommand) listen() (net.Listener, error) {
	door, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "--listen", "%s can't be listened on; is it in use?", c.Listen)
	}
	if c.TLSCert == "" {
		return door, nil
	}
	pair, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		door.Close()
		return nil, interlock.Errorf(interlock.CodeInvalid, "--tls-cert", "the certificate and --tls-key can't be used together")
	}
	return tls.NewListener(door, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}), nil
}

// The bounds of a witness's server: requests are small, and nobody shows who they are.
const (
	witnessRead = 10 * time.Second
	witnessIdle = 2 * time.Minute
)

func serveWitness(ctx context.Context, door net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadTimeout: witnessRead, WriteTimeout: witnessRead, IdleTimeout: witnessIdle, MaxHeaderBytes: 8 << 10}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(door) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), witnessRead)
	defer cancel()
	return server.Shutdown(last)
}
