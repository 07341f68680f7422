package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/auditlog"
	"interlock/internal/config"
	"interlock/internal/harness"
	"interlock/internal/lineage"
	"interlock/internal/store"
)

// A takingBack is what there is to take back.
type takingBack struct {
	*cli.Program
	home      string
	record    setupRecord
	known     bool // there is a record
	installed []auditlog.InstalledRecord
	origin    string   // of the log
	moved     []string // clients whose MCP servers are behind the gateway
	full      string   // the full program
}

// undo takes back what setup did, and every registration of a hook for its home besides: a hook without its program refuses all.
func (c *SetupCommand) undo(p *cli.Program) error {
	u, err := lookBack(p)
	if err != nil {
		return err
	}
	if !u.show(c) {
		fmt.Fprintf(p.Stdout, "nothing of Interlock's is set up for %s\n", u.home)
		return nil
	}
	if c.DryRun {
		fmt.Fprintln(p.Stdout, "Nothing was changed.")
		return nil
	}
	if !c.Yes && !agrees(p, "Take all of this back?") {
		return &cli.ExitCode{Code: 1, Err: errors.New("nothing was changed; --yes does it without asking")}
	}
	delete := c.DeleteLog
	if cli.Exists(u.home) && !c.KeepLog && !c.DeleteLog && !c.Yes {
		delete = agrees(p, "Delete the log and the keys in "+u.home+", too? They can't be had back.")
	}
	return u.apply(delete)
}

// lookBack finds out what there is to take back. A person has to be asking.
func lookBack(p *cli.Program) (*takingBack, error) {
	settings, err := p.Settings()
	if err != nil {
		return nil, err
	}
	u := &takingBack{Program: p, home: settings.Home}
	var backend *embedded.Backend
	if store.Exists(u.home) {
		if backend, err = p.Open(); err != nil {
			return nil, err
		}
		defer backend.Close()
		if err := p.Person(backend, "setup --undo"); err != nil {
			return nil, err
		}
		if u.installed, _, err = installed(p.Ctx, backend.Store); err != nil {
			return nil, err
		}
		u.origin = backend.Key.Origin()
	} else if seen, found := lineage.Machine(p.Getenv); found {
		return nil, interlock.Errorf(interlock.CodeUnauthorized, "",
			"this takes a person, and the command comes from %s; type it in a terminal of your own", seen)
	}
	u.record, err = readSetup(u.home)
	if u.known = err == nil; err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s, which says what was set up, can't be read", setupFile(u.home))
	}
	own, err := cli.OwnPath()
	if err != nil {
		return nil, err
	}
	u.full = own
	for _, program := range u.record.Programs {
		if filepath.Base(program.Path) == programName("interlock") {
			u.full = program.Path
		}
	}
	return u, u.lookHooks(own)
}

// lookHooks adds what the log does not know, or not any more, and finds the clients behind the gateway.
func (u *takingBack) lookHooks(own string) error {
	for _, name := range harness.Names() {
		h, _ := harness.ByName(name)
		status, err := h.Status(u.Place(""), own)
		if err != nil {
			return refusedFile(err)
		}
		ours := slices.ContainsFunc(status.Registrations, func(r harness.Registration) bool { return r.Home() == u.home })
		known := slices.IndexFunc(u.installed, func(r auditlog.InstalledRecord) bool {
			return r.Harness == name && r.Settings == status.Path
		})
		switch {
		case ours && known < 0:
			u.installed = append(u.installed, auditlog.InstalledRecord{Harness: name, Settings: status.Path})
		case !ours && known >= 0 && len(status.Registrations) > 0: // another home's by now
			u.installed = slices.Delete(u.installed, known, known+1)
		}
	}
	moves, err := filepath.Glob(filepath.Join(config.ClientDir(u.home), "*.undo"+SecretSuffix))
	if err != nil {
		return err
	}
	for _, move := range moves {
		u.moved = append(u.moved, strings.TrimSuffix(filepath.Base(move), ".undo"+SecretSuffix))
	}
	return nil
}

