// Package setup holds the commands that put the program, its hooks and gateways in place, take them back and look at how they do.
package setup

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/advice"
	"interlock/internal/config"
	"interlock/internal/console"
	"interlock/internal/harness"
	"interlock/internal/startup"
)

type SetupCommand struct {
	Yes       bool     `help:"Don't ask; with --undo, keep the log unless --delete-log is given."`
	DryRun    bool     `name:"dry-run" help:"Show what would be done and do nothing."`
	Bin       string   `help:"Directory for the programs. Default: one on PATH that you can write to." type:"path" placeholder:"DIR"`
	Agent     []string `help:"Register with this coding agent only; repeatable. Default: all that are found." placeholder:"NAME"`
	Operator  string   `help:"Name of the first operator. Default: your user name." placeholder:"NAME"`
	Listen    string   `help:"Loopback address of the server, where 127.0.0.1:7433 is somebody else's." placeholder:"ADDR"`
	NoService bool     `name:"no-service" help:"Don't have the system start the server; hooks decide by themselves then."`
	Undo      bool     `help:"Take all of it back."`
	KeepLog   bool     `name:"keep-log" help:"With --undo: keep the home, and the log in it, without asking." xor:"log"`
	DeleteLog bool     `name:"delete-log" help:"With --undo: delete the home, and the log in it, without asking." xor:"log"`
}

// Help is what `interlock setup --help` adds.
func (SetupCommand) Help() string {
	return "Puts the programs on PATH, makes the home, registers the hook with the coding agents on this machine, has the system\n" +
		"start the server with you, makes the first operator, and proves all of it with doctor. What it would do is shown first,\n" +
		"and asked about once. Run again, it does what is missing. If a step fails, everything is as it was."
}

// A setup is what there is to do.
type setup struct {
	*cli.Program
	command  *SetupCommand
	home     string
	settings config.Config
	bin      string // where the programs are or will be
	copies   []programCopy
	agents   []agentPlan
	service  *startup.Service // nil: none is started
	left     []string         // what remains for a person to do
	running  bool             // a server answers for this home
	listen   bool             // the settings have yet to be given --listen
	journal  journal
	record   setupRecord
}

// An agentPlan is what registering with one coding agent would change.
type agentPlan struct {
	harness harness.Harness
	plan    harness.Plan
}

// Run sets everything up, or takes it back.
func (c *SetupCommand) Run(p *cli.Program) error {
	if !c.Undo && (c.KeepLog || c.DeleteLog) {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--keep-log", "goes with --undo, and so does --delete-log"))
	}
	if c.Undo {
		return c.undo(p)
	}
	s, err := c.look(p)
	if err != nil {
		return refusedFile(err)
	}
	s.show()
	if c.DryRun {
		fmt.Fprintln(p.Stdout, "Nothing was changed.")
		return nil
	}
	if s.todo() && !c.Yes && !agrees(p, "Do all of this?") {
		return &cli.ExitCode{Code: 1, Err: errors.New("nothing was changed; --yes does it without asking")}
	}
	if err := s.apply(); err != nil {
		if failed := s.journal.back(); failed != nil {
			return fmt.Errorf("%w; not all could be put back as it was: %w", err, failed)
		}
		return fmt.Errorf("%w; everything is as it was", err)
	}
	s.journal.done()
	s.operator()
	failed := s.prove()
	s.finish()
	return failed
}

// agrees asks a question and reports whether the answer is yes.
func agrees(p *cli.Program, question string) bool {
	fmt.Fprint(p.Stdout, question+" [y/N] ")
	answer := line(p)
	if answer == "" {
		fmt.Fprintln(p.Stdout)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true
	}
	return false
}

// line reads one line of standard input, byte by byte, so that nothing of the next is lost.
func line(p *cli.Program) string {
	var b strings.Builder
	for one := make([]byte, 1); b.Len() < 256; b.WriteByte(one[0]) {
		if n, err := io.ReadFull(p.Stdin, one); n == 0 || err != nil || one[0] == '\n' {
			break
		}
	}
	return b.String()
}

// look finds out what there is to do, and refuses what could not be done. It changes nothing.
func (c *SetupCommand) look(p *cli.Program) (*setup, error) {
	s := &setup{Program: p, command: c}
	if err := s.lookHome(); err != nil {
		return nil, err
	}
	if err := s.lookPrograms(); err != nil {
		return nil, err
	}
	if err := s.lookAgents(); err != nil {
		return nil, err
	}
	if err := s.lookRoom(cli.RoomOf); err != nil {
		return nil, err
	}
	return s, s.lookService()
}

func (s *setup) lookHome() error {
	home := s.Globals.Home
	if home == "" {
		var err error
		if home, err = config.DefaultHome(s.Getenv); err != nil {
			return err
		}
	}
	if err := cli.NoFile(home); err != nil {
		return err
	}
	var err error
	if s.home, err = registeredHome(s.Program); err != nil {
		return err
	}
	if s.settings, err = s.Program.Settings(); err != nil {
		return err
	}
	if s.command.Listen == "" || s.command.Listen == s.settings.Listen {
		return nil
	}
	if file := filepath.Join(s.home, "interlock.yaml"); cli.Exists(file) {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--listen",
			"there are settings already; put `listen: %s` into %s instead",
			s.command.Listen, file))
	}
	s.settings.Listen, s.listen = s.command.Listen, true
	return nil
}

