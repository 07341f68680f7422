package auditlog

import (
	"strconv"

	"interlock"
)

// Tellings of what stops and bounds agents: phases, breakers, stops of everything, signals and runs.

// control tells an event of those, and reports whether it is one.
func (t *telling) control(kind interlock.EventType) bool {
	switch kind {
	case interlock.EventPhase, interlock.EventBreaker, interlock.EventBreakerReset:
		t.say(t.text("hold"))
		if from, to := t.text("from"), t.text("to"); to != "" {
			t.say(from + " to " + to)
		}
		t.say(prefixed("by ", t.text("trigger")), prefixed("only ", t.text("only")), t.text("why"))
		t.order()
	case interlock.EventRootCause:
		t.say(t.text("hold"))
		t.add("root_cause", "what", "by")
	case interlock.EventKill, interlock.EventKillRelease:
		t.add("", "mode", "by", "why")
		t.order()
	case interlock.EventSignal:
		var value int
		t.read("value", &value)
		t.say(t.text("agent"), t.text("kind")+" "+strconv.Itoa(value), t.text("severity"), t.text("reason"), prefixed("told by ", t.text("observer")))
	case interlock.EventRunRegistered, interlock.EventRunEnded, interlock.EventRunBound:
		t.add("run", "id", "agent", "task", "status")
		t.add("", "run", "session")
	case interlock.EventPlan:
		t.add("plan", "id", "run", "status", "accepted_by")
	case interlock.EventCommitment:
		t.add("commitment", "name", "rule", "says")
		t.order()
	case interlock.EventTurn:
		var turn, most int
		t.read("turn", &turn)
		t.read("most", &most)
		t.say(t.text("run"), t.text("conversation"), "turn "+strconv.Itoa(turn)+" of "+strconv.Itoa(most))
		t.say(prefixed("decided by ", t.text("decides")))
	default:
		return false
	}
	return true
}
