package conform

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"interlock/internal/fileio"
)

// A Command is one call of the program.
type Command struct {
	Args           []string
	Env            []string // NAME=VALUE, the whole of it
	Dir            string
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	Tool        string // another program of the machine in its place; empty: this one
	User, Group int    // of the system, as which it runs; 0: the user who runs this
}

// A Program runs a command until it ends, or the context does, and returns its exit status.
type Program func(ctx context.Context, c Command) int

// An Env is what the package drives with.
type Env struct {
	Root    string                                      // an empty directory, which the caller removes
	Process Program                                     // each command as a process of its own
	Clocked func(now func() time.Time) Program          // commands in this process, by another clock
	Found   func(ctx context.Context, f Founding) error // makes the first operator, which otherwise takes a person at a terminal
	NewKey  func(passphrase string) (private, public []byte, err error)
	Now     func() time.Time
}

// A Founding is the first operator of a home.
type Founding struct {
	Home, Name string
	Public     string // the line of the public key
	Now        func() time.Time
}

// A Driver makes homes and drives them, one check after another.
type Driver struct {
	env        Env
	passphrase string
	askpass    string

	mu      sync.Mutex
	houses  map[string]*House
	judges  map[string]*judgeServer
	users   *userServer
	secrets []string
	steps   []Step
}

// NewDriver makes a driver. The caller closes it.
func NewDriver(env Env) (*Driver, error) {
	word := make([]byte, 12)
	if _, err := rand.Read(word); err != nil {
		return nil, fmt.Errorf("reading randomness: %w", err)
	}
	d := &Driver{env: env, passphrase: hex.EncodeToString(word), houses: map[string]*House{}, judges: map[string]*judgeServer{}}
	d.secrets = append(d.secrets, d.passphrase)
	name, text := "askpass", "#!/bin/sh\necho "+d.passphrase+"\n"
	if runtime.GOOS == "windows" {
		name, text = "askpass.cmd", "@echo "+d.passphrase+"\r\n"
	}
	d.askpass = filepath.Join(env.Root, name)
	if err := os.WriteFile(d.askpass, []byte(text), 0o700); err != nil {
		return nil, fmt.Errorf("writing to the temporary directory: %w", err)
	}
	return d, nil
}

// Close ends every server.
func (d *Driver) Close() {
	for _, h := range d.houses {
		h.Down()
	}
	for _, judge := range d.judges {
		judge.close()
	}
	if d.users != nil {
		d.users.close()
	}
}

// A Plan is what a home is made with.
type Plan struct {
	Name     string // two checks that name one get the same home
	Profile  string // guard without one
	Rules    string // a document of rules
	Settings string // of interlock.yaml
	Clocked  bool   // its clock can be moved; its commands then run in this process

	Ago time.Duration // how long ago the clock of such a home begins
}

// A House is a home with a server, the operator ada, who governs, and whatever agents and operators are added.
type House struct {
	Home, Work string // the home, and a workspace beside it
	API        string // address of the server, with its scheme; empty: it is down
	Door       string // that of its control door

	d       *Driver
	plan    Plan
	program Program
	tokens  map[string]string
	keys    map[string]string // of operators: private key files
	ahead   time.Duration     // of the machine's clock
	mu      sync.Mutex
	stop    context.CancelFunc
	stopped chan struct{}
	errs    *tail
}

// House is the home of a plan, which is made when it is first asked for.
func (d *Driver) House(ctx context.Context, plan Plan) (*House, error) {
	if h := d.houses[plan.Name]; h != nil {
		return h, nil
	}
	dir := filepath.Join(d.env.Root, plan.Name)
	h := &House{d: d, plan: plan, Home: filepath.Join(dir, "home"), Work: filepath.Join(dir, "work"), tokens: map[string]string{},
		keys: map[string]string{}, program: d.env.Process, ahead: -plan.Ago}
	if plan.Clocked {
		h.program = d.env.Clocked(h.Now)
	}
	for _, needed := range []string{filepath.Join(h.Home, "rules"), filepath.Join(h.Work, ".git"), filepath.Join(dir, "user")} {
		if err := os.MkdirAll(needed, 0o700); err != nil {
			return nil, fmt.Errorf("making a home: %w", err)
		}
	}
	files := map[string]string{filepath.Join(h.Work, ".git", "HEAD"): "ref: refs/heads/main\n"}
	if plan.Rules != "" {
		files[filepath.Join(h.Home, "rules", "team.yaml")] = plan.Rules
	}
	settings := plan.Settings
	if plan.Profile != "" {
		settings += "profile: " + plan.Profile + "\n"
	}
	if settings != "" {
		files[filepath.Join(h.Home, "interlock.yaml")] = settings
	}
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("making a home: %w", err)
		}
	}
	public, err := h.key("ada")
	if err != nil {
		return nil, err
	}
	if err := d.env.Found(ctx, Founding{Home: h.Home, Name: "ada", Public: public, Now: h.Now}); err != nil {
		return nil, fmt.Errorf("making the first operator: %w", err)
	}
	d.houses[plan.Name] = h
	return h, h.Up(ctx)
}

