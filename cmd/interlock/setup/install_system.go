package setup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/fileio"
	"interlock/internal/harness"
	"interlock/internal/startup"
	"interlock/internal/strictjson"
)

// systemFlags are those of installing for the whole system.
type systemFlags struct {
	System  bool   `help:"Set up Interlock's server under a user of its own, for all users of this system; with systemd, as root."`
	Root    string `help:"With --system: write below this directory, for a package or a test, and start nothing." type:"path" placeholder:"DIR"`
	Program string `help:"With --system: where the programs are or will be; without it they are copied to /usr/local/bin." placeholder:"FILE"`
	Witness bool   `help:"With --system: also a witness that cosigns the heads of logs."`
}

// given names a flag of these that was given, or nothing.
func (f *systemFlags) given() string {
	switch {
	case f.Root != "":
		return "--root"
	case f.Program != "":
		return "--program"
	case f.Witness:
		return "--witness"
	}
	return ""
}

// systemRecord says what installing wrote, so that all of it and nothing else is taken back.
type systemRecord struct {
	Version int               `json:"version"`
	Files   map[string]string `json:"files"`           // digests of what was written, by path on the system
	Dirs    []string          `json:"dirs,omitempty"`  // those that were not there
	User    bool              `json:"user,omitempty"`  // was made
	Group   bool              `json:"group,omitempty"` // of the agents' socket; was made
	Units   []string          `json:"units,omitempty"` // enabled
}

const systemRecordFile = "/etc/interlock/installed.json"

// usualBin is where the programs are copied to.
const usualBin = "/usr/local/bin"

// A systemInstall is one in the making.
type systemInstall struct {
	*cli.Program
	flags   *systemFlags
	dry     bool
	record  systemRecord
	journal journal
	files   []startup.SystemFile
	copies  []programCopy
}

// at is where a path of the system is written.
func (s *systemInstall) at(path string) string { return filepath.Join(s.flags.Root, path) }

// system installs for the whole system.
func (c *InstallCommand) system(p *cli.Program) error {
	s, err := newSystemInstall(p, &c.systemFlags, c.DryRun || c.Print)
	if err != nil {
		return err
	}
	if c.Print {
		for _, f := range s.files {
			fmt.Fprintf(p.Stdout, "# %s, mode %04o\n%s\n", f.Path, f.Mode, f.Content)
		}
		return nil
	}
	changes, err := s.look()
	if err != nil {
		return err
	}
	if c.DryRun {
		fmt.Fprintln(p.Stdout, "Nothing was changed.")
		return nil
	}
	if changes {
		if err := s.apply(); err != nil {
			return errors.Join(err, s.journal.back())
		}
		s.journal.done()
	}
	s.saysNext()
	return nil
}

func newSystemInstall(p *cli.Program, flags *systemFlags, dry bool) (*systemInstall, error) {
	if runtime.GOOS != "linux" {
		return nil, interlock.Errorf(interlock.CodeInvalid, "--system", "is for Linux with systemd; elsewhere `interlock setup` sets up a user's own")
	}
	if flags.Root == "" && !dry {
		if os.Geteuid() != 0 {
			return nil, interlock.Errorf(interlock.CodeUnauthorized, "--system",
				"takes root: it makes a user and writes to /etc; --dry-run shows what would be done, --root DIR writes below a directory")
		}
		if !cli.Exists("/run/systemd/system") {
			return nil, interlock.Errorf(interlock.CodeUnavailable, "--system",
				"systemd does not run here; --root DIR writes the files, and the container file runs the same server")
		}
	}
	s := &systemInstall{Program: p, flags: flags, dry: dry, record: systemRecord{Version: 1, Files: map[string]string{}}}
	program := flags.Program
	if program == "" {
		program = usualBin + "/interlock"
		own, err := cli.OwnPath()
		if err != nil {
			return nil, err
		}
		s.copies = append(s.copies, programCopy{from: own, to: program})
		if small := filepath.Join(filepath.Dir(own), harness.SmallProgram); cli.Exists(small) {
			s.copies = append(s.copies, programCopy{from: small, to: usualBin + "/" + harness.SmallProgram})
		}
	}
	if !filepath.IsAbs(program) {
		return nil, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--program", "must be an absolute path"))
	}
	s.files = startup.System{Program: program, Witness: flags.Witness}.Files()
	if text, err := fileio.Plain(s.at(systemRecordFile), 1<<20); err == nil {
		if err := strictjson.Decode(text, &s.record); err != nil || s.record.Version != 1 {
			return nil, interlock.Errorf(interlock.CodeInvalid, "--system", "%s can't be read; it says what was installed", s.at(systemRecordFile))
		}
	}
	return s, nil
}

