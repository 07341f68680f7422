package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/account"
	"interlock/internal/admission/governance"
	"interlock/internal/fileio"
	"interlock/internal/harness"
	"interlock/internal/identity"
)

// A setupRecord is what is kept of a setup in its home, so that it can be taken back.
type setupRecord struct {
	Version  int          `json:"version"`
	Programs []setProgram `json:"programs"`
	Home     bool         `json:"home"` // the home was made by it
	Service  string       `json:"service,omitempty"`
	Unit     string       `json:"unit,omitempty"` // the file of the service
	Backups  []string     `json:"backups"`
	Dirs     []string     `json:"dirs"` // that were missing, the deepest first
}

type setProgram struct {
	Path   string           `json:"path"`
	Digest interlock.Digest `json:"digest"`
}

// setupFile is the record's place in a home.
func setupFile(home string) string { return filepath.Join(home, "setup.json") }

func readSetup(home string) (r setupRecord, err error) {
	text, err := fileio.Plain(setupFile(home), 1<<20)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err == nil && r.Version != 1 {
		err = errors.New("is of another version")
	}
	return r, err
}

func (s *setup) writeRecord() error {
	text, err := json.MarshalIndent(s.record, "", "  ")
	if err != nil {
		return err
	}
	return cli.WritePrivate(setupFile(s.home), append(text, '\n'))
}

