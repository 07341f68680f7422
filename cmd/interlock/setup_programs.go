package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"interlock"
	"interlock/internal/fileio"
	"interlock/internal/harness"
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
	own, err := ownPath()
	if err != nil {
		return err
	}
	s.bin = s.command.Bin
	if s.bin == "" && inPath(filepath.Dir(own), s.getenv("PATH")) {
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
			if from = filepath.Join(filepath.Dir(own), programName(name)); !exists(from) {
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
	path, home := s.getenv("PATH"), userHome(s.getenv)
	var usual []string
	if home != "" {
		usual = []string{filepath.Join(home, ".local", "bin"), filepath.Join(home, "bin")}
	}
	switch runtime.GOOS {
	case "windows":
		if local := s.getenv("LocalAppData"); local != "" {
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
	return quickest(s.fullProgram())
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
	if runtime.GOOS == "windows" && exists(to) { // which can't be replaced while it runs, but moved
		_ = os.Rename(to, filepath.Join(os.TempDir(), filepath.Base(file.Name())+".old")) // or the next step says why not
	}
	return os.Rename(file.Name(), to)
}
