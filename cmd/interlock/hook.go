package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/classify"
	"interlock/internal/config"
	"interlock/internal/harness"
	"interlock/internal/hook"
)

// hookCommand judges one hook call. Whatever goes wrong, its answer is a refusal in the harness's dialect: harnesses run
// the tool when a hook fails.
type hookCommand struct {
	Agent    string        `help:"The harness: claude, codex, gemini, qwen, cursor, copilot, windsurf or cline." required:"" placeholder:"NAME"`
	Event    string        `help:"The event this command is registered for; used where the payload names none or can't be read." placeholder:"EVENT"`
	Deadline time.Duration `help:"Refuse when no decision was made by then. Keep it below the harness's own timeout." default:"5s"`
}

// The bounds of --deadline: the shortest harness timeout is 30 s, and a deadline below a store's commit refuses always.
const (
	minDeadline = 50 * time.Millisecond
	maxDeadline = 25 * time.Second
)

func (c *hookCommand) check() error {
	if c.Deadline < minDeadline || c.Deadline > maxDeadline {
		return interlock.Errorf(interlock.CodeInvalid, "--deadline", "must be between %v and %v", minDeadline, maxDeadline)
	}
	return nil
}

// Run judges one call as read by the full command line.
func (c *hookCommand) Run(p *program) error {
	if err := c.check(); err != nil {
		return usage(err)
	}
	return &exitCode{code: p.hook(*c)}
}

// fastHook reads the flags that registrations use without building the command table. Anything else is left to the full
// command line.
func (p *program) fastHook(args []string) (code int, done bool) {
	c := hookCommand{Deadline: 5 * time.Second}
	var globals Globals
	for len(args) > 0 {
		name, value, joined := strings.Cut(args[0], "=")
		if name == "--unattended" && !joined {
			globals.Unattended, args = true, args[1:]
			continue
		}
		if !joined {
			if len(args) < 2 {
				return 0, false
			}
			value, args = args[1], args[1:]
		}
		args = args[1:]
		var err error
		switch name {
		case "--agent":
			c.Agent = value
		case "--event":
			c.Event = value
		case "--deadline":
			c.Deadline, err = time.ParseDuration(value)
		case "--home":
			globals.Home, err = filepath.Abs(value)
		default:
			return 0, false
		}
		if err != nil {
			return 0, false
		}
	}
	if c.Agent == "" || c.check() != nil {
		return 0, false
	}
	p.globals = globals
	return p.hook(c), true
}

// A hookRun is one hook call under way. The call is set as soon as it is read, so that a deadline that passes later is
// still answered for the right event.
type hookRun struct {
	program *program
	command hookCommand
	mutex   sync.Mutex
	call    hook.Call
	newest  []byte // the newest checkpoint an answer brought
}

// hook runs one call against its deadline and writes the answer. It returns the exit status.
func (p *program) hook(c hookCommand) int {
	ctx, cancel := context.WithTimeout(p.ctx, c.Deadline)
	defer cancel()
	h := &hookRun{program: p, command: c}
	h.call, _ = hook.Parse(c.Agent, nil, hook.Environment{Event: c.Event}) // what is known before anything is read
	finished := make(chan hook.Output, 1)
	go func() { finished <- h.answer(ctx) }()
	var out hook.Output
	select {
	case out = <-finished:
	case <-ctx.Done():
		reason := "no decision was made within " + c.Deadline.String()
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			reason = "the hook was interrupted before a decision was made"
		}
		out = hook.Refuse(h.current(), "deadline", reason)
	}
	return h.write(out)
}

// write hands the answer over. If it can't be, the exit status has to say no on its own.
func (h *hookRun) write(out hook.Output) int {
	_, outErr := h.program.stdout.Write(out.Stdout)
	_, errErr := h.program.stderr.Write(out.Stderr)
	if (outErr != nil || errErr != nil) && out.Exit == 0 {
		return 2
	}
	h.keepCheckpoint()
	return out.Exit
}

func (h *hookRun) current() hook.Call {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.call
}

