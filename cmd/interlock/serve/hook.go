package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/audit"
	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/setup"
	"interlock/embedded"
	"interlock/internal/account"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/fileio"
	"interlock/internal/gitwork"
	"interlock/internal/harness"
	"interlock/internal/hook"
	"interlock/internal/lineage"
	"interlock/internal/startup"
	"interlock/internal/store"
	"interlock/internal/witness"
)

// HookCommand judges one hook call. Whatever goes wrong, its answer is a refusal in the harness's dialect: harnesses run
// the tool when a hook fails. Package hook has the reading, the deadline and the dialects; here is what decides.
type HookCommand struct {
	Agent    string        `help:"The harness: claude, codex, gemini, qwen, cursor, copilot, opencode, windsurf or cline." required:"" placeholder:"NAME"`
	Event    string        `help:"The event this command is registered for; used where the payload names none or can't be read." placeholder:"EVENT"`
	Socket   string        `help:"Socket of the server. Default: this user's own, or the system's without a store." type:"path" placeholder:"FILE"`
	Deadline time.Duration `help:"Refuse when no decision was made by then. Keep it below the harness's own timeout." default:"5s"`
}

// Run judges one call as read by the full command line.
func (c *HookCommand) Run(p *cli.Program) error {
	if c.Deadline < hook.MinDeadline || c.Deadline > hook.MaxDeadline {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--deadline", "must be between %v and %v", hook.MinDeadline,
			hook.MaxDeadline))
	}
	return &cli.ExitCode{Code: answerHook(p, *c)}
}

// FastHook reads the flags that registrations use without building the command table. Anything else is left to the full
// command line.
func FastHook(p *cli.Program, args []string) (code int, done bool) {
	f, ok := hook.ParseFlags(args)
	if !ok {
		return 0, false
	}
	p.Globals = cli.Globals{Home: f.Home, Unattended: f.Unattended}
	return answerHook(p, HookCommand{Agent: f.Agent, Event: f.Event, Deadline: f.Deadline, Socket: f.Socket}), true
}

// answerHook runs one call against its deadline and writes the answer. It returns the exit status.
func answerHook(p *cli.Program, c HookCommand) int {
	cli.TuneBrief()
	if socket := systemSocket(p, c.Socket); socket != "" {
		return systemHook(p, c, socket)
	}
	if c.Event == harness.ConfigChange {
		return configChange(p, c)
	}
	environment := hook.Environment{Event: c.Event, Principal: account.Name(), Unattended: p.Globals.Unattended}
	environment.Home = p.NamedHome()
	environment.Exec, environment.Gateway = hookExec(p), hookGateway(p)
	var alone bool
	environment.Prompts, alone = lineage.Look(c.Agent, p.Getenv)
	environment.Unattended = environment.Unattended || alone
	opened := make(chan *embedded.Backend, 1)
	judge := func(ctx context.Context, call hook.Call, _ []byte) (hook.Output, witness.News) {
		return judgeHook(ctx, p, call, environment, opened)
	}
	defer func() { // a ruleset that decides in the shadow does so when the answer is out
		select {
		case backend := <-opened:
			backend.Close()
		default: // none was opened, or it is at work still and ends with the process
		}
	}()
	return hook.Process{Agent: c.Agent, Environment: environment, Deadline: c.Deadline, Socket: hookSocket(p), Redact: cli.Redacted,
		Key:   func() (witness.Key, error) { return serverKey(p, c.Agent) },
		Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, Judge: judge, Unreadable: refuseHook(p),
		Held: func(agent, origin string) []witness.Head { return audit.HeldHeads(p, agent, origin) },
		// What is kept is a courtesy to those who verify the log later and no part of the decision, so a file that can't be written is
		// passed over; doctor says so.
		Keep: func(agent string, news *witness.News) { _ = harness.KeepHeads(cli.UserHome(p.Getenv), agent, news) }}.Run(p.Ctx)
}

// hookSocket is where a server for this home would listen; empty if none may be asked. A server decides under its own
// settings and gathers the view itself, so none are read here; a call with settings of its own is judged in process.
func hookSocket(p *cli.Program) string {
	if g := p.Globals; g.Config != "" || g.RulesDir != "" || g.Profile != "" || g.Mode != "" {
		return ""
	}
	home := p.Globals.Home
	if home == "" {
		var err error
		if home, err = config.DefaultHome(p.Getenv); err != nil {
			return ""
		}
	}
	return config.Socket(home)
}

// serverKey is the key under which the server of this home has to answer a hook of a harness.
func serverKey(p *cli.Program, agent string) (witness.Key, error) {
	home := p.Globals.Home
	if home == "" {
		var err error
		if home, err = config.DefaultHome(p.Getenv); err != nil {
			return witness.Key{}, err
		}
	}
	return harness.ServerKey(cli.UserHome(p.Getenv), agent, home)
}

