// Command interlock-hook is `interlock hook` for a machine on which `interlock up` runs: it does the same, and starts three
// times as fast because nothing that decides is linked into it. It reads the payload, asks the server, and answers in the
// harness's dialect. Whatever it can't do it leaves to the interlock program beside it, which it becomes: other flags, no
// server, a payload that has to be recorded as refused. If that is missing, it refuses.
//
// `interlock install` registers it where it lies beside interlock.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"interlock/internal/account"
	"interlock/internal/harness"
	"interlock/internal/hook"
	"interlock/internal/lineage"
	"interlock/internal/secret"
	"interlock/internal/witness"
)

func main() {
	start := time.Now()
	args := os.Args[1:]
	var flags hook.Flags
	ok := false
	if len(args) == 0 {
		// A harness that doesn't know the form it was registered in runs the bare name. Help would let the tool run.
		os.Exit(refuse(flags, errBare))
	}
	if args[0] == "hook" {
		flags, ok = hook.ParseFlags(args[1:])
	}
	if ok && flags.Socket != "" && flags.Event != harness.ConfigChange {
		os.Exit(system(flags))
	}
	socket := socketOf(flags.Home, os.Getenv)
	if !ok || !exists(socket) || flags.Event == harness.ConfigChange { // which only the full program can judge
		os.Exit(refuse(flags, become(args, nil, nil)))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	hand := func(call hook.Call, payload []byte) (hook.Output, witness.News) {
		// Close to the deadline nothing is handed over: this process may be writing its refusal already.
		left := func() time.Duration { return flags.Deadline - time.Since(start) }
		if left() < hook.MinDeadline {
			return hook.Refuse(call, "deadline", "no decision was made within "+flags.Deadline.String()), witness.News{}
		}
		err := become(append(args, "--deadline", strconv.FormatInt(left().Milliseconds(), 10)+"ms"), payload,
			func() bool { return left() > hook.MinDeadline/2 })
		return hook.Refuse(call, "unavailable", err.Error()), witness.News{}
	}
	prompts, alone := lineage.Look(flags.Agent, os.Getenv)
	process := hook.Process{
		Agent: flags.Agent,
		Environment: hook.Environment{Event: flags.Event, Principal: account.Name(), Unattended: flags.Unattended || alone,
			Prompts: prompts, Exec: sandboxing(filepath.Dir(socket)), Home: namedHome(filepath.Dir(socket), os.Getenv)},
		Deadline: flags.Deadline,
		Socket:   socket,
		Key: func() (witness.Key, error) {
			return harness.ServerKey(os.Getenv("HOME"), flags.Agent, filepath.Dir(socket))
		},
		Redact: redacted,
		Stdin:  os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Judge: func(_ context.Context, call hook.Call, payload []byte) (hook.Output, witness.News) {
			return hand(call, payload)
		},
		Unreadable: func(_ context.Context, call hook.Call, payload []byte, _ error) (hook.Output, witness.News) {
			return hand(call, payload)
		},
		Held: func(agent, origin string) []witness.Head { return harness.HeldHeads(os.Getenv("HOME"), agent, origin) },
		Keep: func(agent string, news *witness.News) {
			_ = harness.KeepHeads(os.Getenv("HOME"), agent, news) // doctor says if it can't be kept
		},
	}
	code := process.Run(ctx)
	stop()
	os.Exit(code)
}

// refuse says no where there is nothing to hand the call to.
func refuse(flags hook.Flags, cause error) int {
	call, _ := hook.Parse(flags.Agent, nil, hook.Environment{Event: flags.Event})
	out := hook.Refuse(call, "unavailable", cause.Error())
	_, _ = os.Stdout.Write(out.Stdout) // the exit status has to say it if this does not
	_, _ = os.Stderr.Write(out.Stderr)
	return out.Exit
}

// system has the server of the system decide, as the full program does. What it does not answer is refused.
func system(flags hook.Flags) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	prompts, alone := lineage.Look(flags.Agent, os.Getenv)
	return hook.Process{Agent: flags.Agent, Deadline: flags.Deadline, Socket: flags.Socket, System: true, Redact: redacted,
		Environment: hook.Environment{Event: flags.Event, Principal: account.Name(), Unattended: flags.Unattended || alone, Prompts: prompts},
		Stdin:       os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Judge: func(_ context.Context, call hook.Call, _ []byte) (hook.Output, witness.News) {
			return hook.RefuseSystem(call, flags.Socket), witness.News{}
		},
	}.Run(ctx)
}

// What an agent is shown.
var (
	errMissing = errors.New("the interlock program is not beside interlock-hook; install both")
	errBare    = errors.New("interlock-hook was run without arguments; this harness is older than what interlock install wrote for it")
)

// program is the full program: beside this one, under its own name.
func program() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", errMissing
	}
	path := filepath.Join(filepath.Dir(self), "interlock"+filepath.Ext(self))
	if !exists(path) {
		return "", errMissing
	}
	return path, nil
}

// sandboxing is how commands that need a sandbox get one: the full program runs them, for this home.
func sandboxing(home string) *hook.Exec {
	path, err := program()
	if err != nil {
		return nil
	}
	return hook.NewExec(path, home, os.Getenv("PATH"))
}

func redacted(text string) string {
	clean, _ := secret.Redact(text)
	return clean
}

func exists(path string) bool {
	if path == "" {
		return false
	}
	_, err := os.Lstat(path)
	return err == nil
}

// maxSocketPath is how long a socket's path may be before it lies elsewhere; the full program knows where.
const maxSocketPath = 100

// socketOf is the server's socket for a home, or nothing where that takes more than joining paths. It repeats package
// config, which costs more to link than all of this program; a test holds the two together. On Windows it is always
// nothing.
func socketOf(home string, getenv func(string) string) string {
	if home == "" {
		home = getenv("INTERLOCK_HOME")
	}
	if home == "" {
		home = usualHome(runtime.GOOS, getenv)
	}
	path := filepath.Join(home, "interlock.sock")
	if !filepath.IsAbs(path) || len(path) > maxSocketPath {
		return ""
	}
	return path
}

// namedHome is the home that commands told to people have to name: none where they find it by themselves.
func namedHome(home string, getenv func(string) string) string {
	if found := getenv("INTERLOCK_HOME"); home == found || found == "" && home == usualHome(runtime.GOOS, getenv) {
		return ""
	}
	return home
}

func usualHome(goos string, getenv func(string) string) string {
	user, data := getenv("HOME"), getenv("XDG_DATA_HOME")
	switch {
	case goos == "windows":
		return ""
	case goos == "darwin" && user != "":
		return filepath.Join(user, "Library", "Application Support", "Interlock")
	case goos != "darwin" && filepath.IsAbs(data):
		return filepath.Join(data, "interlock")
	case user != "":
		return filepath.Join(user, ".local", "share", "interlock")
	}
	return ""
}
