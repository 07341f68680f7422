package setup

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/harness"
	"interlock/internal/store"
)

// settingsFlags are shared by install and uninstall.
type settingsFlags struct {
	Harness string `arg:"" optional:"" help:"claude, codex, gemini, qwen, cursor, copilot, opencode; with --print windsurf or cline; or gateway."`
	Client  string `help:"With gateway: whose servers; claude-code, claude-desktop, cursor, vscode, codex, windsurf, gemini, qwen, copilot or opencode." placeholder:"NAME"`
	Project string `help:"Edit the settings of the project in this directory instead of the user's." type:"existingdir" placeholder:"DIR"`
	DryRun  bool   `name:"dry-run" help:"Show what would change and change nothing."`
}

type InstallCommand struct {
	settingsFlags
	systemFlags
	Socket    string   `help:"Have the system's server decide, which listens there; see --system." type:"path" placeholder:"FILE"`
	Print     bool     `help:"Print what to register, and change nothing."`
	Telemetry bool     `help:"Have the harness report what it uses of models, for budgets; with --print, what to set by hand."`
	Leave     []string `help:"With gateway: leave this server where it is. May be given again." placeholder:"SERVER"`
}

type UninstallCommand struct {
	settingsFlags
	systemFlags
	Telemetry   bool `help:"Only have the harness report no more what it uses; the hook stays."`
	KeepChanges bool `name:"keep-changes" help:"With gateway: keep servers that were added or changed since beside those that come back."`
}

// Help is what `interlock install --help` adds.
func (InstallCommand) Help() string {
	return "Edits the harness's own settings: the difference is shown, the file as it was stays beside it as a backup, everything\n" +
		"else in it stays as it is. Installing again changes nothing. Interlock's own settings belong into interlock.yaml.\n\n" +
		"interlock install gateway --client NAME moves the MCP servers in a client's settings behind interlock gateway instead, and\n" +
		"interlock uninstall gateway --client NAME puts them back byte for byte."
}

// Run registers the hook.
func (c *InstallCommand) Run(p *cli.Program) error {
	if done, err := c.settingsFlags.chosen(&c.systemFlags); err != nil {
		return err
	} else if done {
		return c.system(p)
	}
	if c.Harness == gatewayHarness && !c.Print {
		return c.gateway(p)
	}
	if c.Telemetry && c.Print {
		return c.printTelemetry(p)
	}
	if c.Client != "" || len(c.Leave) > 0 {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--client", "goes with interlock install gateway; --print does not"))
	}
	own, err := cli.OwnPath()
	if err != nil {
		return err
	}
	binary := Quickest(own)
	if c.Socket != "" && c.Telemetry {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--telemetry", "does not go with --socket: the system's server has the tokens"))
	}
	home := ""
	if c.Socket == "" {
		if home, err = registeredHome(p); err != nil {
			return err
		}
	}
	args := func(event string) []string {
		if c.Socket != "" {
			return harness.SystemArgs(c.Harness, event, c.Socket, p.Globals.Unattended)
		}
		return harness.HookArgs(c.Harness, event, home, p.Globals.Unattended)
	}
	if c.Print {
		if text, known := harness.Lines(c.Harness, runtime.GOOS, binary, args); known {
			fmt.Fprint(p.Stdout, text)
			return nil
		}
	}
	h, err := harnessNamed(c.Harness)
	if err != nil {
		return err
	}
	command := func(event string) harness.Command { return harness.Command{Binary: binary, Args: args(event)} }
	if c.Print {
		fmt.Fprint(p.Stdout, h.Printed(runtime.GOOS, command))
		return nil
	}
	plan, err := h.Install(p.Place(c.Project), command)
	if err == nil && c.Telemetry {
		plan, err = c.withTelemetry(p, h, plan)
	}
	if err != nil {
		return refusedFile(err)
	}
	if c.DryRun && plan.Changes() {
		return c.apply(p, plan)
	}
	record := func() error { return nil } // this user can't write the record of the system's server
	if !c.DryRun && c.Socket == "" {
		backend, err := openForRecord(p)
		if err != nil {
			return err
		}
		defer backend.Close()
		record = func() error { return recordInstalled(p, backend, h, c.Project, false) }
	}
	if !plan.Changes() {
		fmt.Fprintf(p.Stdout, "%s is installed already: %s\n", h.Title, plan.Path)
		return record()
	}
	if err := c.apply(p, plan); err != nil {
		return err
	}
	if err := record(); err != nil {
		return fmt.Errorf("the hook is registered, but what was registered could not be recorded, so nobody will notice when it "+
			"changes; run the command again: %w", err)
	}
	if c.Socket != "" {
		fmt.Fprintf(p.Stdout, "%s: the hook is registered in %s, and the system's server at %s decides.\n%s\n", h.Title, plan.Path, c.Socket, h.Note)
		return nil
	}
	doctor := harness.Command{Binary: own, Args: []string{"doctor", "--home", home}}
	if c.Project != "" {
		doctor.Args = append(doctor.Args, "--project", c.Project)
	}
	fmt.Fprintf(p.Stdout, "%s: the hook is registered in %s.\n%s\nProve that it fires: %s\n", h.Title, plan.Path, h.Note, doctor)
	if c.Telemetry {
		fmt.Fprintln(p.Stdout, telemetryNote)
	}
	return nil
}

