package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/console"
	"interlock/internal/fileio"
	"interlock/internal/harness"
	"interlock/internal/hook"
	"interlock/internal/ruletest"
	"interlock/internal/sandbox"
	"interlock/internal/startup"
	"interlock/internal/witness"
)

type DoctorCommand struct {
	Project string `help:"Also look at the settings of the project in this directory." type:"existingdir" placeholder:"DIR"`
	JSON    bool   `name:"json" help:"Print one JSON object."`
}

// Help is what `interlock doctor --help` adds.
func (DoctorCommand) Help() string {
	return "Sends a command that must be refused through every registered command line and looks for the refusal in the harness's\n" +
		"own dialect. The command is judged and recorded as a canary; it is never run. Starts each client's gateway as the client\n" +
		"would, looks at every server through it, and has a call refused. Exit status 1 if any check fails."
}

// A check is one thing doctor looked at. Status is ok, info (nothing wrong, worth knowing), warn (works, less than it
// should) or fail.
type check struct {
	Name    string `json:"name"`
	Harness string `json:"harness,omitempty"`
	Status  string `json:"status"`
	Detail  string `json:"detail"`
	Micros  int64  `json:"micros,omitempty"`
}

const (
	statusOK   = "ok"
	statusInfo = "info"
	statusWarn = "warn"
	statusFail = "fail"
)

// A Diagnosis collects checks.
type Diagnosis struct {
	Program  *cli.Program
	Settings config.Config
	run      string // marks this run's canaries in the record
	disk     func(dir string) (console.Space, error)
	Checks   []check
	gaps     []harness.Gap
}

func (d *Diagnosis) note(name, agent, status, format string, args ...any) {
	d.Checks = append(d.Checks, check{Name: name, Harness: agent, Status: status,
		Detail: d.Program.Printed(fmt.Sprintf(format, args...))})
}

