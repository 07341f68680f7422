package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"interlock/internal/account"
	"interlock/internal/config"
	"interlock/internal/witness"
)

// TestMain lets the test binary stand in for this program, and for the full one, which here only says what it was given.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"interlock-hook": main,
		"interlock": func() {
			payload, _ := io.ReadAll(os.Stdin)
			fmt.Printf("interlock %s\n%s\n", strings.Join(os.Args[1:], " "), payload)
			os.Exit(7)
		},
	})
}

// TestScripts runs the program as a harness would.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata", RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir+"/user")
			env.Setenv("INTERLOCK_HOME", env.WorkDir+"/home")
			env.Setenv("TMPDIR", env.WorkDir+"/tmp")
			env.Setenv("PRINCIPAL", account.Name())
			for _, dir := range []string{"/user", "/home", "/tmp"} {
				if err := os.Mkdir(env.WorkDir+dir, 0o700); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"serve": serve},
	})
}

// serve answers every request on the home's socket as the server does, which has the key of the home's log, or as somebody else who
// does not: [!] serve STATUS FILE.
func serve(ts *testscript.TestScript, impostor bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: serve status file")
	}
	body := ts.ReadFile(args[1])
	private := "PRIVATE+KEY+interlock/0011223344556677+a9a16d07+AVYtp9Q8uVrUsvSnJZ4hlJLFcKZZkTYs2oGC7tmc0XyC"
	if impostor {
		private = strings.Replace(private, "AVYt", "AWYt", 1)
	}
	key, err := witness.ParseKey(private)
	ts.Check(err)
	if !impostor {
		ts.Check(os.WriteFile(filepath.Join(ts.Getenv("INTERLOCK_HOME"), "log.key"), []byte(private), 0o600))
	}
	listener, err := net.Listen("unix", filepath.Join(ts.Getenv("INTERLOCK_HOME"), "interlock.sock"))
	ts.Check(err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body)
		ts.Check(os.WriteFile(ts.MkAbs("asked"), asked, 0o600))
		var status int
		_, _ = fmt.Sscan(args[0], &status)
		w.Header().Set(witness.SignatureHeader, key.Sign(&witness.Answer{Nonce: r.Header.Get(witness.NonceHeader), Method: r.Method,
			Path: r.URL.Path, Asked: sha256.Sum256(asked), Status: status, Reply: sha256.Sum256([]byte(body))}))
		w.Header().Set(witness.ProofHeader, "+ +") // all it says is of one size
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})}
	go func() { _ = server.Serve(listener) }()
	ts.Defer(func() { server.Close() })
}

// TestSocket: this program looks for the server where package config puts it.
func TestSocket(t *testing.T) {
	for _, env := range []map[string]string{
		{"INTERLOCK_HOME": "/a/b"}, {"HOME": "/home/ann"}, {"HOME": "/home/ann", "XDG_DATA_HOME": "/data"},
		{"HOME": "/home/ann", "XDG_DATA_HOME": "data"}, {"INTERLOCK_HOME": "/" + strings.Repeat("deep/", 30)},
	} {
		getenv := func(name string) string { return env[name] }
		t.Setenv("HOME", env["HOME"]) // which config asks the system for
		home, err := config.DefaultHome(getenv)
		if err != nil {
			t.Fatal(err)
		}
		want := config.Socket(home)
		if got := socketOf("", getenv); got != want && (got != "" || len(home) < 80) {
			t.Errorf("%v: %q, want %q", env, got, want)
		}
	}
	if got := socketOf("/h", nil); got != "/h/interlock.sock" {
		t.Errorf("%q", got)
	}
	if got := usualHome("darwin", func(string) string { return "/u" }); got != "/u/Library/Application Support/Interlock" {
		t.Errorf("%q", got)
	}
	if got := usualHome("windows", func(string) string { return "/u" }); got != "" || runtime.GOOS == "windows" {
		t.Errorf("%q", got)
	}
}