// apply does what there is to do. Each step is remembered in the journal before it is taken.
func (s *setup) apply() error {
	s.remember()
	for _, step := range []func() error{s.makeHome, s.copyPrograms, s.register, s.startService} {
		if err := s.Ctx.Err(); err != nil {
			return interlock.Errorf(interlock.CodeUnavailable, "", "interrupted")
		}
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// remember fills in the record, from an earlier one where there is one.
func (s *setup) remember() {
	s.record, _ = readSetup(s.home) // one that can't be read says as much as none
	s.record.Version = 1
	s.record.Home = s.record.Home || !cli.Exists(s.home)
	paths := []string{s.home}
	for _, c := range s.copies {
		paths = append(paths, filepath.Dir(c.to))
		digest, err := fileDigest(c.from)
		if err != nil {
			continue // copying it will say so
		}
		s.record.Programs = slices.DeleteFunc(s.record.Programs, func(p setProgram) bool { return p.Path == c.to })
		s.record.Programs = append(s.record.Programs, setProgram{c.to, digest})
	}
	for _, a := range s.agents {
		paths = append(paths, filepath.Dir(a.plan.Path), filepath.Dir(harness.PinFile(cli.UserHome(s.Getenv), a.harness.Name)))
		for _, file := range harness.HeadFiles(cli.UserHome(s.Getenv), a.harness.Name) {
			paths = append(paths, filepath.Dir(file))
		}
	}
	if s.service != nil && s.service.File != "" {
		paths = append(paths, filepath.Dir(s.service.File))
	}
	for _, path := range paths {
		for _, dir := range missingDirs(path) {
			if !slices.Contains(s.record.Dirs, dir) {
				s.record.Dirs = append(s.record.Dirs, dir)
			}
		}
	}
	slices.SortFunc(s.record.Dirs, func(a, b string) int { return len(b) - len(a) }) // the deepest first
}

// makeHome makes the home, with the record in it of what is about to be done: even a setup that is killed can be taken back.
func (s *setup) makeHome() error {
	if err := s.journal.keepDir(s.home); err != nil {
		return unwritten(s.home, err)
	}
	if cli.Exists(setupFile(s.home)) {
		if err := s.journal.keep(setupFile(s.home)); err != nil {
			return unwritten(setupFile(s.home), err)
		}
	}
	if err := os.MkdirAll(s.home, 0o700); err != nil {
		return unwritten(s.home, err)
	}
	if s.listen {
		if err := cli.WritePrivate(filepath.Join(s.home, "interlock.yaml"), []byte("listen: "+s.settings.Listen+"\n")); err != nil {
			return err
		}
	}
	return s.writeRecord()
}

// register has the program register itself with each coding agent, as `interlock install` does: what is recorded of a
// registration is then the program that will run.
func (s *setup) register() error {
	user := cli.UserHome(s.Getenv)
	for _, a := range s.agents {
		for _, path := range []string{a.plan.Path, harness.PinFile(user, a.harness.Name)} {
			if err := s.journal.keep(path); err != nil {
				return unwritten(path, err)
			}
		}
		before := harness.Backups(a.plan.Path)
		s.journal.did(func() error {
			var failed error
			for _, backup := range harness.Backups(a.plan.Path) {
				if !slices.Contains(before, backup) {
					failed = errors.Join(failed, os.Remove(backup))
				}
			}
			return failed
		})
		args := []string{"install", a.harness.Name, "--home", s.home}
		if s.Globals.Unattended {
			args = append(args, "--unattended")
		}
		if _, err := s.run(args...); err != nil {
			return err
		}
		for _, backup := range harness.Backups(a.plan.Path) {
			if !slices.Contains(before, backup) {
				s.record.Backups = append(s.record.Backups, backup)
			}
		}
		if a.plan.Changes() {
			s.left = append(s.left, a.harness.Note)
		}
	}
	return s.writeRecord()
}

// run runs the program where it will be, and returns what it says. What it ends with is the error.
func (s *setup) run(args ...string) (string, error) {
	command := exec.CommandContext(s.Ctx, s.fullProgram(), args...)
	var stdout, stderr strings.Builder
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if err == nil {
		return stdout.String(), nil
	}
	said := strings.TrimPrefix(strings.TrimSpace(stderr.String()), "interlock: ")
	if said == "" {
		said = fmt.Sprintf("%s could not be run: %s", s.fullProgram(), fileio.Reason(err))
	}
	return stdout.String(), errors.New(strings.TrimSuffix(said, "; nothing was changed"))
}

// operator makes the first operator, which takes a person at a terminal. Where there is none, or it does not come about, that
// is left.
func (s *setup) operator() {
	lacks := ""
	governed := func() bool {
		backend, standing, err := s.OpenStanding()
		if err != nil {
			return false
		}
		defer backend.Close()
		lacks = governance.Lacks(standing)
		return governance.HasGovernor(standing)
	}
	if governed() {
		if lacks != "" {
			s.left = append(s.left, cli.Lacking(lacks))
		}
		return
	}
	name := s.command.Operator
	if name == "" {
		name = operatorName(account.Name())
	}
	args := []string{"operator", "add", name, "--role", "admin", "--home", s.home}
	key := filepath.Join(cli.UserHome(s.Getenv), ".ssh", "id_ed25519.pub")
	if cli.Exists(key) {
		args = append(args, "--ssh-key", key)
	}
	if !cli.Exists(key) || s.running {
		args = append(args, "--enrol")
	}
	fmt.Fprintln(s.Stdout)
	command := exec.CommandContext(s.Ctx, s.fullProgram(), args...)
	command.Stdin, command.Stdout = s.Stdin, s.Stdout
	var stderr strings.Builder
	command.Stderr = &stderr
	err := command.Run()
	if err == nil && governed() {
		fmt.Fprint(s.Stderr, stderr.String())
		return
	}
	why := ""
	if err != nil {
		why = " (" + strings.TrimPrefix(strings.TrimSpace(stderr.String()), "interlock: ") + ")"
	}
	s.left = append(s.left, "make the first operator, at a terminal; until then nobody can answer, and what is asked about stays "+
		"refused: interlock "+cli.Typed(args)+why)
}

// operatorName is a user's name as operators may be called.
func operatorName(user string) string {
	name := regexp.MustCompile(`[^a-z0-9._@-]+`).ReplaceAllString(strings.ToLower(user), "-")
	name = strings.Trim(name, "._@-")
	if identity.CheckName("NAME", name) != nil {
		return "operator"
	}
	return name
}

// prove runs doctor and shows what matters of it: what refused, and what does not work.
func (s *setup) prove() error {
	out, err := s.run("doctor", "--json", "--home", s.home)
	var report struct {
		Checks []check `json:"checks"`
	}
	if json.Unmarshal([]byte(out), &report) != nil {
		return fmt.Errorf("everything is set up, but doctor could not say whether it works: %w", err)
	}
	fmt.Fprintln(s.Stdout, "\nProof, by doctor:")
	failed := 0
	for _, c := range report.Checks {
		if c.Name == "registered" && c.Harness == "" && len(s.agents) == 0 {
			continue // which is what is left to do
		}
		if c.Status == statusFail && c.Harness == "codex" && strings.Contains(c.Detail, "/hooks") { // which only its user can do
			c.Status = "todo"
		} else if c.Status == statusFail {
			failed++
		}
		if c.Status != statusOK && c.Status != statusInfo || slices.Contains([]string{"canary", "server", "store"}, c.Name) {
			took := ""
			if c.Micros > 0 {
				took = fmt.Sprintf(" (%.1f ms)", float64(c.Micros)/1000)
			}
			fmt.Fprintf(s.Stdout, "  %-4s  %-19s %s%s\n", c.Status, strings.TrimSpace(c.Harness+" "+c.Name), c.Detail, took)
		}
	}
	if failed > 0 {
		return fmt.Errorf("everything is set up, and %s; the lines that begin with fail say what to do",
			counted(failed, "check failed", "checks failed"))
	}
	return nil
}

// A journal remembers how things were before each step of a setup, so that one that fails leaves everything as it was.
type journal struct {
	undo []func() error
	kept []string // second names of files that were kept
}

// did adds how the step that comes next is taken back.
func (j *journal) did(undo func() error) { j.undo = append(j.undo, undo) }

// back takes everything back, the last first. What can't be is said together.
func (j *journal) back() error {
	var failed error
	for _, undo := range slices.Backward(j.undo) {
		failed = errors.Join(failed, undo())
	}
	j.undo = nil
	return failed
}

// keep remembers a file, or that there is none, and which of the directories it lies in are missing.
func (j *journal) keep(path string) error {
	missing := missingDirs(filepath.Dir(path))
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		j.did(func() error { return errors.Join(unlessMissing(os.Remove(path)), removeEmpty(missing)) })
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("is a directory")}
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	// A second name keeps the very file, whatever takes its place, and needs no room on a full disk. It goes when all is done.
	aside := path + ".interlock-before"
	_ = os.Remove(aside) // of a setup that was killed
	if err := os.Link(path, aside); err != nil {
		return copyAside(j, path, info)
	}
	j.kept = append(j.kept, aside)
	j.did(func() error {
		// Where the file is still the very one, renaming does nothing and leaves both names.
		return errors.Join(os.Rename(aside, path), unlessMissing(os.Remove(aside)))
	})
	return nil
}

// copyAside keeps a file's content where it can't have a second name.
func copyAside(j *journal, path string, info fs.FileInfo) error {
	data, err := fileio.Plain(path, maxProgram)
	if err != nil {
		return err
	}
	j.did(func() error { return os.WriteFile(path, data, info.Mode().Perm()) })
	return nil
}

// done forgets how things were.
func (j *journal) done() {
	for _, aside := range j.kept {
		_ = os.Remove(aside) // a second name too many harms nobody
	}
	j.undo, j.kept = nil, nil
}

// keepDir remembers what lies in a directory, or that there is none. What is added is removed; what was there is not looked at.
func (j *journal) keepDir(dir string) error {
	missing := missingDirs(dir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		j.did(func() error { return errors.Join(os.RemoveAll(dir), removeEmpty(missing)) })
		return nil
	}
	if err != nil {
		return err
	}
	j.did(func() error {
		now, err := os.ReadDir(dir)
		for _, e := range now {
			if !slices.ContainsFunc(entries, func(old fs.DirEntry) bool { return old.Name() == e.Name() }) {
				err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
			}
		}
		return err
	})
	return nil
}

// missingDirs are a directory and those above it that do not exist, the deepest first.
func missingDirs(dir string) []string {
	var missing []string
	for {
		if _, err := os.Lstat(dir); err == nil || filepath.Dir(dir) == dir {
			return missing
		}
		missing = append(missing, dir)
		dir = filepath.Dir(dir)
	}
}

// removeEmpty removes directories that nobody has put anything into.
func removeEmpty(dirs []string) error {
	for _, dir := range dirs {
		if entries, err := os.ReadDir(dir); err == nil && len(entries) == 0 {
			if err := os.Remove(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// unlessMissing is an error but for one about what is not there.
func unlessMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
