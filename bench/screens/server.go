package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// patience is how long the server, or a page, may take.
const patience = 30 * time.Second

// A server is the real program over a home.
type server struct {
	origin  string // of the console
	api     string
	process *exec.Cmd
	said    bytes.Buffer
}

// startServer builds the program, registers it with a coding agent, so that nothing has to warn of that, and starts it.
func startServer(dir string) (*server, error) {
	program := filepath.Join(dir, "bin", "interlock")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Dir(program)+"/", "./cmd/...").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the program does not build: %w: %s", err, out)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	free.Close()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	environment := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "user"), "USER=dana",
		"INTERLOCK_HOME=" + filepath.Join(dir, "home")}
	if err := os.MkdirAll(filepath.Join(dir, "user"), 0o700); err != nil {
		return nil, err
	}
	command := func(arguments ...string) *exec.Cmd {
		c := exec.Command(program, arguments...)
		c.Dir, c.Env = dir, environment
		return c
	}
	if out, err := command("install", "claude").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("installing the hook: %w: %s", err, out)
	}
	ready := filepath.Join(dir, "ready")
	s := &server{origin: "http://localhost:" + port, api: "http://" + address}
	s.process = command("up", "--listen", address, "--ready", ready)
	s.process.Stdout, s.process.Stderr = &s.said, &s.said
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(ready); err == nil {
			return s, nil
		}
		if time.Now().After(end) {
			s.stop()
			return nil, fmt.Errorf("the server does not become ready: %s", &s.said)
		}
	}
}

func (s *server) stop() {
	_ = s.process.Process.Signal(syscall.SIGTERM) // it may have ended
	_ = s.process.Wait()
}

// decideSome has the server decide what a program asks it, so that it can say how long that takes.
func (s *server) decideSome(ctx context.Context, token string) error {
	for _, query := range []string{"SELECT count(*) FROM orders WHERE day = current_date", "SELECT sku, stock FROM items WHERE stock < 5",
		"SELECT region, avg(total) FROM orders GROUP BY region", "SELECT id FROM customers WHERE country = 'PT'",
		"UPDATE orders SET total = 0", "SELECT max(day) FROM deliveries"} {
		body, err := json.Marshal(map[string]string{"kind": "sql", "input": query, "run": "nightly", "dir": projectDir})
		if err != nil {
			return err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.api+"/v1/decide", bytes.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return errors.New("a decision is answered " + response.Status)
		}
	}
	return nil
}