// Run takes the hook out.
func (c *UninstallCommand) Run(p *cli.Program) error {
	if done, err := c.settingsFlags.chosen(&c.systemFlags); err != nil {
		return err
	} else if done {
		return c.system(p)
	}
	if c.Harness == gatewayHarness {
		return c.gateway(p)
	}
	if c.Client != "" || c.KeepChanges {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--client", "goes with interlock uninstall gateway"))
	}
	h, err := harnessNamed(c.Harness)
	if err != nil {
		return err
	}
	binary, err := cli.OwnPath()
	if err != nil {
		return err
	}
	if c.Telemetry {
		return c.telemetry(p, h)
	}
	plan, err := h.Uninstall(p.Place(c.Project), binary)
	if err != nil {
		return refusedFile(err)
	}
	if !plan.Changes() {
		fmt.Fprintf(p.Stdout, "%s has no hook of Interlock's in %s\n", h.Title, plan.Path)
		return nil
	}
	if err := c.apply(p, plan); err != nil || c.DryRun {
		return err
	}
	if err := recordRemoved(p, h, c.Project); err != nil {
		return fmt.Errorf("the hook is no longer registered, but that could not be recorded: %w", err)
	}
	fmt.Fprintf(p.Stdout, "%s: the hook is no longer registered. Nothing of Interlock's judges its calls now.\n", h.Title)
	return nil
}

// chosen reports whether the command is about the whole system, and refuses what does not go together.
func (c *settingsFlags) chosen(s *systemFlags) (system bool, err error) {
	switch flag := s.given(); {
	case s.System && (c.Harness != "" || c.Project != "" || c.Client != ""):
		err = interlock.Errorf(interlock.CodeInvalid, "--system", "goes without a HARNESS, --project and --client: it is the server's")
	case !s.System && flag != "":
		err = interlock.Errorf(interlock.CodeInvalid, flag, "goes with --system")
	case !s.System && c.Harness == "":
		err = interlock.Errorf(interlock.CodeInvalid, "HARNESS", "is missing; name one of %s, or gateway; --system is for the server",
			strings.Join(harness.Names(), ", "))
	}
	if err != nil {
		return false, cli.Usage(err)
	}
	return s.System, nil
}

// apply shows a plan and carries it out.
func (c *settingsFlags) apply(p *cli.Program, plan harness.Plan) error {
	fmt.Fprint(p.Stdout, plan.Masked().Diff())
	if c.DryRun {
		fmt.Fprintln(p.Stdout, "Nothing was changed.")
		return nil
	}
	backup, err := plan.Apply(cli.Now())
	if err != nil {
		return refusedFile(err)
	}
	if backup != "" {
		fmt.Fprintf(p.Stdout, "The file as it was: %s\n", backup)
	}
	return nil
}

func harnessNamed(name string) (harness.Harness, error) {
	h, known := harness.ByName(name)
	if known {
		return h, nil
	}
	if _, printable := harness.Lines(name, runtime.GOOS, "interlock", func(string) []string { return nil }); printable {
		return h, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "HARNESS",
			"%s is registered by hand: interlock install %s --print shows how", name, name))
	}
	return h, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "HARNESS",
		"%.40q is not known; name one of %s, or with --print windsurf or cline",
		name, strings.Join(harness.Names(), ", ")))
}

// refusedFile puts an error about a settings file into a form that may be shown; nothing was changed.
func refusedFile(err error) error {
	return fmt.Errorf("%w; nothing was changed", err)
}

// Quickest is the program to register: the small one that only hooks run, where it lies beside this one.
func Quickest(binary string) string {
	small := filepath.Join(filepath.Dir(binary), harness.SmallProgram)
	if info, err := os.Stat(small); runtime.GOOS != "windows" && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
		return small
	}
	return binary
}

