package hook

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"interlock"
	"interlock/internal/witness"
)

// The bounds of a deadline: the shortest harness timeout is 30 s, and a deadline below a store's commit refuses always.
const (
	DefaultDeadline = 5 * time.Second
	MinDeadline     = 50 * time.Millisecond
	MaxDeadline     = 25 * time.Second
)

// A Process is one run of a hook command: it reads a payload, has it judged against a deadline, and writes the answer.
// Whatever goes wrong is a refusal.
type Process struct {
	Agent       string
	Environment Environment
	Deadline    time.Duration
	Socket      string // where a server may listen; empty: none is asked
	// Key is the key under which that server has to answer. An error means that there is no server to believe.
	Key func() (witness.Key, error)
	// System says that the server behind Socket runs as a user of its own. It is believed by where the socket lies and by who listens,
	// as the kernel tells, and has no key in common with the hook.
	System bool
	Redact func(string) string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	// Judge decides where no server gave an answer. It returns the newest checkpoint it was handed, if any.
	Judge func(ctx context.Context, call Call, payload []byte) (Output, witness.News)
	// Unreadable answers a payload that could not be read; call.Phase says what is known. Nil refuses without a record.
	Unreadable func(ctx context.Context, call Call, payload []byte, cause error) (Output, witness.News)
	// Held are the heads of a log that are held for a harness. Optional; a server has to show that its log goes on from them.
	Held func(agent, origin string) []witness.Head
	// Keep is handed the newest checkpoint after the answer is out, with what shows that it goes on from those. Optional.
	Keep func(agent string, news *witness.News)
}

// A run is a Process under way. The call is set as soon as it is read, so that a deadline that passes later is still
// answered for the right event.
type run struct {
	Process
	mutex  sync.Mutex
	call   Call
	newest witness.News
}

// Run does it all and returns the exit status.
func (p Process) Run(ctx context.Context) int {
	r := &run{Process: p}
	r.call, _ = Parse(p.Agent, nil, p.Environment) // what is known before anything is read
	if r.call.Phase == Told {
		r.Deadline = min(r.Deadline, toldDeadline)
	}
	ctx, cancel := context.WithTimeout(ctx, r.Deadline)
	defer cancel()
	finished := make(chan Output, 1)
	go func() { finished <- r.answer(ctx) }()
	var out Output
	select {
	case out = <-finished:
	case <-ctx.Done():
		reason := "no decision was made within " + r.Deadline.String()
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			reason = "the hook was interrupted before a decision was made: " + context.Cause(ctx).Error() // which names the signal
		}
		out = Refuse(r.current(), "deadline", reason)
	}
	return r.write(out)
}

// write hands the answer over. If it can't be, the exit status has to say no on its own.
func (r *run) write(out Output) int {
	_, outErr := r.Stdout.Write(out.Stdout)
	_, errErr := r.Stderr.Write(out.Stderr)
	if (outErr != nil || errErr != nil) && out.Exit == 0 && r.current().Phase != Told {
		return 2
	}
	r.mutex.Lock()
	news, agent := r.newest, r.call.Agent
	r.mutex.Unlock()
	if r.Keep != nil && len(news.Checkpoint) > 0 {
		r.Keep(agent, &news)
	}
	return out.Exit
}

func (r *run) current() Call {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.call
}

// note remembers the newest checkpoint.
func (r *run) note(news witness.News) {
	if len(news.Checkpoint) == 0 {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.newest = news
}

// answer reads, judges and renders. A panic is a refusal.
func (r *run) answer(ctx context.Context) (out Output) {
	defer func() {
		if recover() != nil {
			out = Refuse(r.current(), "internal", "the hook failed on a defect; `interlock doctor` may say more")
		}
	}()
	payload, err := io.ReadAll(io.LimitReader(r.Stdin, MaxPayload+1))
	if err != nil {
		return Refuse(r.current(), "unreadable", "the hook payload could not be read from standard input")
	}
	call, parseErr := Parse(r.Agent, payload, r.Environment)
	r.mutex.Lock()
	r.call = call
	r.mutex.Unlock()
	if parseErr != nil {
		if r.Unreadable == nil || call.Phase == Told {
			return Refuse(call, "unreadable", parseErr.Error())
		}
		out, news := r.Unreadable(ctx, call, payload, parseErr)
		r.note(news)
		return out
	}
	if len(call.Proposals) == 0 && !tells(&call) {
		return Render(call, nil) // nothing to judge, and nothing to remember
	}
	if r.Socket != "" {
		if out, news, answered := r.askServer(ctx, call); answered {
			r.note(news)
			return out
		}
		call = r.current() // which says now whether somebody else listens there
	}
	out, news := r.Judge(ctx, call, payload)
	r.note(news)
	return out
}

// Decide has every part of a call judged by a backend and renders the answers; events after the fact are reported. shown
// says of an error what may be shown. It returns the newest checkpoint.
func Decide(ctx context.Context, call Call, env Environment, backend Backend, redact func(string) string,
	shown func(error) string) (Output, []byte) {
	if call.Phase == Told {
		_ = call.hear(ctx, backend) // what is not known of the user's words permits nothing
		return Render(call, redact), nil
	}
	if call.Phase == After {
		call.screen(ctx, backend) // first: whatever else fails, what must not be seen is not
		for i, outcome := range call.Outcomes {
			if err := backend.Report(ctx, call.Proposals[i].Requester, outcome); err != nil {
				return Refuse(call, "outcome", "the outcome was not recorded: "+shown(err)), nil
			}
		}
		if err := call.hear(ctx, backend); err != nil {
			return Refuse(call, "result", "what the call returned is not remembered: "+shown(err)), nil
		}
		return Render(call, redact), nil
	}
	answers := make([]interlock.Answer, len(call.Proposals))
	ask := func(h interlock.Handover, p interlock.Proposal) (interlock.Answer, error) {
		return backend.ProposeHanded(ctx, h, p), nil
	}
	for i := range call.Proposals {
		known := false
		if answers[i], known, _ = call.propose(ctx, i, env, ask); !known {
			answers[i], _ = ask(call.Handover, call.Proposals[i])
		}
	}
	return Render(call, redact, answers...), newestOf(answers)
}

func newestOf(answers []interlock.Answer) []byte {
	for i := len(answers) - 1; i >= 0; i-- {
		if len(answers[i].Checkpoint) > 0 {
			return answers[i].Checkpoint
		}
	}
	return nil
}