// hookExec is how commands that need a sandbox get one. A hook with settings of its own has none: what runs would be decided
// under others.
func hookExec(p *cli.Program) *hook.Exec {
	if g := p.Globals; g.Config != "" || g.RulesDir != "" || g.Profile != "" || g.Mode != "" {
		return nil
	}
	home := p.Globals.Home
	if home == "" {
		var err error
		if home, err = config.DefaultHome(p.Getenv); err != nil {
			return nil
		}
	}
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return hook.NewExec(self, home, p.Getenv("PATH"))
}

// judgeHook decides in process, on the embedded store.
//
// The backend is handed to opened once it has answered, for the caller, which waits to close it.
func judgeHook(ctx context.Context, p *cli.Program, call hook.Call, environment hook.Environment,
	opened chan<- *embedded.Backend) (hook.Output, witness.News) {
	settings, err := p.Settings()
	if err != nil {
		return hook.Refuse(call, "unavailable", "the settings can't be used: "+cli.Shown(err)), witness.News{}
	}
	backend, err := embedded.OpenBrief(ctx, settings)
	if err != nil {
		what := "store"
		if embedded.AboutRules(err) {
			what = "rules"
		}
		return hook.Refuse(call, "unavailable", "the "+what+" can't be used: "+cli.Shown(err)), witness.News{}
	}
	defer func() { opened <- backend }()
	for i := range call.Proposals {
		proposal := &call.Proposals[i]
		proposal.View = embedded.GatherView(backend.Settings, proposal.Action.Dir)
	}
	held := audit.HeldHeads(p, call.Agent, backend.Key.Origin())
	out, newest := hook.Decide(ctx, call, environment, hookBackend{backend}, cli.Redacted, cli.Shown)
	if call.Impostor {
		// The decision holds whether or not this can be written: it is none of the other's.
		_ = backend.Alarm(ctx, alertImpostor, call.Agent+": "+hook.ErrImpostor.Error()+"; it was not believed and the hook decided "+
			"by itself. Look for the process that holds the socket; restart `interlock up` if it is older than the hook")
	}
	news := audit.NewsOf(ctx, backend, newest, held)
	if len(call.Proposals) > 0 { // no server looks, so this does
		_, _ = setup.LookAtInstalled(ctx, p, backend, []string{call.Proposals[0].Action.Dir}, false)
	}
	return audit.SaysDisagreement(ctx, p, backend, call, out, &news), news
}

// A hookBackend is a backend as the hook door uses it: on this machine, for the user who runs it.
type hookBackend struct{ *embedded.Backend }

// ProposeHanded decides one action that the door knows to be handed over or not.
func (b hookBackend) ProposeHanded(ctx context.Context, h interlock.Handover, p interlock.Proposal) interlock.Answer {
	return b.ProposeBy(ctx, admission.Way{Read: embedded.ReadScripts, Work: gitwork.Look, Handover: h}, p)
}

// alertImpostor is the kind of alert about a listener that is not the server.
const alertImpostor = "false-server"

// refuseHook leaves an event about input that never became an action, if the store is there. That never changes the answer
// and never creates a store.
func refuseHook(p *cli.Program) func(context.Context, hook.Call, []byte, error) (hook.Output, witness.News) {
	return func(ctx context.Context, call hook.Call, _ []byte, cause error) (out hook.Output, news witness.News) {
		out = hook.Refuse(call, "unreadable", cause.Error())
		settings, err := p.Settings()
		if err != nil || !store.Exists(settings.Home) {
			return out, news
		}
		backend, err := embedded.OpenBrief(ctx, settings)
		if err != nil {
			return out, news
		}
		defer backend.Close()
		held := audit.HeldHeads(p, call.Agent, backend.Key.Origin())
		answer := backend.Refuse(ctx, interlock.Requester{Principal: account.Name(), Agent: call.Agent}, "hook", cause)
		news = audit.NewsOf(ctx, backend, answer.Checkpoint, held)
		return audit.SaysDisagreement(ctx, p, backend, call, out, &news), news
	}
}

// hookGateway tells whether a call goes to this home's own gateway, which then asks instead of the hook. Nothing of it is
// taken on trust from what the agent could have written: the client's settings have to hold exactly what `interlock install
// gateway` wrote, and nothing else of the name; the client must have been started without flags that bring servers of their own;
// and the gateway has to run as its child. A hook with settings of its own decides by others than the gateway does.
func hookGateway(p *cli.Program) func(context.Context, hook.Call) bool {
	if g := p.Globals; g.Config != "" || g.RulesDir != "" || g.Profile != "" || g.Mode != "" {
		return nil
	}
	return func(_ context.Context, call hook.Call) bool {
		home := p.Globals.Home
		if home == "" {
			var err error
			if home, err = config.DefaultHome(p.Getenv); err != nil {
				return false
			}
		}
		client, running := lineage.Claude()
		return running && filepath.IsAbs(home) && boundToGateway(p, call, home, client)
	}
}