// show says what would be taken back, and reports whether there is anything.
func (u *takingBack) show(c *SetupCommand) bool {
	var lines []string
	row := func(what, text string) { lines = append(lines, fmt.Sprintf("  %-9s %s", what, text)) }
	if u.record.Service != "" {
		row("server", u.record.Service+" "+u.record.Unit)
	}
	for _, client := range u.moved {
		row("gateway", "the MCP servers of "+client+" go back")
	}
	for _, r := range u.installed {
		row("agent", r.Harness+": "+r.Settings)
	}
	for _, program := range u.record.Programs {
		row("program", program.Path)
	}
	if cli.Exists(u.home) && (u.known || store.Exists(u.home)) {
		switch {
		case c.DeleteLog:
			row("home", u.home+", with the log in it")
		case c.KeepLog || c.Yes:
			row("home", u.home+", which stays, with the log in it")
		default:
			row("home", u.home+", with the log in it; you are asked before it goes")
		}
	}
	if len(lines) > 0 {
		fmt.Fprintln(u.Stdout, "To be taken back:\n"+strings.Join(lines, "\n"))
	}
	return len(lines) > 0
}

// apply takes everything back, the hooks before what they call. What fails stops it, so that it can be run again.
func (u *takingBack) apply(delete bool) error {
	s := &setup{Program: u.Program, bin: filepath.Dir(u.full)}
	for _, client := range u.moved {
		if _, err := s.run("uninstall", "gateway", "--client", client, "--home", u.home); err != nil {
			return fmt.Errorf("%w; the hooks and all else are as they were", err)
		}
	}
	if err := removeService(u.Program, u.record, u.full, u.home); err != nil {
		return err
	}
	for _, r := range u.installed {
		args := []string{"uninstall", r.Harness, "--home", u.home}
		if r.Project != "" {
			if !cli.Exists(r.Project) {
				continue
			}
			args = append(args, "--project", r.Project)
		}
		before := harness.Backups(r.Settings)
		if _, err := s.run(args...); err != nil {
			return err
		}
		u.removeBackups(r.Settings, before)
	}
	kept := ""
	switch {
	case !delete:
		kept = "The log and its keys are kept in " + u.home + "."
		_ = os.Remove(setupFile(u.home)) // what it tells of is gone; if it stays, undo finds nothing
	case !u.record.Home:
		kept = u.home + " was there before setup, so what is in it stays; delete it yourself."
	default:
		if err := os.RemoveAll(u.home); err != nil {
			return fmt.Errorf("%s can't be removed", u.home)
		}
	}
	u.forget(delete)
	left := u.removePrograms()
	_ = removeEmpty(u.record.Dirs) // one that can't be removed is empty
	fmt.Fprintln(u.Stdout, strings.TrimSpace("Everything is taken back. "+kept+" "+left))
	return nil
}

// removeBackups removes the copies of a settings file that say nothing which is not in it, those that setup made, and those
// that were not there before: of the file with the hook.
func (u *takingBack) removeBackups(settings string, before []string) {
	now, err := fileDigest(settings)
	for _, backup := range harness.Backups(settings) {
		digest, errBackup := fileDigest(backup)
		same := err == nil && errBackup == nil && digest == now
		if same || slices.Contains(u.record.Backups, backup) || !slices.Contains(before, backup) {
			_ = os.Remove(backup) // a copy that stays harms nobody
		}
	}
}

// forget removes what was kept beside the agents. Where the log stays, so does what proves that it is whole.
func (u *takingBack) forget(log bool) {
	origin := u.origin
	if !log {
		origin = ""
	}
	for _, name := range harness.Names() {
		_ = harness.Forget(cli.UserHome(u.Getenv), name, u.home, origin) // a line about a home that is gone harms nobody
	}
}

// removePrograms removes the programs as setup put them there, and says which it leaves.
func (u *takingBack) removePrograms() string {
	var left []string
	for _, program := range u.record.Programs {
		digest, err := fileDigest(program.Path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			continue
		case err != nil || digest != program.Digest:
			left = append(left, program.Path)
			continue
		}
		if err := os.Remove(program.Path); err != nil && runtime.GOOS == "windows" { // this is the program itself
			err = os.Rename(program.Path, filepath.Join(os.TempDir(), fmt.Sprintf("interlock-removed-%d.exe", os.Getpid())))
			if err == nil {
				continue
			}
			left = append(left, program.Path)
		}
	}
	if len(left) == 0 {
		return ""
	}
	return "Not as setup put it there, so left: " + strings.Join(left, ", ")
}
