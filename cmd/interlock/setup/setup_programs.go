package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/config"
	"interlock/internal/fileio"
	"interlock/internal/harness"
	"interlock/internal/hook"
	"interlock/internal/startup"
	"interlock/internal/witness"
)

// A programCopy is one program and where it goes.
type programCopy struct {
	from, to string
	same     bool // it is there already
}

// programName is what a program's file is called here.
func programName(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// onPath reports whether a program can be started by its name.
func onPath(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// inPath reports whether a directory is on PATH.
func inPath(dir, path string) bool {
	for _, entry := range filepath.SplitList(path) {
		if filepath.IsAbs(entry) && filepath.Clean(entry) == filepath.Clean(dir) {
			return true
		}
	}
	return false
}

// lookPrograms decides where the programs go. Those that a package manager has put on PATH stay where they are.
func (s *setup) lookPrograms() error {
	own, err := cli.OwnPath()
	if err != nil {
		return err
	}
	s.bin = s.command.Bin
	if s.bin == "" && inPath(filepath.Dir(own), s.Getenv("PATH")) {
		s.bin = filepath.Dir(own)
	}
	if s.bin == "" {
		if s.bin, err = s.binOnPath(); err != nil {
			return err
		}
	}
	if s.bin == filepath.Dir(own) {
		return nil
	}
	for _, name := range []string{"interlock", harness.SmallProgram} {
		from, to := own, filepath.Join(s.bin, programName(name))
		if name == harness.SmallProgram {
			if from = filepath.Join(filepath.Dir(own), programName(name)); !cli.Exists(from) {
				continue
			}
		}
		if info, err := os.Stat(to); err == nil && info.IsDir() {
			return interlock.Errorf(interlock.CodeConflict, "--bin", "%s is a directory; name another place with --bin DIR", to)
		}
		a, errA := fileDigest(from)
		b, errB := fileDigest(to)
		s.copies = append(s.copies, programCopy{from, to, errA == nil && errB == nil && a == b})
	}
	return nil
}

// binOnPath finds a directory on PATH for a user's own programs.
func (s *setup) binOnPath() (string, error) {
	path, home := s.Getenv("PATH"), cli.UserHome(s.Getenv)
	var usual []string
	if home != "" {
		usual = []string{filepath.Join(home, ".local", "bin"), filepath.Join(home, "bin")}
	}
	switch runtime.GOOS {
	case "windows":
		if local := s.Getenv("LocalAppData"); local != "" {
			usual = append(usual, filepath.Join(local, "Microsoft", "WindowsApps"))
		}
	default:
		usual = append(usual, "/opt/homebrew/bin", "/usr/local/bin")
	}
	for _, dir := range usual {
		if inPath(dir, path) && mayWrite(dir) {
			return dir, nil
		}
	}
	for _, dir := range filepath.SplitList(path) {
		dir = filepath.Clean(dir)
		own := home != "" && strings.HasPrefix(dir, home+string(filepath.Separator))
		if own && !strings.Contains(dir, "node_modules") && mayWrite(dir) {
			return dir, nil
		}
	}
	own := filepath.Join("~", ".local", "bin")
	if path == "" {
		return "", interlock.Errorf(interlock.CodeInvalid, "PATH", "is empty, so there is no place where a shell would find the "+
			"programs; name one with --bin, such as --bin %s", own)
	}
	return "", interlock.Errorf(interlock.CodeInvalid, "PATH", "holds no directory that you can write programs to; name one with "+
		"--bin, such as --bin %s", own)
}

// mayWrite reports whether files can be made in a directory, or in the one in which it would have to be made, and nobody but its
// owner and group can. It leaves nothing behind.
func mayWrite(dir string) bool {
	for {
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
			dir = filepath.Dir(dir)
			continue
		}
		if err != nil || !info.IsDir() || runtime.GOOS != "windows" && info.Mode()&0o002 != 0 {
			return false
		}
		file, err := os.CreateTemp(dir, ".interlock-*")
		if err != nil {
			return false
		}
		file.Close()
		return os.Remove(file.Name()) == nil
	}
}

// fullProgram and hookProgram are the programs as they will be called.
func (s *setup) fullProgram() string { return filepath.Join(s.bin, programName("interlock")) }

func (s *setup) hookProgram() string {
	small := filepath.Join(s.bin, programName(harness.SmallProgram))
	for _, c := range s.copies {
		if c.to == small && runtime.GOOS != "windows" {
			return small
		}
	}
	return Quickest(s.fullProgram())
}

// copyPrograms puts the programs in place, each in one step.
func (s *setup) copyPrograms() error {
	for _, c := range s.copies {
		if c.same {
			continue
		}
		if err := s.journal.keep(c.to); err != nil {
			return unwritten(c.to, err)
		}
		if err := copyProgram(c.from, c.to); err != nil {
			return unwritten(c.to, err)
		}
	}
	return nil
}

// unwritten says why a file could not be written.
func unwritten(path string, err error) error {
	return interlock.Errorf(interlock.CodeUnavailable, "", "%s can't be written: %s", path, fileio.Reason(err))
}

// maxProgram is the greatest size, in bytes, of a file that is copied or kept aside: more than any of ours has.
const maxProgram = 256 << 20

func copyProgram(from, to string) error {
	data, err := fileio.Plain(from, maxProgram)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(to), ".interlock-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(data)
	if err == nil {
		err = file.Chmod(0o755)
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if runtime.GOOS == "windows" && cli.Exists(to) { // which can't be replaced while it runs, but moved
		_ = os.Rename(to, filepath.Join(os.TempDir(), filepath.Base(file.Name())+".old")) // or the next step says why not
	}
	return os.Rename(file.Name(), to)
}

// How long a system may take to say what it has, and a server to answer.
const (
	probeTime  = 10 * time.Second
	serverTime = 20 * time.Second
)

// serviceFor is how this system would start a program's server for a home.
func serviceFor(p *cli.Program, program, home string) (startup.Service, bool) {
	return startup.For(runtime.GOOS, startup.User{Home: cli.UserHome(p.Getenv), ID: os.Getuid(), Getenv: p.Getenv},
		startup.Program{Path: program, Args: []string{"--home", home, "up"}})
}

// lookService finds out whether the system can start the server, and whether its address is free.
func (s *setup) lookService() error {
	s.running = s.serverAnswers(s.Ctx)
	byHand := "interlock up serves the console and answers hooks faster; start it when you want it"
	if s.command.NoService {
		s.left = append(s.left, byHand)
		return nil
	}
	service, known := serviceFor(s.Program, s.fullProgram(), s.home)
	if known {
		known = works(s.Ctx, service.Probe)
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
		if err := cli.WritePrivate(s.service.File, s.service.Content); err != nil {
			return err
		}
	}
	s.journal.did(func() error { stopService(context.WithoutCancel(s.Ctx), *s.service); return nil })
	for _, argv := range s.service.Start {
		if out, err := exec.CommandContext(s.Ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
			return interlock.Errorf(interlock.CodeUnavailable, "", "the %s could not be started: %.300s", s.service.Kind,
				cli.Printable(strings.TrimSpace(string(out))))
		}
	}
	ctx, cancel := context.WithTimeout(s.Ctx, serverTime)
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
	if !cli.Exists(socket) {
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
func removeService(p *cli.Program, r setupRecord, program, home string) error {
	if r.Service == "" {
		return nil
	}
	service, known := serviceFor(p, program, home)
	if !known {
		return fmt.Errorf("the %s has to be removed by hand", r.Service)
	}
	stopService(context.WithoutCancel(p.Ctx), service)
	if r.Unit == "" {
		return nil
	}
	if err := unlessMissing(os.Remove(r.Unit)); err != nil {
		return errors.Join(errors.New(r.Unit+" can't be removed"), err)
	}
	if filepath.Base(service.Probe[0]) == "systemctl" {
		works(context.WithoutCancel(p.Ctx), []string{"systemctl", "--user", "daemon-reload"})
	}
	return nil
}
