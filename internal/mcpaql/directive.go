package mcpaql

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/gate"
	"interlock/internal/ledger"
)

// A directive is what a reporting agent is told (AQL-8.7.1). The names are the specification's.
type directive struct {
	Continue       bool           `json:"continue"`
	Stopped        bool           `json:"stopped"`
	Reason         string         `json:"reason,omitempty"`
	Factors        []string       `json:"factors"`
	StepsRemaining int            `json:"stepsRemaining"`
	NextStepRisk   interlock.Tier `json:"nextStepRisk"`
	Notifications  []notification `json:"notifications"`
	Request        string         `json:"request_id,omitempty"`
	Next           string         `json:"next"`
}

// A notification tells of something an agent learns only by reporting (AQL-8.7.3).
type notification struct {
	Type     string   `json:"type"` // permission_pending, autonomy_pause, danger_zone, status or error
	Message  string   `json:"message"`
	Metadata metadata `json:"metadata"`
	Time     string   `json:"timestamp"`
}

type metadata struct {
	Operation    string `json:"operation,omitempty"`
	Reason       string `json:"reason,omitempty"`
	Level        string `json:"level,omitempty"`
	Verification string `json:"verificationId,omitempty"`
}

// The types of notification.
const (
	permissionPending = "permission_pending"
	autonomyPause     = "autonomy_pause"
	dangerZone        = "danger_zone"
	statusNote        = "status"
	errorNote         = "error"
)

// A course is how an answer reads to an agent. Whatever does not go on is told as an autonomy_pause unless it stops the agent or
// could not be decided at all; what waits for an operator's answer to a rule is told as a permission_pending besides.
type course struct {
	goOn, stopped bool
	notify        string
	permission    bool
	next          string
}

// courseOf is this door's one table from answers to directives.
func courseOf(answer interlock.Answer) course {
	switch {
	case answer.Answer.Allowed():
		return course{goOn: true, next: "Carry out exactly the action you reported, then report the next one with the outcome of this."}
	case answer.Event == "":
		return course{notify: errorNote,
			next: "Nothing could be decided or recorded. Don't act; report the step again in a moment."}
	case answer.Answer == interlock.Halt, answer.Answer == interlock.Deny && answer.Tier == interlock.TierDangerZone:
		return course{stopped: true, notify: dangerZone,
			next: "Stop everything. Tell the user that you are stopped and why; only a code a human reads out (verify_challenge) or an admin lets you go on."}
	case answer.Challenge != "":
		return course{notify: autonomyPause,
			next: "Stop and ask the user for the code of this challenge, hand it in with verify_challenge, then report the identical step again."}
	case answer.Request != "" && loopAsked(answer):
		return course{notify: autonomyPause,
			next: "Stop and tell the user that request " + answer.Request + " waits for an operator; report the identical step again once it is approved."}
	case answer.Request != "":
		return course{notify: autonomyPause, permission: true,
			next: "Stop and tell the user that request " + answer.Request + " waits for an operator; report the identical step again once it is approved."}
	case pausedBefore(answer):
		return course{notify: autonomyPause,
			next: "Stop and tell the user what waits; nothing else is let through until a human has answered that, whatever you report."}
	default:
		return course{notify: autonomyPause,
			next: "Don't do this. Find another way that avoids what is named in factors, and report that."}
	}
}

// loopAsked reports whether the loop's own stages, rather than a rule about the action, are the reason.
func loopAsked(answer interlock.Answer) bool {
	f := answer.Decisive()
	return f != nil && gate.Of(f).Steps
}

// pausedBefore reports whether a pause that was there before is the reason, and not what the action does.
func pausedBefore(answer interlock.Answer) bool {
	f := answer.Decisive()
	return f != nil && gate.Of(f).Waits
}