// key makes a throw-away key and returns its public half.
func (h *House) key(name string) (public string, err error) {
	private, text, err := h.d.env.NewKey(h.d.passphrase)
	if err != nil {
		return "", fmt.Errorf("making a key: %w", err)
	}
	file := filepath.Join(filepath.Dir(h.Home), name)
	if err := errors.Join(os.WriteFile(file, private, 0o600), os.WriteFile(file+".pub", text, 0o600)); err != nil {
		return "", fmt.Errorf("writing a key: %w", err)
	}
	h.keys[name] = file
	return strings.TrimSpace(string(text)), nil
}

// PublicKey is the file of somebody's public key, which is made where there is none.
func (h *House) PublicKey(name string) (string, error) {
	if h.keys[name] == "" {
		if _, err := h.key(name); err != nil {
			return "", err
		}
	}
	return h.keys[name] + ".pub", nil
}

// KeyFile is the file of an operator's private key.
func (h *House) KeyFile(operator string) string { return h.keys[operator] }

// Now is the time in this home.
func (h *House) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Add(h.ahead)
}

// Pass lets time pass in a home whose clock can be moved.
func (h *House) Pass(d time.Duration) {
	if !h.plan.Clocked {
		panic("the clock of " + h.plan.Name + " can't be moved")
	}
	h.mu.Lock()
	h.ahead += d
	h.mu.Unlock()
	h.d.note(Step{Door: "clock", Sent: "+" + d.String()})
}

// environment is that of every command in the home: nothing of this process's but what programs need to start.
func (h *House) environment() []string {
	env := []string{"INTERLOCK_HOME=" + h.Home, "HOME=" + filepath.Join(filepath.Dir(h.Home), "user"), "SSH_ASKPASS=" + h.d.askpass,
		"SSH_ASKPASS_REQUIRE=force"}
	for _, name := range []string{"PATH", "SystemRoot", "TEMP", "TMP", "TMPDIR", "INTERLOCK_TEST_MAIN"} {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// maxFile bounds what is read of files.
const maxFile = 256 << 20

// upTime bounds how long a server takes to answer.
const upTime = time.Minute

// Up starts the server, and returns once it answers.
func (h *House) Up(ctx context.Context) error {
	ready := filepath.Join(filepath.Dir(h.Home), "ready")
	_ = os.Remove(ready) // of a server before
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	h.stop, h.stopped, h.errs = stop, make(chan struct{}), &tail{}
	go func() {
		defer close(h.stopped)
		h.program(serving, Command{Args: []string{"up", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--ready", ready},
			Env: h.environment(), Dir: h.Work, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: h.errs})
	}()
	limit := time.NewTimer(upTime)
	defer limit.Stop()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-h.stopped:
			return fmt.Errorf("the server ended: %s", h.errs)
		case <-limit.C:
			h.Down()
			return fmt.Errorf("the server does not answer: %s", h.errs)
		case <-look.C:
		}
		text, err := fileio.Plain(ready, maxFile)
		if err != nil {
			continue
		}
		for _, line := range strings.Split(string(text), "\n") {
			if address, found := strings.CutPrefix(line, "control "); found {
				h.Door = address
			} else if strings.HasPrefix(line, "http://") {
				h.API = line
			}
		}
		return nil
	}
}

// Down ends the server.
func (h *House) Down() {
	if h.API == "" {
		return
	}
	h.stop()
	<-h.stopped
	h.API, h.Door = "", ""
}

// A tail keeps the end of what a server wrote.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.text.Len() > 64<<10 {
		t.text.Reset()
	}
	return t.text.Write(text)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.text.String())
}