func boundToGateway(p *cli.Program, call hook.Call, home string, running lineage.Process) bool {
	place := p.Place("")
	client, id := setup.ClientIn("claude-code", place)
	text, err := fileio.Plain(filepath.Join(config.ClientDir(home), id+".undo"+setup.SecretSuffix), setup.MaxClientFile)
	var record setup.MoveRecord
	if err != nil || json.Unmarshal(text, &record) != nil || record.Path != client.Settings(place) {
		return false
	}
	dirs := []string{call.Dir(), running.Dir()}
	if project := p.Getenv("CLAUDE_PROJECT_DIR"); project != "" {
		dirs = append(dirs, project)
	}
	if slices.ContainsFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) }) {
		return false
	}
	argv, err := client.Bound(place, call.Server(), record.After, dirs)
	return err == nil && slices.Equal(argv[1:], []string{"gateway", "--client", id, "--home", home}) && running.HasChild(argv)
}

// configChange answers a harness that says its settings were changed under a session: settings under which the hook is not called as
// it was installed do not count there. What can't be told is refused as well; the session goes on under the settings it had.
func configChange(p *cli.Program, c HookCommand) int {
	ctx, cancel := context.WithTimeout(p.Ctx, c.Deadline)
	defer cancel()
	answered := make(chan string, 1)
	go func() {
		defer func() {
			if recover() != nil {
				answered <- "the hook failed on a defect; `interlock doctor` may say more"
			}
		}()
		answered <- settingsRefused(ctx, p)
	}()
	refused := ""
	select {
	case refused = <-answered:
	case <-ctx.Done():
		refused = "no decision was made within " + c.Deadline.String()
	}
	if refused == "" {
		return 0
	}
	text := cli.Redacted("[hook.settings] " + refused)
	line, err := json.Marshal(struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}{"block", text})
	if err == nil {
		_, _ = p.Stdout.Write(append(line, '\n')) // the exit status says it as well
	}
	fmt.Fprintln(p.Stderr, text)
	return 2
}

// settingsRefused says why settings that were changed must not count; empty if they may.
func settingsRefused(ctx context.Context, p *cli.Program) string {
	payload, err := io.ReadAll(io.LimitReader(p.Stdin, hook.MaxPayload))
	if err != nil {
		return "the hook payload could not be read from standard input"
	}
	var change struct {
		Dir string `json:"cwd"`
	}
	if err := json.Unmarshal(payload, &change); err != nil {
		return "the hook payload can't be read"
	}
	settings, err := p.Settings()
	if err != nil {
		return "the settings can't be used: " + cli.Shown(err)
	}
	backend, err := embedded.OpenBrief(ctx, settings)
	if err != nil {
		return "the store can't be used: " + cli.Shown(err)
	}
	defer backend.Close()
	var dirs []string
	if change.Dir != "" {
		dirs = append(dirs, change.Dir)
	}
	wrong, err := setup.LookAtInstalled(ctx, p, backend, dirs, false)
	if err != nil {
		return "it can't be told whether the hook is registered still: " + cli.Shown(err)
	}
	if len(wrong) == 0 {
		return ""
	}
	return "with these settings Interlock would not be called as it was installed: " + strings.Join(wrong, "; ") +
		". This session goes on with those it had. `interlock uninstall` takes the hook out, `interlock install` registers it again"
}

// systemSocket is where the system's server is asked: the socket that was named, or its usual place where this user named no home
// and has no store of their own. Empty: this user's own store decides.
func systemSocket(p *cli.Program, named string) string {
	if named != "" || runtime.GOOS != "linux" {
		return named
	}
	if g := p.Globals; g.Home != "" || g.Config != "" || g.RulesDir != "" || g.Profile != "" || g.Mode != "" {
		return ""
	}
	home, err := config.DefaultHome(p.Getenv)
	if err == nil && store.Exists(home) || !cli.Exists(startup.SystemSocket) {
		return ""
	}
	return startup.SystemSocket
}

// systemHook has the system's server decide. There is no second place to decide in: what it does not answer is refused, whether it
// is not there, too slow, or somebody else's.
func systemHook(p *cli.Program, c HookCommand, socket string) int {
	if c.Event == harness.ConfigChange {
		return 0 // the server looks at what agents' settings are; this user's process has nothing to hold them against
	}
	environment := hook.Environment{Event: c.Event, Principal: account.Name(), Unattended: p.Globals.Unattended}
	var alone bool
	environment.Prompts, alone = lineage.Look(c.Agent, p.Getenv)
	environment.Unattended = environment.Unattended || alone
	return hook.Process{Agent: c.Agent, Environment: environment, Deadline: c.Deadline, Socket: socket, System: true, Redact: cli.Redacted,
		Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr,
		Judge: func(_ context.Context, call hook.Call, _ []byte) (hook.Output, witness.News) {
			return hook.RefuseSystem(call, socket), witness.News{}
		},
	}.Run(p.Ctx)
}
