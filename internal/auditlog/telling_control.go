package auditlog

import (
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/ledger"
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
		var half []HalfDone
		if t.read("half_done", &half); len(half) > 0 {
			t.say("half done: " + half[0].Did)
		}
		t.order()
	case interlock.EventNodeDegraded, interlock.EventNodeOffline, interlock.EventNodeHealthy, interlock.EventRetry:
		t.say(t.text("node_id"))
		if from, to := t.text("from"), t.text("status"); to != "" {
			t.say(from + " to " + to)
		}
		t.add("health", "apt")
		t.say(t.text("why"))
	case interlock.EventAccountReview:
		t.say(t.text("agent"), t.text("heuristic"), t.text("then"), t.text("why"))
	case interlock.EventLost:
		t.say(t.text("agent"), t.text("did"), prefixed("stands in: ", t.text("backup")), t.text("why"))
	case interlock.EventRootCause:
		t.say(t.text("hold"))
		t.add("root_cause", "what", "by")
	case interlock.EventRollback, interlock.EventRollbackStep, interlock.EventRollbackEnd:
		t.rollback(kind)
	case interlock.EventActionRequest, interlock.EventVote, interlock.EventActionStatus, interlock.EventExecuted, interlock.EventOverride,
		interlock.EventSafetyOverride, interlock.EventReview, interlock.EventReviewOverdue:
		t.say(t.text("request_id"))
		t.add("action", "type", "target")
		t.say(t.text("vote"))
		if from, to := t.text("from"), t.text("status"); from != "" {
			t.say(from + " to " + to)
		} else {
			t.say(to)
		}
		t.say(t.text("why"))
		t.order()
	case interlock.EventPause, interlock.EventResume:
		t.say(t.text("hold"))
		t.order()
	case interlock.EventSeconded:
		t.say(t.text("subject"))
		t.order()
	case interlock.EventJudgeTested:
		t.say(t.text("name"), t.text("failure"), t.text("reason"))
	case interlock.EventGroundRules:
		t.say(t.text("ground_rules"))
		t.order()
	case interlock.EventJudgeAsked:
		t.add("", "class")
	case interlock.EventJudgedLate:
		t.say(t.text("result"), t.text("class"), prefixed("held: ", t.text("held")), prefixed("about event ", t.text("event")))
	case interlock.EventRedteam:
		var cases int
		var passed bool
		t.read("cases", &cases)
		t.read("passed", &passed)
		verdict := "failed"
		if passed {
			verdict = "passed"
		}
		t.say("seed "+t.text("seed"), strconv.Itoa(cases)+" cases", t.text("family"), t.text("where"), verdict)
	case interlock.EventReport, interlock.EventTriage:
		t.say(t.text("state"), t.text("severity"), t.text("title"))
		t.order()
	case interlock.EventProbe:
		t.add("", "why")
	case interlock.EventKill, interlock.EventKillRelease:
		t.add("", "mode", "by", "why", "until")
		t.order()
	case interlock.EventSignal:
		var value int
		t.read("value", &value)
		t.say(t.text("agent"), t.text("kind")+" "+strconv.Itoa(value), t.text("severity"), t.text("reason"), prefixed("told by ", t.text("observer")))
	case interlock.EventUsage:
		t.used()
	case interlock.EventBudget:
		var share int
		t.read("share", &share)
		t.say(t.text("budget"), t.text("step")+" at "+strconv.Itoa(share)+"%")
	case interlock.EventWatched:
		var from, upTo int64
		var alarms int
		t.read("from", &from)
		t.read("up_to", &upTo)
		t.read("alarms", &alarms)
		t.say("entries "+strconv.FormatInt(from, 10)+" to "+strconv.FormatInt(upTo, 10), strconv.Itoa(alarms)+" alarms")
	case interlock.EventPersonal:
		t.add("personal", "pii_type", "tier", "where", "redaction_reason")
	case interlock.EventMemory, interlock.EventSemPut, interlock.EventSemDelete:
		t.say(t.text("did"), t.text("store"), t.text("key"), t.text("request"))
	case interlock.EventRateLimit:
		var used, room, wait int64
		t.read("used", &used)
		t.read("room", &room)
		t.read("retry_after_seconds", &wait)
		t.say(t.text("limit"), strconv.FormatInt(used, 10)+" of "+strconv.FormatInt(room, 10)+" "+t.text("measure"))
		if wait > 0 {
			t.say("again in " + (time.Duration(wait) * time.Second).String())
		}
	case interlock.EventIntegritySummary:
		var to int64
		var wrong []string
		t.read("to_size", &to)
		t.read("failures", &wrong)
		t.say(t.text("day"), strconv.FormatInt(to, 10)+" entries", strconv.Itoa(len(wrong))+" failures")
		t.say(wrong...)
	case interlock.EventRunRegistered, interlock.EventRunEnded, interlock.EventRunBound:
		t.add("run", "id", "agent", "task", "status")
		t.add("", "run", "session")
	case interlock.EventMessage:
		t.add("message", "id", "from", "to", "type")
		t.say(t.text("what"))
		t.add("violation", "agent", "at", "why")
	case interlock.EventCheckpoint:
		var number int
		t.read("number", &number)
		t.say(t.text("run"), t.text("agent"), "number "+strconv.Itoa(number))
	case interlock.EventRunPaused:
		t.add("run", "id", "agent", "task")
	case interlock.EventRunChanged:
		t.say(t.text("run"), prefixed("until ", t.text("until")), prefixed("constraints ", t.text("accepted")))
		t.order()
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

// used tells what was reported as used.
func (t *telling) used() {
	var used []Used
	t.read("used", &used)
	for _, u := range used {
		amount := strconv.FormatInt(u.Amount, 10) + " " + u.Measure
		if u.Currency != "" {
			amount = strconv.FormatFloat(float64(u.Amount)/1e6, 'f', 6, 64) + " " + u.Currency
		}
		t.say(amount + " by " + u.Source)
	}
	t.say(t.text("service"))
}

// rollback tells that what somebody did is being undone, how one step of that ended, or what stays.
func (t *telling) rollback(kind interlock.EventType) {
	var r ledger.RollbackBody
	t.read("rollback", &r)
	t.say(r.ID)
	switch kind {
	case interlock.EventRollback:
		t.say(r.What, strconv.Itoa(r.Open)+" of "+strconv.Itoa(r.Steps)+" steps to carry out", prefixed("isolated ", strings.Join(r.Held, ", ")),
			"by "+r.By, r.Why)
	case interlock.EventRollbackStep:
		var s ledger.RollbackStepBody
		t.read("step", &s)
		t.say("step "+strconv.Itoa(s.N)+" "+s.Status, s.Agent, s.Did, "by "+s.By, s.Said)
	default:
		for n := range r.Residue[:min(len(r.Residue), 3)] {
			t.say(prefixed("stays: ", r.Residue[n].What))
		}
	}
}