// look says what will be done, and refuses to write over what somebody else wrote.
func (s *systemInstall) look() (changes bool, err error) {
	for i := range s.copies {
		c := &s.copies[i]
		a, errA := fileDigest(c.from)
		b, errB := fileDigest(s.at(c.to))
		if c.same = errA == nil && errB == nil && a == b; c.same {
			continue
		}
		if _, ours := s.record.Files[c.to]; errB == nil && !ours {
			return false, occupied(s.at(c.to))
		}
		fmt.Fprintf(s.Stdout, "copy   %s to %s\n", c.from, s.at(c.to))
		changes = true
	}
	for _, f := range s.files {
		have, err := fileio.Plain(s.at(f.Path), maxProgram)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			fmt.Fprintf(s.Stdout, "write  %s\n", s.at(f.Path))
			changes = true
		case err != nil:
			return false, unwritten(s.at(f.Path), err)
		case bytes.Equal(have, f.Content):
		case f.Keep:
			fmt.Fprintf(s.Stdout, "keep   %s, which is yours\n", s.at(f.Path))
		case s.record.Files[f.Path] != digestText(have):
			return false, occupied(s.at(f.Path))
		default:
			fmt.Fprintf(s.Stdout, "change %s\n", s.at(f.Path))
			changes = true
		}
	}
	if s.flags.Root == "" && changes {
		for _, argv := range s.commands() {
			fmt.Fprintf(s.Stdout, "run    %s\n", strings.Join(argv, " "))
		}
	}
	return changes, nil
}

func occupied(path string) error {
	return interlock.Errorf(interlock.CodeConflict, "--system",
		"%s is there and is not as Interlock wrote it; move it away, or put what you changed into a drop-in", path)
}