// answer reads, judges and renders. A panic is a refusal.
func (h *hookRun) answer(ctx context.Context) (out hook.Output) {
	defer func() {
		if recover() != nil {
			out = hook.Refuse(h.current(), "internal", "the hook failed on a defect; `interlock doctor` may say more")
		}
	}()
	payload, err := io.ReadAll(io.LimitReader(h.program.stdin, hook.MaxPayload+1))
	if err != nil {
		return hook.Refuse(h.current(), "unreadable", "the hook payload could not be read from standard input")
	}
	environment := hook.Environment{Event: h.command.Event, Principal: h.program.principal(), Unattended: h.program.globals.Unattended}
	if h.command.Agent == "copilot" {
		environment.Prompts = copilotPrompts(h.program.getenv)
	}
	call, parseErr := hook.Parse(h.command.Agent, payload, environment)
	h.mutex.Lock()
	h.call = call
	h.mutex.Unlock()
	if parseErr != nil {
		h.recordRefusal(ctx, call, parseErr)
		return hook.Refuse(call, "unreadable", parseErr.Error())
	}
	if len(call.Proposals) == 0 {
		return hook.Render(call, nil) // nothing to judge
	}
	return h.judge(ctx, call)
}

// judge asks the server if one runs, else the embedded store.
func (h *hookRun) judge(ctx context.Context, call hook.Call) hook.Output {
	settings, err := h.program.settings()
	if err != nil {
		return hook.Refuse(call, "unavailable", "the settings can't be used: "+shown(err))
	}
	for i := range call.Proposals {
		call.Proposals[i].View = embedded.GatherView(settings, call.Proposals[i].Action.Dir)
	}
	if h.usesServer() {
		out, answered := h.viaServer(ctx, call, config.Socket(settings.Home))
		if answered {
			return out
		}
	}
	backend, err := embedded.OpenBrief(ctx, settings)
	if err != nil {
		return hook.Refuse(call, "unavailable", "the store can't be used: "+shown(err))
	}
	defer backend.Close()
	return h.viaBackend(ctx, call, backend)
}

// usesServer: a server decides under its own settings, so a call with settings of its own is judged in process.
func (h *hookRun) usesServer() bool {
	g := h.program.globals
	return g.Config == "" && g.RulesDir == "" && g.Profile == "" && g.Mode == ""
}

func (h *hookRun) viaBackend(ctx context.Context, call hook.Call, backend interlock.Backend) hook.Output {
	if call.Phase == hook.After {
		for i, outcome := range call.Outcomes {
			if err := backend.Report(ctx, call.Proposals[i].Requester, outcome); err != nil {
				return hook.Refuse(call, "outcome", "the outcome was not recorded: "+shown(err))
			}
		}
		return hook.Render(call, redacted)
	}
	answers := make([]interlock.Answer, len(call.Proposals))
	for i, p := range call.Proposals {
		answers[i] = backend.Propose(ctx, p)
	}
	h.note(answers)
	return hook.Render(call, redacted, answers...)
}

// recordRefusal leaves an event about input that never became an action, if the store is there. It never changes the
// answer and never creates a store.
func (h *hookRun) recordRefusal(ctx context.Context, call hook.Call, cause error) {
	settings, err := h.program.settings()
	if err != nil || !exists(filepath.Join(settings.Home, "interlock.db")) {
		return
	}
	backend, err := embedded.OpenBrief(ctx, settings)
	if err != nil {
		return
	}
	defer backend.Close()
	answer := backend.Refuse(ctx, interlock.Requester{Principal: h.program.principal(), Agent: call.Agent}, "hook", cause)
	h.note([]interlock.Answer{answer})
}

// note remembers the newest checkpoint.
func (h *hookRun) note(answers []interlock.Answer) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for _, a := range answers {
		if len(a.Checkpoint) > 0 {
			h.newest = a.Checkpoint
		}
	}
}

// keepCheckpoint leaves the newest checkpoint beside the harness's settings. It is a courtesy to whoever verifies the log
// later and no part of the decision, so a file that can't be written is passed over; doctor says so.
func (h *hookRun) keepCheckpoint() {
	h.mutex.Lock()
	checkpoint, agent := h.newest, h.call.Agent
	h.mutex.Unlock()
	if home := userHome(h.program.getenv); len(checkpoint) > 0 && home != "" {
		_ = keepCheckpoint(harness.CheckpointFile(home, agent), checkpoint)
	}
}

func redacted(text string) string {
	clean, _ := classify.Redact(text)
	return clean
}

// shown is what of an error may be shown: the message of an *interlock.Error, else nothing specific.
func shown(err error) string {
	var e *interlock.Error
	if errors.As(err, &e) {
		return e.Error()
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return "there was not enough time"
	}
	return "`interlock doctor` says what is wrong"
}

// principal is the operating-system user who answers for an agent on this machine.
func (p *program) principal() string {
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if user := p.getenv(name); user != "" {
			return user
		}
	}
	return fmt.Sprintf("uid:%d", userID())
}