func (s *setup) lookAgents() error {
	names := s.command.Agent
	if len(names) == 0 {
		names = harness.Names()
	}
	for _, name := range names {
		h, err := harnessNamed(name)
		if err != nil {
			return err
		}
		if len(s.command.Agent) == 0 && !h.Found(s.Place(""), onPath) {
			continue
		}
		plan, err := h.Install(s.Place(""), func(event string) harness.Command {
			return harness.Command{Binary: s.hookProgram(), Args: harness.HookArgs(name, event, s.home, s.Globals.Unattended)}
		})
		if err != nil {
			return err
		}
		s.agents = append(s.agents, agentPlan{h, plan})
	}
	return nil
}

// todo reports whether anything would change.
func (s *setup) todo() bool {
	for _, a := range s.agents {
		if a.plan.Changes() {
			return true
		}
	}
	for _, c := range s.copies {
		if !c.same {
			return true
		}
	}
	return !cli.Exists(s.home) || s.listen || s.serviceChanges()
}

// show says what would be done.
func (s *setup) show() {
	w := s.Stdout
	row := func(what, format string, args ...any) {
		fmt.Fprintf(w, "  %-9s "+format+"\n", append([]any{what}, args...)...)
	}
	fmt.Fprintf(w, "Interlock %s on this machine:\n", embedded.Version())
	switch {
	case len(s.copies) == 0:
		row("programs", "are on PATH already: %s", s.bin)
	default:
		for _, c := range s.copies {
			row("program", "%s%s", c.to, ifTrue(c.same, ", as it is", ifTrue(cli.Exists(c.to), ", replaced", "")))
		}
	}
	row("home", "%s%s", s.home, ifTrue(cli.Exists(s.home), ", as it is", ""))
	if s.listen {
		row("settings", "listen: %s", s.settings.Listen)
	}
	for _, a := range s.agents {
		row("agent", "%s: %s%s", a.harness.Title, a.plan.Path, ifTrue(a.plan.Changes(), "", ", as it is"))
	}
	if len(s.agents) == 0 {
		row("agent", "none was found; interlock install NAME registers one, of %s", strings.Join(harness.Names(), ", "))
	}
	if s.service != nil {
		row("server", "%s, %s%s", s.service.Kind, ifTrue(s.service.File != "", s.service.File, "started when you log in"),
			ifTrue(s.serviceChanges(), "", ", as it is"))
	}
	for _, text := range s.left {
		row("to do", "%s", text)
	}
	for _, a := range s.agents {
		if a.plan.Changes() {
			fmt.Fprint(w, a.plan.Diff())
		}
	}
}

func ifTrue(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// finish says what is left to do, and how the programs are called from here.
func (s *setup) finish() {
	w := s.Stdout
	call := "interlock"
	if len(s.copies) > 0 && !inPath(s.bin, s.Getenv("PATH")) {
		call = advice.Quoted(filepath.Join(s.bin, programName("interlock")))
		s.left = append(s.left, s.bin+" is not on PATH: add it where your shell sets PATH; until then type "+call)
	}
	if len(s.left) > 0 {
		fmt.Fprintln(w, "\nLeft to do:")
		for _, text := range s.left {
			fmt.Fprintf(w, "  - %s\n", s.Printed(text))
		}
	}
	home := ""
	if named := s.NamedHome(); named != "" {
		home = " --home " + advice.Quoted(named)
	}
	fmt.Fprintf(w, "\n%s%s pending lists what waits for you; %s%s setup --undo takes everything back.\n", call, home, call, home)
}

// homeNeeds is the room that a new home takes with its first decisions.
const homeNeeds = 2 * roomNeeded

// lookRoom refuses a disk that is too full for what would be written. One whose room the system does not tell is tried.
func (s *setup) lookRoom(disk func(dir string) (console.Space, error)) error {
	type need struct {
		dir  string
		size uint64
	}
	needs := []need{{s.home, homeNeeds}}
	for _, c := range s.copies {
		if info, err := os.Stat(c.from); err == nil && !c.same {
			needs = append(needs, need{filepath.Dir(c.to), uint64(info.Size())})
		}
	}
	total := map[console.Space]uint64{} // two directories on disks of equal room are taken to be on one
	for _, n := range needs {
		dir := n.dir
		if missing := missingDirs(dir); len(missing) > 0 {
			dir = filepath.Dir(missing[len(missing)-1])
		}
		space, err := disk(dir)
		if err != nil || space.Total == 0 {
			continue
		}
		if total[space] += n.size; total[space] > space.Free {
			return interlock.Errorf(interlock.CodeUnavailable, "", "the disk of %s is full: %s are free and %s are needed; free some space", dir,
				console.InWords(space.Free), console.InWords(total[space]+1<<20-1)) // rounded up
		}
	}
	return nil
}