// digestText is a content's digest as fileDigest says it of a file.
func digestText(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// commands have the system take up what was written.
func (s *systemInstall) commands() [][]string {
	commands := [][]string{{"systemd-sysusers"}, {"systemctl", "daemon-reload"}}
	for _, unit := range s.units() {
		commands = append(commands, []string{"systemctl", "enable", unit}, []string{"systemctl", "restart", unit})
	}
	return commands
}

// units are those that are started. A witness is started by hand, once it knows of a log.
func (s *systemInstall) units() []string { return []string{startup.SystemUnit} }

// apply writes everything, the record first, and has the system take it up.
func (s *systemInstall) apply() error {
	s.notes()
	for _, c := range s.copies {
		if c.same {
			continue
		}
		if err := s.put(c.to, func(to string) error { return copyProgram(c.from, to) }); err != nil {
			return err
		}
	}
	for _, f := range s.files {
		if f.Keep && cli.Exists(s.at(f.Path)) {
			continue
		}
		if err := s.put(f.Path, func(to string) error { return writeSystemFile(to, f) }); err != nil {
			return err
		}
	}
	if s.flags.Root != "" {
		return s.writeRecord()
	}
	s.record.Units = s.units()
	if err := s.writeRecord(); err != nil {
		return err
	}
	s.journal.did(func() error { s.stop(); return nil })
	for _, argv := range s.commands() {
		if out, err := exec.CommandContext(s.Ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
			return interlock.Errorf(interlock.CodeUnavailable, "", "%s failed: %.300s", strings.Join(argv, " "),
				cli.Printable(strings.TrimSpace(string(out))))
		}
	}
	return nil
}

// notes remembers whom the system will have made a user and a group for.
func (s *systemInstall) notes() {
	if s.flags.Root != "" {
		return
	}
	if _, err := user.Lookup(startup.SystemUser); err != nil {
		s.record.User = true
	}
	if _, err := user.LookupGroup(startup.SystemGroup); err != nil {
		s.record.Group = true
	}
}

// put writes one file and remembers how it was before.
func (s *systemInstall) put(path string, write func(to string) error) error {
	to := s.at(path)
	for _, dir := range missingDirs(filepath.Dir(to)) {
		s.record.Dirs = append(s.record.Dirs, strings.TrimPrefix(dir, strings.TrimSuffix(s.flags.Root, "/")))
	}
	if err := s.journal.keep(to); err != nil {
		return unwritten(to, err)
	}
	if err := write(to); err != nil {
		return unwritten(to, err)
	}
	digest, err := fileDigest(to)
	if err != nil {
		return unwritten(to, err)
	}
	s.record.Files[path] = string(digest)
	return nil
}

func writeSystemFile(to string, f startup.SystemFile) error {
	mode := os.FileMode(0o755)
	if f.Mode&0o044 == 0 { // nor is anybody to see what lies beside it
		mode = 0o700
	}
	if err := os.MkdirAll(filepath.Dir(to), mode); err != nil {
		return err
	}
	if err := cli.WritePrivate(to, f.Content); err != nil {
		return err
	}
	return os.Chmod(to, os.FileMode(f.Mode))
}

func (s *systemInstall) writeRecord() error {
	text, err := json.MarshalIndent(s.record, "", "  ")
	if err != nil {
		return err
	}
	file := startup.SystemFile{Path: systemRecordFile, Mode: 0o644, Content: append(text, '\n')}
	if err := s.journal.keep(s.at(file.Path)); err != nil {
		return unwritten(s.at(file.Path), err)
	}
	return writeSystemFile(s.at(file.Path), file)
}

// saysNext says what is left for people.
func (s *systemInstall) saysNext() {
	fmt.Fprintf(s.Stdout, "The system's Interlock is installed%s.\n", map[bool]string{true: " below " + s.flags.Root}[s.flags.Root != ""])
	fmt.Fprintf(s.Stdout, "  the first operator:  sudo -u %s interlock --home %s --config %s operator add NAME --enrol\n", startup.SystemUser,
		startup.SystemHome, startup.SystemConfig)
	fmt.Fprintf(s.Stdout, "  who may ask it:      sudo usermod -a -G %s USER, for each user whose agents it guards\n", startup.SystemGroup)
	fmt.Fprintf(s.Stdout, "  as that user:        interlock install claude --socket %s\n", startup.SystemSocket)
}

// system takes back what installing for the whole system did, and nothing else: what somebody changed since stays, and so does what
// the server wrote, which is its log.
func (c *UninstallCommand) system(p *cli.Program) error {
	s, err := newSystemInstall(p, &c.systemFlags, c.DryRun)
	if err != nil {
		return err
	}
	if len(s.record.Files) == 0 {
		fmt.Fprintln(p.Stdout, "Interlock is not installed for the whole system here")
		return nil
	}
	var ours []string
	for path := range s.record.Files {
		ours = append(ours, path)
	}
	slices.Sort(ours)
	var left []string
	for _, path := range ours {
		digest, err := fileDigest(s.at(path))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil || string(digest) != s.record.Files[path]:
			left = append(left, path)
			fmt.Fprintf(p.Stdout, "keep   %s, which was changed since\n", s.at(path))
			continue
		}
		fmt.Fprintf(p.Stdout, "remove %s\n", s.at(path))
	}
	if c.DryRun {
		fmt.Fprintln(p.Stdout, "Nothing was changed.")
		return nil
	}
	s.stop()
	if err := s.remove(ours, left); err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "The system's Interlock is no longer installed. Its log and keys stay in %s, which is yours to keep or to remove.\n",
		s.at(startup.SystemHome))
	return nil
}

// stop ends the units and has systemd forget them. What fails was not there.
func (s *systemInstall) stop() {
	for _, unit := range s.record.Units {
		works(context.WithoutCancel(s.Ctx), []string{"systemctl", "disable", "--now", unit})
	}
}

// remove takes away the files, then the directories that were made for them, then the user and the group.
func (s *systemInstall) remove(ours, left []string) error {
	var failed error
	for _, path := range ours {
		if !slices.Contains(left, path) {
			failed = errors.Join(failed, unlessMissing(os.Remove(s.at(path))))
		}
	}
	failed = errors.Join(failed, unlessMissing(os.Remove(s.at(systemRecordFile))))
	dirs := slices.Clone(s.record.Dirs)
	slices.SortFunc(dirs, func(a, b string) int { return len(b) - len(a) }) // the deepest first
	for i, dir := range dirs {
		dirs[i] = filepath.Join(s.flags.Root, dir)
	}
	failed = errors.Join(failed, removeEmpty(dirs))
	if failed != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "--system", "not everything could be removed: %s", failed)
	}
	if len(s.record.Units) > 0 {
		works(context.WithoutCancel(s.Ctx), []string{"systemctl", "daemon-reload"})
	}
	// A user whose files stay is kept: another could be given its number, and with it the log.
	if s.record.User && !cli.Exists(startup.SystemHome) {
		works(context.WithoutCancel(s.Ctx), []string{"userdel", startup.SystemUser})
	}
	if s.record.Group {
		works(context.WithoutCancel(s.Ctx), []string{"groupdel", startup.SystemGroup})
	}
	return nil
}
