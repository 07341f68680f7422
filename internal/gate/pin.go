package gate

import (
	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// Pin denies what a gateway would pass on to a tool, or a server, that is in quarantine, or whose definition or identity is
// not the approved one. What nothing is known of is in quarantine as well. Actions that no gateway passes on it leaves alone.
func Pin(_ *ruleset.Ruleset, snapshot interlock.Snapshot, _ interlock.Action, _ impact.Analysis) []interlock.Finding {
	why, pinned := quarantine(snapshot.Upstream, snapshot.Pin)
	if pinned {
		return nil
	}
	return []interlock.Finding{{Gate: "pin", Rule: "pin." + string(why), Layer: 2, Verdict: interlock.Deny,
		Reason: pinReason(why, snapshot.Upstream.Tool)}}
}

// pinUnknown is the reason where there is no pin.
const pinUnknown interlock.PinReason = "unknown"

// quarantine says why what an upstream offers may not be used, or that it may.
func quarantine(u *interlock.Upstream, pin *interlock.Pin) (why interlock.PinReason, pinned bool) {
	switch {
	case u == nil:
		return "", true
	case pin == nil || u.Server == "" || u.Identity == "" || pin.Server != u.Server || pin.Tool != u.Tool || u.Tool != "" &&
		u.Definition == "":
		return pinUnknown, false
	case pin.Status != interlock.PinApproved && pin.Why != "":
		return pin.Why, false
	case pin.Status != interlock.PinApproved:
		return pinUnknown, false
	case !pin.From(u.Identity):
		return interlock.PinIdentity, false
	case pin.Definition != u.Definition:
		return interlock.PinChanged, false
	}
	return "", true
}

// pinReason says it so that an agent can tell its user what to do.
func pinReason(why interlock.PinReason, tool string) string {
	const approve = "; an operator has to approve it before it can be used"
	what := interlock.PinKind(tool)
	if tool == "" {
		what = "tool" // whatever it is, its server is in the way
	}
	switch why {
	case interlock.PinFirst:
		return "nobody has approved this " + what + " yet" + approve
	case interlock.PinNew:
		return "the server offers this " + what + " since it was approved without it" + approve
	case interlock.PinChanged:
		return "the definition of this " + what + " is not the one that was approved" + approve
	case interlock.PinIdentity:
		return "the server of this " + what + " is not the one that was approved" + approve
	case interlock.PinInstructions:
		return "the definition of this " + what + " speaks to the model instead of describing the " + what + approve
	case interlock.PinOrdered:
		return "an operator has put this " + what + " into quarantine"
	case interlock.PinUnreadable:
		return "the definition of this " + what + " can't be read"
	}
	return "the definition of this " + what + " has not been examined"
}
