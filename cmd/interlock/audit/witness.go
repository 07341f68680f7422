package audit

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
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/auditlog"
	"interlock/internal/config"
	"interlock/internal/cosign"
	"interlock/internal/fileio"
	"interlock/internal/witness"
)

// WitnessCommand is a witness of logs. It needs no home: it should stand on another machine than the logs it watches.
type WitnessCommand struct {
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
	return []byte(private), cli.WritePrivate(path, []byte(private+"\n"))
}

type witnessKeyCommand struct{ witnessDir }

// Run prints the public key.
func (c *witnessKeyCommand) Run(p *cli.Program) error {
	key, err := c.key()
	if err == nil {
		_, err = fmt.Fprintln(p.Stdout, key.Public())
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
func (c *witnessServeCommand) Run(p *cli.Program) error {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil || !cli.IsLoopback(host) && c.TLSCert == "" {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--listen",
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
	witness, err := cosign.New(key, c.Dir, logs, p.Now)
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
	fmt.Fprintf(p.Stdout, "interlock witness at %s://%s, for %d logs\n  key %s\n", scheme, door.Addr(), len(logs), key.Public())
	if c.Ready != "" {
		if err := cli.ReplaceFile(c.Ready, []byte(scheme+"://"+door.Addr().String()+"\n")); err != nil {
			fmt.Fprintln(p.Stderr, "interlock: --ready:", err)
		}
	}
	return serveWitness(p.Ctx, door, witness.Handler(slog.New(slog.NewJSONHandler(p.Stderr, nil))))
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

// witnessedDir holds, within the home, the newest checkpoint that each witness has cosigned.
const witnessedDir = "witnessed"

// A namedWitness is one that the settings name.
type namedWitness struct {
	at *url.URL
	by *cosign.Verifier
}

// witnessesOf are those that the settings name, or what is wrong with one.
func witnessesOf(settings config.Config) ([]namedWitness, error) {
	var all []namedWitness
	names := map[string]bool{}
	for n, w := range settings.Witnesses {
		field := fmt.Sprintf("witnesses[%d]", n)
		at, err := cosign.ParseURL(w.URL, cli.IsLoopback)
		if err != nil {
			return nil, interlock.Errorf(interlock.CodeInvalid, field+".url", "%s", err)
		}
		by, err := cosign.ParseVerifier(w.Key)
		if err != nil {
			return nil, interlock.Errorf(interlock.CodeInvalid, field+".key", "%s", err)
		}
		if names[keptBy(by)] {
			return nil, interlock.Errorf(interlock.CodeInvalid, field+".key", "is named twice")
		}
		names[keptBy(by)] = true
		all = append(all, namedWitness{at, by})
	}
	return all, nil
}

// unfit are the characters of a witness's name that a file's name does not get.
var unfit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[^a-zA-Z0-9-]+`)
})

// keptBy is the file for what a witness cosigned. The hash of its key tells witnesses of one name apart.
func keptBy(by *cosign.Verifier) string {
	name := unfit().ReplaceAllString(by.Name(), "_")
	return fmt.Sprintf("%.60s-%08x.checkpoint", name, by.KeyHash())
}

// WitnessTargets have the witnesses cosign each new head, as the other targets of checkpoints are told of it: a witness that fails is
// asked again with the next, and none holds up a decision.
func WitnessTargets(settings config.Config, backend *embedded.Backend) ([]checkpointTarget, error) {
	witnesses, err := witnessesOf(settings)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var targets []checkpointTarget
	for _, w := range witnesses {
		a := &asker{namedWitness: w, backend: backend, client: client, file: filepath.Join(settings.Home, witnessedDir, keptBy(w.by))}
		targets = append(targets, checkpointTarget{w.by.Name(), a.ask})
	}
	return targets, nil
}

// An asker has one witness cosign the log's heads.
type asker struct {
	namedWitness
	backend *embedded.Backend
	client  *http.Client
	file    string
	alarmed bool
}

// alertWitness is the kind of alert about a witness that has seen another log than this one.
const alertWitness = "witness-contradicts"

// ask has a checkpoint cosigned and keeps it. The witness says itself which size it has seen, where that is not what is kept here.
func (a *asker) ask(ctx context.Context, checkpoint []byte) error {
	head, readable := witness.ParseHead(checkpoint)
	if !readable {
		return errors.New("the checkpoint can't be read")
	}
	var old int64
	if kept, err := fileio.Plain(a.file, cosign.MaxRequest); err == nil {
		if before, ok := witness.ParseHead(kept); ok && before.Origin == head.Origin {
			old = min(before.Size, head.Size)
		}
	}
	cosigned, err := a.from(ctx, old, head.Size, checkpoint)
	var refusal *cosign.Refusal
	if errors.As(err, &refusal) && refusal.Sized && refusal.Size != old && refusal.Size <= head.Size {
		cosigned, err = a.from(ctx, refusal.Size, head.Size, checkpoint)
	}
	if errors.As(err, &refusal) {
		return a.contradicted(ctx, refusal, head.Size)
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(a.file), 0o700); err != nil {
		return errors.New("the cosigned checkpoint can't be kept")
	}
	return cli.ReplaceFile(a.file, cosigned)
}

// from asks with the proof that the log goes on from a size.
func (a *asker) from(ctx context.Context, old, size int64, checkpoint []byte) ([]byte, error) {
	r := cosign.Request{Old: old, Checkpoint: checkpoint}
	if old > 0 && old < size {
		proof, err := auditlog.ProveConsistency(ctx, a.backend.Store, size, old)
		if err != nil {
			return nil, fmt.Errorf("proving that the log goes on from %d entries: %w", old, err)
		}
		r.Proof = proof
	}
	return cosign.Ask(ctx, a.client, a.at, a.by, &r)
}

// contradicted raises the alarm where a witness has seen more than there is, or something else: the log was cut, or has two histories.
// A head that is older than what another process of this home had cosigned a moment ago is neither, and the next one tells.
func (a *asker) contradicted(ctx context.Context, refusal *cosign.Refusal, size int64) error {
	why := ""
	switch {
	case refusal.Sized && refusal.Size > size:
		if head, err := a.backend.Store.Head(ctx); err != nil || head.Size >= refusal.Size {
			return errors.New("the witness has seen a newer head already")
		}
		why = fmt.Sprintf("the witness %s has cosigned %d entries of this log, which has %d: it was cut", a.by.Name(), refusal.Size, size)
	case refusal.Status == http.StatusUnprocessableEntity, refusal.Status == http.StatusConflict && !refusal.Sized:
		why = fmt.Sprintf("the witness %s has cosigned another history of this log", a.by.Name())
	default:
		return refusal
	}
	if !a.alarmed {
		a.alarmed = a.backend.Alarm(ctx, alertWitness, why) == nil // else the next head says it
	}
	return errors.New(why)
}

// A vouching is how far witnesses vouch for a log.
type vouching struct {
	Names   []string `json:"names"`   // of the witnesses
	Entries int64    `json:"entries"` // for the first so many, each of as many witnesses as are required
}

// vouched counts the witnesses that have cosigned one of the checkpoints. The log has to contain them all, which is its verification's
// matter; required is how many there have to be.
func vouched(cosigned [][]byte, witnesses []*cosign.Verifier, required int) (vouching, error) {
	var v vouching
	var sizes []int64
	for _, by := range witnesses {
		var most int64
		for _, signed := range cosigned {
			head, readable := witness.ParseHead(signed)
			if _, yes := by.When(signed); yes && readable {
				most = max(most, head.Size)
			}
		}
		if most > 0 {
			v.Names = append(v.Names, by.Name())
			sizes = append(sizes, most)
		}
	}
	if len(sizes) < required {
		return v, interlock.Errorf(interlock.CodeInvalid, "--cosigned", "%d witnesses are required and %d have cosigned a head of this log",
			required, len(sizes))
	}
	slices.SortFunc(sizes, func(a, b int64) int { return int(max(min(b-a, 1), -1)) })
	if required > 0 {
		v.Entries = sizes[required-1]
	}
	return v, nil
}

// cosigned finds out how far witnesses vouch for the log, where that is asked for, and has their checkpoints held against it. unvouched
// is an error where they are too few; it counts once the log itself is sound.
func (c *auditVerifyCommand) cosigned(p *cli.Program, options *auditlog.VerifyOptions) (v *vouching, unvouched, err error) {
	if c.Cosigned < 0 || c.Cosigned == 0 && len(c.Witness) > 0 {
		return nil, nil, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--cosigned",
			"is how many witnesses are required, 1 or more"))
	}
	if c.Cosigned == 0 {
		return nil, nil, nil
	}
	keys, err := witnessKeys(p, c.Witness)
	if err != nil {
		return nil, nil, err
	}
	cosigned := slices.Clone(options.Earlier)
	if c.From == "" {
		settings, err := p.Settings()
		if err != nil {
			return nil, nil, err
		}
		kept := keptCosigned(settings.Home)
		cosigned, options.Earlier = append(cosigned, kept...), append(options.Earlier, kept...)
	}
	found, unvouched := vouched(cosigned, keys, c.Cosigned)
	return &found, unvouched, nil
}

// saysVouched says how far witnesses vouch for the log, or that too few do.
func (c *auditVerifyCommand) saysVouched(p *cli.Program, v *vouching, unvouched error) error {
	if v == nil || unvouched != nil || c.JSON {
		return unvouched
	}
	_, err := fmt.Fprintf(p.Stdout, "cosigned by %s: %d witnesses vouch for the first %d entries\n", strings.Join(v.Names, ", "), c.Cosigned, v.Entries)
	return err
}

// keptCosigned are the checkpoints that witnesses have cosigned, as they lie in a home.
func keptCosigned(home string) [][]byte {
	files, err := filepath.Glob(filepath.Join(home, witnessedDir, "*.checkpoint"))
	if err != nil {
		return nil
	}
	var kept [][]byte
	for _, file := range files {
		if text, err := fileio.Plain(file, cosign.MaxRequest); err == nil {
			kept = append(kept, text)
		}
	}
	return kept
}

// witnessKeys are the keys by which cosignatures count: those that were named, as a key or a file with one, or those of the settings.
func witnessKeys(p *cli.Program, named []string) ([]*cosign.Verifier, error) {
	var keys []*cosign.Verifier
	for _, text := range named {
		if !strings.Contains(text, "+") {
			file, err := fileio.Plain(text, 4096)
			if err != nil {
				return nil, interlock.Errorf(interlock.CodeNotFound, "--witness", "the key can't be read: %s", fileio.Reason(err))
			}
			text = string(file)
		}
		key, err := cosign.ParseVerifier(text)
		if err != nil {
			return nil, interlock.Errorf(interlock.CodeInvalid, "--witness", "%s", err)
		}
		if !slices.ContainsFunc(keys, func(k *cosign.Verifier) bool { return keptBy(k) == keptBy(key) }) { // counted once
			keys = append(keys, key)
		}
	}
	if len(named) > 0 {
		return keys, nil
	}
	settings, err := p.Settings()
	if err != nil {
		return nil, err
	}
	witnesses, err := witnessesOf(settings)
	for _, w := range witnesses {
		keys = append(keys, w.by)
	}
	return keys, err
}
