package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"interlock"
	"interlock/internal/config"
	"interlock/internal/fileio"
	"interlock/internal/harness"
	"interlock/internal/hook"
	"interlock/internal/startup"
	"interlock/internal/witness"
)

// How long a system may take to say what it has, and a server to answer.
const (
	probeTime  = 10 * time.Second
	serverTime = 20 * time.Second
)

// serviceFor is how this system would start a program's server for a home.
func (p *program) serviceFor(program, home string) (startup.Service, bool) {
	return startup.For(runtime.GOOS, startup.User{Home: userHome(p.getenv), ID: os.Getuid(), Getenv: p.getenv},
		startup.Program{Path: program, Args: []string{"--home", home, "up"}})
}

// lookService finds out whether the system can start the server, and whether its address is free.
func (s *setup) lookService() error {
	s.running = s.serverAnswers(s.ctx)
	byHand := "interlock up serves the console and answers hooks faster; start it when you want it"
	if s.command.NoService {
		s.left = append(s.left, byHand)
		return nil
	}
	service, known := s.serviceFor(s.fullProgram(), s.home)
	if known {
		known = works(s.ctx, service.Probe)
	}
	before, _ := readSetup(s.home) // none: nothing was set up
	if s.running && before.Service == "" {
		s.left = append(s.left, "a server for this home runs already, started by hand; stop it and run interlock setup again to "+
			"have the system start it")
		return nil
	}
	if err := s.addressFree(); err != nil {
		return err
	}
	if !known {
		s.left = append(s.left, "no service of yours can be started by this system here; "+byHand)
		return nil
	}
	s.service = &service
	return nil
}

// addressFree refuses an address that another program listens on.
func (s *setup) addressFree() error {
	if s.running || s.settings.Listen == "off" {
		return nil
	}
	door, err := net.Listen("tcp", s.settings.Listen)
	if err != nil {
		return interlock.Errorf(interlock.CodeConflict, "--listen",
			"%s can't be listened on, another program may have it; name another with --listen 127.0.0.1:PORT, or leave the server "+
				"out with --no-service", s.settings.Listen)
	}
	return door.Close()
}

// works reports whether a command of the system succeeds.
func works(ctx context.Context, argv []string) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	return exec.CommandContext(ctx, argv[0], argv[1:]...).Run() == nil
}

// serviceChanges reports whether there is something to write or to start.
func (s *setup) serviceChanges() bool {
	if s.service == nil {
		return false
	}
	for _, c := range s.copies {
		if !c.same { // the server is to be the new program
			return true
		}
	}
	have, err := fileio.Plain(s.service.File, maxProgram)
	return !s.running || s.service.File != "" && (err != nil || !bytes.Equal(have, s.service.Content))
}

// startService writes the service and has the system start it. It is done when the server answers.
func (s *setup) startService() error {
	if s.service == nil || !s.serviceChanges() {
		return nil
	}
	s.record.Service, s.record.Unit = s.service.Kind, s.service.File
	if err := s.writeRecord(); err != nil {
		return err
	}
	if s.service.File != "" {
		if err := s.journal.keep(s.service.File); err != nil {
			return unwritten(s.service.File, err)
		}
		if err := writePrivate(s.service.File, s.service.Content); err != nil {
			return err
		}
	}
	s.journal.did(func() error { stopService(s.unhurried(), *s.service); return nil })
	for _, argv := range s.service.Start {
		if out, err := exec.CommandContext(s.ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
			return interlock.Errorf(interlock.CodeUnavailable, "", "the %s could not be started: %.300s", s.service.Kind,
				printable(strings.TrimSpace(string(out))))
		}
	}
	ctx, cancel := context.WithTimeout(s.ctx, serverTime)
	defer cancel()
	for !s.serverAnswers(ctx) {
		select {
		case <-ctx.Done():
			return interlock.Errorf(interlock.CodeUnavailable, "",
				"the %s was started, but the server did not answer within %v; what it says: %s", s.service.Kind, serverTime, s.service.Logs)
		case <-time.After(50 * time.Millisecond):
		}
	}
	s.running = true
	return nil
}

// stopService stops a service and has the system forget it. What fails was not there.
func stopService(ctx context.Context, service startup.Service) {
	for _, argv := range service.Stop {
		works(ctx, argv)
	}
}

// serverAnswers reports whether a server of this home answers.
func (s *setup) serverAnswers(ctx context.Context) bool {
	socket := config.Socket(s.home)
	if !exists(socket) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	server, err := hook.Dial(ctx, socket, 2*time.Second, func() (witness.Key, error) { return harness.ServerKey("", "", s.home) })
	if err != nil {
		return false
	}
	defer server.Close()
	return server.Health() == nil
}

// removeService stops what setup had the system start, and removes its file.
func (p *program) removeService(r setupRecord, program, home string) error {
	if r.Service == "" {
		return nil
	}
	service, known := p.serviceFor(program, home)
	if !known {
		return fmt.Errorf("the %s has to be removed by hand", r.Service)
	}
	stopService(p.unhurried(), service)
	if r.Unit == "" {
		return nil
	}
	if err := unlessMissing(os.Remove(r.Unit)); err != nil {
		return errors.Join(errors.New(r.Unit+" can't be removed"), err)
	}
	if filepath.Base(service.Probe[0]) == "systemctl" {
		works(p.unhurried(), []string{"systemctl", "--user", "daemon-reload"})
	}
	return nil
}
