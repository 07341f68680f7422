package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// servers are the servers scripts have started, by script, because scripts run side by side.
var servers sync.Map // *testscript.TestScript -> *scriptServer

type scriptServer struct {
	process *exec.Cmd
	output  *bytes.Buffer
	copied  chan struct{}
	address string
}

// cmdServe starts `interlock up` with the given flags and goes on once it has said where it listens, or `interlock gateway` if that
// is the first argument: serve [gateway] [flags…]
func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: serve [flags...]")
	}
	program := ""
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path := filepath.Join(dir, "interlock"); program == "" && isFile(path) {
			program = path
		}
	}
	command := "up"
	if len(args) > 0 && args[0] == "gateway" {
		command, args = "gateway", args[1:]
	}
	process := exec.Command(program, append([]string{command, "--listen", "127.0.0.1:0"}, args...)...)
	process.Dir = ts.Getenv("WORK")
	process.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"), "INTERLOCK_HOME="+ts.Getenv("INTERLOCK_HOME"), "USER="+ts.Getenv("USER"))
	process.Stderr = &bytes.Buffer{}
	stdout, err := process.StdoutPipe()
	ts.Check(err)
	ts.Check(process.Start())
	s := &scriptServer{process: process, output: &bytes.Buffer{}, copied: make(chan struct{})}
	lines := bufio.NewReader(stdout)
	for s.address == "" {
		line, err := lines.ReadString('\n')
		s.output.WriteString(line)
		if err != nil {
			_ = process.Wait()
			ts.Fatalf("the server did not start: %s%s", s.output, process.Stderr)
		}
		if _, address, found := strings.Cut(line, "http://"); found {
			s.address, _, _ = strings.Cut(strings.TrimSpace(address), "/")
		}
	}
	ts.Setenv("SERVER", s.address)
	go func() {
		defer close(s.copied)
		_, _ = io.Copy(s.output, lines)
	}()
	servers.Store(ts, s)
	ts.Defer(func() {
		if _, running := servers.LoadAndDelete(ts); running {
			_ = process.Process.Kill()
			<-s.copied
			_ = process.Wait()
		}
	})
}

// cmdShutdown tells the server to stop, wants it to end well, and leaves what it printed in up.out and up.err: shutdown
func cmdShutdown(ts *testscript.TestScript, neg bool, args []string) {
	value, running := servers.LoadAndDelete(ts)
	if neg || len(args) > 0 || !running {
		ts.Fatalf("usage: shutdown, after serve")
	}
	s := value.(*scriptServer)
	ts.Check(s.process.Process.Signal(syscall.SIGTERM))
	<-s.copied
	ts.Check(s.process.Wait())
	ts.Check(os.WriteFile(ts.MkAbs("up.out"), s.output.Bytes(), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("up.err"), s.process.Stderr.(*bytes.Buffer).Bytes(), 0o600))
}

// cmdCall sends one request to the server and demands a status: call [-socket] [-token FILE] [-header NAME:VALUE] STATUS METHOD PATH [BODY].
// The answer's body is left in the file "answer", its header in "header".
func cmdCall(ts *testscript.TestScript, neg bool, args []string) {
	value, running := servers.Load(ts)
	if !running {
		ts.Fatalf("call comes after serve")
	}
	s := value.(*scriptServer)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	token, header := "", http.Header{}
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-socket":
			socket := filepath.Join(ts.Getenv("INTERLOCK_HOME"), "interlock.sock")
			if value, err := os.ReadFile(ts.MkAbs("socket")); err == nil {
				socket = strings.TrimSpace(string(value))
			}
			client.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", socket)
			}}
			args = args[1:]
		case "-token":
			token = strings.TrimSpace(ts.ReadFile(args[1]))
			args = args[2:]
		case "-header":
			name, value, _ := strings.Cut(args[1], ":")
			header.Set(name, value)
			args = args[2:]
		default:
			ts.Fatalf("unknown flag %s", args[0])
		}
	}
	if neg || len(args) < 3 || len(args) > 4 {
		ts.Fatalf("usage: call [-socket] [-token FILE] [-header NAME:VALUE] STATUS METHOD PATH [BODY]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	var body io.Reader
	if len(args) == 4 {
		text := args[3]
		if file, named := strings.CutPrefix(text, "@"); named {
			text = ts.ReadFile(file)
		}
		body = strings.NewReader(text)
	}
	request, err := http.NewRequest(args[1], "http://"+s.address+args[2], body)
	ts.Check(err)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, values := range header {
		request.Header[name] = values
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	ts.Check(err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("answer"), answer, 0o600))
	var said bytes.Buffer
	ts.Check(response.Header.Write(&said))
	ts.Check(os.WriteFile(ts.MkAbs("header"), said.Bytes(), 0o600))
	if response.StatusCode != want {
		ts.Fatalf("status %d, want %d: %s", response.StatusCode, want, answer)
	}
}

// cmdPick puts the first match of a regular expression in a file, or its first group, into a variable:
// pick VARIABLE PATTERN FILE
func cmdPick(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: pick VARIABLE PATTERN FILE")
	}
	ts.Setenv(args[0], firstMatch(ts, args[1], ts.ReadFile(args[2])))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func firstMatch(ts *testscript.TestScript, pattern, text string) string {
	expression, err := regexp.Compile(pattern)
	ts.Check(err)
	found := expression.FindStringSubmatch(text)
	if found == nil {
		ts.Fatalf("no match for %s in %s", pattern, text)
	}
	return found[len(found)-1]
}