// Run looks at everything and reports.
func (c *DoctorCommand) Run(p *cli.Program) error {
	d := &Diagnosis{Program: p, run: fmt.Sprintf("%s%d", interlock.CanaryRun, cli.Now().UnixNano()), disk: cli.RoomOf}
	d.note("version", "", statusInfo, "interlock %s, %s, %s/%s", embedded.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	settings, err := p.Settings()
	if err != nil {
		d.note("settings", "", statusFail, "%s", err)
	} else {
		d.Settings = settings
		d.look(c.Project)
	}
	failed := 0
	for _, found := range d.Checks {
		if found.Status == statusFail {
			failed++
		}
	}
	if err := d.print(c.JSON, failed); err != nil {
		return err
	}
	if failed > 0 {
		return &cli.ExitCode{Code: 1}
	}
	return nil
}

func (d *Diagnosis) look(project string) {
	d.note("home", "", statusInfo, "%s, profile %s", d.Settings.Home, d.Settings.Profile)
	d.store(project)
	if d.Settings.Mode != interlock.Enforcing {
		d.note("mode", "", statusWarn, "mode %s: verdicts are not enforced, so no canary can be refused", d.Settings.Mode)
	}
	d.idle()
	d.system("/")
	d.room()
	d.server()
	d.judges()
	places := []harness.Place{d.Program.Place("")}
	if project != "" {
		if whole, err := filepath.Abs(project); err == nil {
			project = whole
		}
		places = append(places, d.Program.Place(project))
	}
	for _, place := range places {
		for _, name := range harness.Names() {
			d.harness(name, place)
		}
	}
	for _, place := range places {
		d.gateways(place)
	}
	for _, file := range harness.Between(d.Program.Getenv) {
		d.note("between", "", statusWarn, "BASH_ENV or ENV names %s: some shells run it before they run a hook, so agents may not "+
			"write it; keep it in a folder that only you write", file)
	}
	if registered := d.registered(); registered == 0 {
		d.note("registered", "", statusFail,
			"no coding agent calls Interlock here; run: interlock install claude, or another of %s; or interlock "+
				"install gateway --client NAME", strings.Join(harness.Names(), ", "))
	}
	d.platform()
}

// idle says what of the operator's policy changes nothing.
func (d *Diagnosis) idle() {
	evaluator, _, err := d.Program.Evaluator()
	if err != nil {
		return // which is told where the settings or the store are looked at
	}
	for _, problem := range ruletest.Idle(evaluator.Rules, evaluator.Analyser, evaluator.Profile) {
		d.note("rules", "", statusWarn, "%s", problem)
	}
}

// registered counts the harnesses that have a hook, whole or not, and the clients behind the gateway.
func (d *Diagnosis) registered() int {
	count := 0
	for _, found := range d.Checks {
		if (found.Name == "registered" || found.Name == "gateway") && found.Harness != "" && found.Status != statusInfo {
			count++
		}
	}
	return count
}

// server asks the server for its health, if there is one. Without one the hooks decide in process.
func (d *Diagnosis) server() {
	socket := config.Socket(d.Settings.Home)
	if !cli.Exists(socket) {
		d.note("server", "", statusInfo, "not running; hooks decide in process")
		return
	}
	ctx, cancel := context.WithTimeout(d.Program.Ctx, 2*time.Second)
	defer cancel()
	start := cli.Now()
	s, err := hook.Dial(ctx, socket, 2*time.Second, func() (witness.Key, error) {
		return harness.ServerKey("", "", d.Settings.Home)
	})
	if err == nil {
		defer s.Close()
		err = s.Health()
	}
	if errors.Is(err, hook.ErrImpostor) {
		d.note("server", "", statusFail, "%s: hooks don't believe it and decide in process; look for the process that holds %s, "+
			"and restart `interlock up` if it is older than this program", hook.ErrImpostor, socket)
		return
	}
	if err != nil {
		d.note("server", "", statusWarn, "%s does not answer; hooks decide in process after %v", socket, hook.ServerTimeout)
		return
	}
	d.note("server", "", statusOK, "answers at %s", socket)
	d.Checks[len(d.Checks)-1].Micros = cli.Now().Sub(start).Microseconds()
}

// harness looks at one harness's settings and proves that what is registered refuses.
func (d *Diagnosis) harness(name string, place harness.Place) {
	h, _ := harness.ByName(name)
	binary, err := cli.OwnPath()
	if err != nil {
		binary = ""
	}
	status, err := h.Status(place, binary)
	switch {
	case err != nil:
		d.note("registered", name, statusFail, "%s", err)
		return
	case len(status.Registrations) == 0:
		if place.Project == "" && cli.Exists(filepath.Dir(status.Path)) {
			d.note("registered", name, statusInfo, "not installed; interlock install %s", name)
		}
		if place.Project != "" { // its switches count for the user's hooks as well
			for _, problem := range status.Problems {
				d.note("registered", name, statusFail, "%s: %s", status.Path, problem)
			}
		}
		return
	case slices.Equal(status.Missing, []string{harness.ConfigChange}):
		d.note("registered", name, statusWarn,
			"%s lacks %s, so that a session goes by settings which take the hook out as soon as they are written; run: interlock install %s",
			status.Path, harness.ConfigChange, name)
	case len(status.Missing) > 0 && status.Guards():
		d.note("registered", name, statusWarn,
			"%s lacks %s, so that calls are judged without knowing what the user asked for; run: interlock install %s",
			status.Path, strings.Join(status.Missing, ", "), name)
	case len(status.Missing) > 0:
		d.note("registered", name, statusFail, "%s lacks %s; run: interlock install %s", status.Path,
			strings.Join(status.Missing, ", "), name)
	default:
		d.note("registered", name, statusOK, "%s, %d events", status.Path, len(h.Events))
	}
	for _, r := range status.Registrations {
		if other := r.Home(); other != "" && filepath.Clean(other) != filepath.Clean(d.Settings.Home) {
			d.note("home", name, statusWarn, "its hook decides in another home than this one: `%s`",
				harness.Command{Binary: "interlock", Args: []string{"--home", other, "doctor"}})
			break
		}
	}
	dir := place.Project
	if dir == "" {
		dir, _ = os.Getwd() // without one there is no project to look at
	}
	for _, problem := range append(status.Problems, h.SwitchedOff(place, dir)...) {
		d.note("registered", name, statusFail, "%s", problem)
	}
	for i, r := range status.Registrations {
		if h.Blocks(r.Event) {
			d.canary(name, r, fmt.Sprintf("%s-%s-%d", d.run, name, i))
		}
	}
	d.telemetry(h, place)
	if place.Project == "" {
		d.gaps = append(d.gaps, harness.GapsOf(name)...)
	}
}

// canary runs a registered command line with payloads that must be refused: one cut short, and where the event carries
// commands and verdicts are enforced, one that proposes to remove everything.
func (d *Diagnosis) canary(agent string, r harness.Registration, run string) {
	payloads := [][]byte{hook.CanaryCut(r.Event, run)}
	if hook.CarriesCommand(agent, r.Event) && d.Settings.Mode == interlock.Enforcing {
		payloads = append(payloads, hook.Canary(agent, r.Event, run))
	}
	var took time.Duration
	for _, payload := range payloads {
		start := cli.Now()
		out, err := d.runRegistered(r, payload)
		took = cli.Now().Sub(start)
		switch {
		case err != nil:
			d.note("canary", agent, statusFail, "%s: the registered command does not run: %v", r.Event, err)
			return
		case !hook.Refused(agent, r.Event, out):
			d.note("canary", agent, statusFail, "%s: the registered command did not refuse (exit %d, %.200q)", r.Event,
				out.Exit, out.Stdout)
			return
		}
	}
	d.note("canary", agent, statusOK, "%s: refused", r.Event)
	d.Checks[len(d.Checks)-1].Micros = took.Microseconds()
}

// runRegistered runs a command line as the harness would, but for what is answered when it fails: that would hide a failure.
func (d *Diagnosis) runRegistered(r harness.Registration, payload []byte) (hook.Output, error) {
	ctx, cancel := context.WithTimeout(d.Program.Ctx, 30*time.Second)
	defer cancel()
	argv := r.Argv
	if len(argv) == 0 {
		argv = []string{"sh", "-c", r.Line()}
		if runtime.GOOS == "windows" {
			argv = []string{"cmd", "/C", r.Line()}
		}
	}
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	command.Dir = os.TempDir()
	command.Stdin = strings.NewReader(string(payload))
	var stdout, stderr strings.Builder
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit) && exit.Exited() && len(r.Argv) == 0 && (exit.ExitCode() == 126 || exit.ExitCode() == 127):
		// as shells say so
		return hook.Output{}, fmt.Errorf("its program can't be started: %.200s", strings.TrimSpace(stderr.String()))
	case errors.As(err, &exit) && exit.Exited():
	case ctx.Err() != nil:
		return hook.Output{}, fmt.Errorf("no answer within 30 s")
	default:
		return hook.Output{}, err
	}
	return hook.Output{Stdout: []byte(stdout.String()), Stderr: []byte(stderr.String()),
		Exit: command.ProcessState.ExitCode()}, nil
}