// registeredHome is the home a registered command names. It always names one: a harness may run hooks with another
// environment, and an agent that starts a harness chooses that environment, so INTERLOCK_HOME and its like must not count.
func registeredHome(p *cli.Program) (string, error) {
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{"--config", p.Globals.Config != ""}, {"--rules", p.Globals.RulesDir != ""}, {"--profile", p.Globals.Profile != ""},
		{"--mode", p.Globals.Mode != ""},
	} {
		if flag.set {
			return "", cli.Usage(interlock.Errorf(interlock.CodeInvalid, flag.name,
				"is not registered with a hook; set it in interlock.yaml in the home directory"))
		}
	}
	settings, err := p.Settings()
	if err != nil {
		return "", err
	}
	return settings.Home, nil
}

// openForRecord opens the home to record what is registered. The home and its keys are made where there are none yet, so that there is
// something to pin.
func openForRecord(p *cli.Program) (*embedded.Backend, error) {
	settings, err := p.Settings()
	if err != nil {
		return nil, err
	}
	return embedded.OpenBrief(p.Ctx, settings)
}

// recordRemoved records that a hook was taken out, where there is a log.
func recordRemoved(p *cli.Program, h harness.Harness, project string) error {
	settings, err := p.Settings()
	if err != nil || !store.Exists(settings.Home) {
		return err
	}
	backend, err := openForRecord(p)
	if err != nil {
		return err
	}
	defer backend.Close()
	return recordInstalled(p, backend, h, project, true)
}

const telemetryNote = "It reports what it uses of models while interlock up runs; interlock budgets shows it. Its prompts are not sent."

// telemetryOf is where a harness reports to, and by which token. The token is made of the log's key, so that none is kept.
func telemetryOf(p *cli.Program, name string) (t harness.Telemetry, err error) {
	settings, err := p.Settings()
	if err != nil {
		return t, err
	}
	base, err := telemetryBase(settings)
	if err != nil {
		return t, err
	}
	backend, err := openForRecord(p) // makes the home, where there is none yet
	if err != nil {
		return t, err
	}
	defer backend.Close()
	sealer, err := embedded.LogSealer(settings.Home)
	if err != nil {
		return t, err
	}
	return harness.Telemetry{Base: base, Token: sealer.Answers().UsageToken(name)}, nil
}

// telemetryBase is the address that telemetry goes to.
func telemetryBase(settings config.Config) (string, error) {
	_, port, err := net.SplitHostPort(settings.Listen)
	if err != nil || port == "0" {
		return "", interlock.Errorf(interlock.CodeInvalid, "listen",
			"telemetry goes to the HTTP API, which has no fixed address here: set listen in interlock.yaml")
	}
	return "http://" + net.JoinHostPort("127.0.0.1", port) + "/otlp", nil
}

func (c *InstallCommand) printTelemetry(p *cli.Program) error {
	t, err := telemetryOf(p, c.Harness)
	if err != nil {
		return err
	}
	text, known := harness.TelemetryLines(c.Harness, t)
	if !known {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--telemetry",
			"how %.40q reports what it uses is not known; claude, codex, gemini and qwen are", c.Harness))
	}
	_, err = fmt.Fprint(p.Stdout, text)
	return err
}

// withTelemetry adds to a plan that the harness reports what it uses.
func (c *InstallCommand) withTelemetry(p *cli.Program, h harness.Harness, plan harness.Plan) (harness.Plan, error) {
	if !h.Reports() {
		return plan, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--telemetry",
			"%s is set up for that by hand: interlock install %s --telemetry --print says how", h.Title, h.Name))
	}
	if c.Project != "" {
		return plan, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--telemetry",
			"goes into the user's settings: %s ignores where a project would send its telemetry", h.Title))
	}
	t, err := telemetryOf(p, h.Name)
	if err != nil {
		return plan, err
	}
	return h.WithTelemetry(plan, t)
}

// telemetry has a harness report no more.
func (c *UninstallCommand) telemetry(p *cli.Program, h harness.Harness) error {
	plan, err := h.Untouched(p.Place(c.Project))
	if err != nil {
		return refusedFile(err)
	}
	plan, reported, err := h.WithoutTelemetry(plan)
	if err != nil {
		return refusedFile(err)
	}
	if !reported {
		fmt.Fprintf(p.Stdout, "%s reports nothing to Interlock by %s\n", h.Title, plan.Path)
		return nil
	}
	if err := c.apply(p, plan); err != nil || c.DryRun {
		return err
	}
	if status, err := h.Status(p.Place(c.Project), ""); err == nil && len(status.Registrations) > 0 { // the file is another than was recorded
		backend, err := openForRecord(p)
		if err != nil {
			return err
		}
		defer backend.Close()
		if err := recordInstalled(p, backend, h, c.Project, false); err != nil {
			return err
		}
	}
	fmt.Fprintf(p.Stdout, "%s reports no more what it uses. Budgets count nothing of it from now on.\n", h.Title)
	return nil
}