// newDirective puts an answer into the protocol's words. It holds no code and no proof: those reach humans only.
func newDirective(answer interlock.Answer, told []notification, remaining int, now time.Time) directive {
	c := courseOf(answer)
	d := directive{Continue: c.goOn, Stopped: c.stopped, Factors: factors(answer), StepsRemaining: max(remaining, 0),
		NextStepRisk: answer.Tier, Request: answer.Request, Next: c.next, Notifications: []notification{}}
	if f := answer.Decisive(); f != nil {
		d.Reason = f.Reason
	}
	note := func(kind, level string) {
		d.Notifications = append(d.Notifications,
			notification{Type: kind, Message: noteOf(kind, answer, d.Reason), Time: stamp(now),
				Metadata: metadata{Operation: "record_execution_step", Reason: d.Reason, Level: level, Verification: answer.Challenge}})
	}
	if c.notify != "" {
		note(c.notify, levelOf(c, answer))
	}
	if c.permission {
		note(permissionPending, string(ConfirmSingleUse))
	}
	d.Notifications = append(d.Notifications, told...)
	return d
}

// levelOf is the tier of the hold, which during a pause is not that of the action: what waits for a code, or for an answer.
func levelOf(c course, answer interlock.Answer) string {
	tier := answer.Tier
	if c.notify == autonomyPause {
		tier = max(tier, interlock.TierConfirm)
		if answer.Challenge != "" {
			tier = max(tier, interlock.TierVerify)
		}
	}
	return tier.String()
}

func noteOf(kind string, answer interlock.Answer, reason string) string {
	if reason == "" {
		reason = "the action could not be decided"
	}
	waits := answer.Request != "" || answer.Challenge != "" || pausedBefore(answer)
	switch kind {
	case dangerZone:
		message := "Stopped: " + reason
		if answer.Challenge != "" && len(answer.Channels) == 0 {
			message += ". No channel took the code: an operator has to have one issued or lift the block"
		}
		return message
	case autonomyPause:
		if !waits {
			return "Refused: " + reason
		}
		return "Paused: " + reason
	case permissionPending:
		return "A human has to approve this: " + reason
	default:
		return "Refused: " + reason
	}
}

// broadcasts tells of every hard block in force, to every agent that executes, until it is cleared (AQL-8.7.3), with the challenge
// of the agent that it stops (AQL-8.8.1). Whose that is, is told to nobody else; a challenge takes its own agent's answers only. They
// are read a page at a time, and nothing is kept but what is told. standing holds the agent and its own challenges.
func (s *Server) broadcasts(ctx context.Context, standing ledger.Standing, r interlock.Requester, told string) ([]notification, error) {
	var out []notification
	own, _ := core.Blocked(standing, r)
	err := core.Walk(ctx, s.config.Backend, ledger.Challenge, func(challenge interlock.Challenge) bool {
		id := challenge.ID
		if challenge.Kind != interlock.ChallengeBlock || !challenge.Ended.IsZero() || id == told {
			return true
		}
		n := notification{Type: dangerZone, Message: "Another agent is stopped: " + challenge.Reason,
			Time:     stamp(challenge.Created),
			Metadata: metadata{Reason: challenge.Reason, Level: interlock.TierDangerZone.String(), Verification: id}}
		if id == own.ID {
			n.Message = "This agent is stopped: " + challenge.Reason
		}
		out = append(out, n)
		return true
	})
	if err != nil {
		return nil, err
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Time != out[j].Time {
			return out[i].Time < out[j].Time
		}
		return out[i].Message < out[j].Message
	})
	return out, nil
}

// factors names everything that contributed, strictest first, in plain words.
func factors(answer interlock.Answer) []string {
	out := []string{}
	for _, f := range answer.Findings {
		text := f.Reason
		if f.Verdict != interlock.Allow {
			text += " (" + f.Verdict.String() + ", rule " + f.Rule + ")"
		}
		if f.Suggestion != "" {
			text += "; instead: " + f.Suggestion
		}
		out = append(out, text)
	}
	switch {
	case answer.Approval != "":
		out = append(out, "an operator has approved exactly this action")
	case answer.Grant != "":
		out = append(out, "an operator's standing grant covers this action")
	}
	switch answer.Mode {
	case interlock.Monitoring:
		out = append(out, "the safety loop only monitors: this is what it would have said")
	case interlock.Logging:
		out = append(out, "the safety loop only logs: the action was recorded and not evaluated")
	case interlock.Disabled:
		out = append(out, "the safety loop is disabled: the action was not evaluated")
	}
	if len(out) == 0 {
		out = append(out, fmt.Sprintf("nothing objects to this action (risk %d, %s)", answer.Risk,
			strings.ReplaceAll(answer.Tier.String(), "_", " ")))
	}
	return out
}