// platform says which parts this system lacks. A sandbox is tried, because nothing else proves that one can be built.
func (d *Diagnosis) platform() {
	if runtime.GOOS != "linux" {
		d.note("sandbox", "", statusInfo,
			"running commands in a sandbox needs Linux, and `interlock exec` refuses here; everything else works")
		return
	}
	self, err := os.Executable()
	if err != nil {
		d.note("sandbox", "", statusWarn, "this program can't be found: %v", err)
		return
	}
	dir, err := os.MkdirTemp("", "interlock-doctor-")
	if err != nil {
		d.note("sandbox", "", statusWarn, "no sandbox could be tried: %v", err)
		return
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(d.Program.Ctx, 30*time.Second)
	defer cancel()
	switch f := sandbox.Probe(ctx, filepath.Join(dir, "sandbox"), self); {
	case !f.Works:
		d.note("sandbox", "", statusInfo, "`interlock exec` runs nothing here: %s; commands are judged all the same", f.Missing)
	case f.NoOverlay != "":
		d.note("sandbox", "", statusWarn, "a sandbox works, but no throw-away copy: %s", f.NoOverlay)
	default:
		d.note("sandbox", "", statusOK, "a sandbox works (%s; memory held by %s); `interlock exec --report` says what stops what",
			f.Bubblewrap, f.Walls.Memory)
	}
}

func (d *Diagnosis) print(asJSON bool, failed int) error {
	if asJSON {
		e := json.NewEncoder(d.Program.Stdout)
		e.SetEscapeHTML(false)
		type gap struct {
			Harness  string `json:"harness"`
			Versions string `json:"versions"`
			What     string `json:"what"`
			Instead  string `json:"instead"`
		}
		gaps := make([]gap, 0, len(d.gaps))
		for _, g := range d.gaps {
			gaps = append(gaps, gap{g.Agent, g.Versions, g.What, g.Instead})
		}
		return e.Encode(struct {
			OK     bool    `json:"ok"`
			Checks []check `json:"checks"`
			Gaps   []gap   `json:"gaps"`
		}{failed == 0, d.Checks, gaps})
	}
	w := d.Program.Stdout
	for _, c := range d.Checks {
		name := c.Name
		if c.Harness != "" {
			name = c.Harness + " " + c.Name
		}
		took := ""
		if c.Micros > 0 {
			took = fmt.Sprintf(" (%.1f ms)", float64(c.Micros)/1000)
		}
		fmt.Fprintf(w, "%-4s  %-19s %s%s\n", c.Status, name, c.Detail, took)
	}
	if len(d.gaps) > 0 {
		fmt.Fprintln(w, "\nWhat no hook can see or stop:")
		for _, g := range d.gaps {
			fmt.Fprintf(w, "  %-8s %s: %s %s\n", g.Agent, g.Versions, g.What, g.Instead)
		}
	}
	if failed > 0 {
		fmt.Fprintf(w, "\n%d of %d checks failed.\n", failed, len(d.Checks))
		return nil
	}
	fmt.Fprintf(w, "\nAll %d checks passed.\n", len(d.Checks))
	return nil
}

// roomNeeded is what some thousand decisions take.
const roomNeeded = 4 << 20

// room writes and removes a file of roomNeeded bytes in the home: where nothing can be written nothing can be recorded, and what
// can't be recorded is refused. SQLite's own trial would be a decision that is no canary's. Where it can be written, how much
// room is left is told as soon as it is little: a full disk stops every agent at once.
func (d *Diagnosis) room() {
	file, err := os.CreateTemp(d.Settings.Home, "doctor-*.tmp")
	if err == nil {
		defer os.Remove(file.Name())
		_, err = file.Write(make([]byte, roomNeeded))
		err = errors.Join(err, file.Sync(), file.Close())
	}
	switch {
	case errors.Is(err, os.ErrNotExist): // without a home the store has failed and said so
	case err != nil:
		d.note("room", "", statusFail, "nothing can be written to %s, so every call is refused; free some space or mend its mode: %s", d.Settings.Home, err)
	default:
		d.littleRoom()
	}
}

// littleRoom warns of a disk that will be full soon. One whose room the system does not tell is not warned of.
func (d *Diagnosis) littleRoom() {
	space, err := d.disk(d.Settings.Home)
	if err == nil && space.Total > 0 && space.Little() {
		d.note("room", "", statusWarn, "%s of %s are free on the disk of %s, fewer than %s; once it is full every call is refused: free "+
			"some space, or move old events elsewhere with `interlock audit archive`", console.InWords(space.Free),
			console.InWords(space.Total), d.Settings.Home, console.InWords(console.LittleSpace))
	}
}

// system looks at the system's installation below a directory, where there is one: that what it wrote is as it was written, and that
// nobody but root and the server's user could have put another server in its place.
func (d *Diagnosis) system(root string) {
	unit := filepath.Join(root, startup.UnitPath)
	text, err := fileio.Own(unit, 1<<20, fileio.Settled)
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		d.note("system", "", statusFail, "%s can't be believed: %s", unit, fileio.Reason(err))
		return
	}
	for _, line := range startup.Confinement() {
		if !strings.Contains("\n"+string(text), "\n"+line+"\n") {
			d.note("system", "", statusWarn, "%s lacks %s; interlock install --system writes it anew", unit, line)
			return
		}
	}
	socket := filepath.Join(root, startup.SystemSocket)
	info, err := os.Lstat(socket)
	if err != nil {
		d.note("system", "", statusWarn, "the system's server is installed and does not listen at %s; systemctl status interlock says why", socket)
		return
	}
	if info.Mode()&os.ModeSocket == 0 || info.Mode().Perm()&0o007 != 0 {
		d.note("system", "", statusFail, "%s is no socket, or everybody may connect to it; systemctl restart interlock makes it anew", socket)
		return
	}
	d.note("system", "", statusOK, "the system's server is confined and listens at %s", socket)
}
