package hook

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"interlock"
)

// toldDeadline bounds how long a user's words wait on their way to the agent.
const toldDeadline = time.Second

// maxTold bounds how much is kept in memory of what a user said or a call returned, in bytes; less is read of it.
const maxTold = 1 << 20

// Backend is what the door needs of admission: it decides, and takes note of what a run is told, by its user and by what its
// calls return.
type Backend interface {
	// ProposeHanded decides and records one action, see [interlock.Backend]; the door knows whether it is handed over.
	ProposeHanded(ctx context.Context, h interlock.Handover, p interlock.Proposal) interlock.Answer
	// Report records what executing an action did.
	Report(ctx context.Context, r interlock.Requester, o interlock.Outcome) error
	HearPrompt(ctx context.Context, r interlock.Requester, text string) error
	HearResult(ctx context.Context, p interlock.Proposal, result string) error
}

// hear hands on what a call tells of its run.
func (c *Call) hear(ctx context.Context, backend Backend) error {
	switch {
	case !tells(c):
		return nil
	case c.Phase == Told:
		return backend.HearPrompt(ctx, c.Who, c.Said)
	}
	return backend.HearResult(ctx, c.Proposals[0], c.Result)
}

// tells reports whether a call says something that may be worth remembering, or has to be looked at.
func tells(c *Call) bool {
	switch c.Phase {
	case Told:
		return c.Said != "" && c.Who.Run != ""
	case After:
		return len(c.Result) > minTold && len(c.Proposals) > 0
	}
	return false
}

// minTold is a length of results, in bytes, in which neither an order nor an address has room.
const minTold = 8

// told fills in what the user said. Whatever can't be read is not the user's word. Neither is what a subagent is given to do,
// which its parent wrote, nor what a harness puts among the user's words by itself.
func (c *Call) told(run string, payload object, members ...string) {
	if payload.has("agent_id") || payload.has("agent_type") {
		return
	}
	text, err := payload.first(members...)
	if err != nil {
		return
	}
	c.Who = interlock.Requester{Run: run}
	c.Said = spoken(cut(text, maxTold))
}

// returned keeps what the agent is shown of a call.
func (c *Call) returned(raw json.RawMessage) {
	if text := string(raw); text != "null" && text != `""` {
		c.Result = cut(text, maxTold)
	}
}

// harnessTags are the elements in which harnesses put words of their own, and of subagents and tools, among the user's.
var harnessTags = [...]string{"task-notification", "system-reminder", "local-command-stdout",
	"local-command-stderr", "bash-stdout",
	"bash-stderr", "teammate-message", "cross-session-message", "hook_context", "subagent_notification"}

// spoken is what the user said, without what is between such tags, up to the last that closes one: the author of what
// is between them may have written one as well. One that isn't closed takes all that follows.
func spoken(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	for _, tag := range harnessTags {
		before, after, found := strings.Cut(text, "<"+tag)
		if !found {
			continue
		}
		text = before
		if end := "</" + tag + ">"; strings.Contains(after, end) {
			text += after[strings.LastIndex(after, end)+len(end):]
		}
	}
	return text
}
