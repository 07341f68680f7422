package phase

import "time"

// What brings a hold, beside the triggers of object.go.
const (
	TriggerShare     = "share"     // too many agents of a type are isolated at once
	TriggerUnwatched = "unwatched" // nobody looks for what is unusual
	TriggerSlow      = "slow"      // a layer of control takes far longer than usual
	TriggerFailing   = "failing"   // a layer of control fails
	TriggerQueue     = "queue"     // more waits for people than usual
	TriggerWaiting   = "waiting"   // what waits for people waits for too long
	TriggerNobody    = "nobody"    // nobody is there to answer
)

// Who carries a trigger out.
const (
	ByMachine  = "machine"  // at once, without anybody
	ByPeople   = "people"   // a person's signed order; the machine says that it is time
	ByObserver = "observer" // a signal of an observer, which the machine acts on
	Later      = "later"    // not implemented
)

// A Trigger is one row of MASO's table of transitions and of its table of layers: what leads from which phase to which, from which
// tier on, and whose act it is.
type Trigger struct {
	ID   string // as in tests and in the guide
	On   string // what moves: the scope
	From string
	To   string
	When string
	Tier int
	By   string
	Name string // the hold's trigger, where a machine writes one
}

// Triggers lists every row. A test of package admission makes each of a machine's happen; the guide's table is made of it.
func Triggers() []Trigger {
	return []Trigger{
		{"score", "agent", "P", "A", "its score of anomaly or drift is 60 or more (maso.watch.alternate)", 2, ByMachine, TriggerSignal},
		{"score-high", "agent", "P, A", "C", "its score of anomaly or drift is 80 or more (maso.watch.contingency)", 2, ByMachine, TriggerSignal},
		{"observed", "agent", "P", "A, C", "an observer tells such a score", 2, ByObserver, TriggerSignal},
		{"breaker", "agent", "P", "A", "its breaker opens: three refusals in ten minutes, a share of them, or quality", 2, ByMachine, TriggerBreaker},
		{"cap", "agent", "P", "A", "it was refused for a cap on what it may reach", 2, ByMachine, TriggerCap},
		{"context", "agent", "P", "A", "85 % of its context window is used", 2, ByObserver, TriggerContext},
		{"judge-context", "layer:judge", "P", "A", "a question and its answer take 85 % of the judge's own context window", 2, ByMachine,
			TriggerContext},
		{"contexts", "agent", "P, A", "C", "85 % of its context window is used, and the judge's layer is in A or beyond", 2, ByMachine,
			TriggerContext},
		{"judged-after", "run", "P", "A", "a judge denies an action that was let through, or can't be heard of it in time; without a run, its agent",
			0, ByMachine, TriggerJudge},
		{"defence", "agent", "any", "E", "a data-loss or fraud defence objects to its traffic", 1, ByObserver, TriggerSignal},
		{"rejects", "agent", "any", "E", "refusals spike while it reaches for what is unusual: new hosts and tools, or far more data",
			2, ByMachine, TriggerSignal},
		{"kill-on", "system", "any", "stopped", "a critical signal of a kind that the settings name (kill_on)", 0, ByObserver, ""},
		{"spread", "system", "P", "A", "an agent is in A", 2, ByMachine, TriggerSpread},
		{"two", "system", "A", "C", "two agents are in A at once: people are told that it is theirs to decide", 2, ByPeople, ""},
		{"share", "type", "P", "A", "more than 20 % of its agents, and two at least, came to A within two minutes", 2, ByMachine, TriggerShare},
		{"timer", "all", "A", "C", "nobody has resolved it for 48 hours", 2, ByMachine, TriggerTimer},
		{"cycles", "all", "P", "C", "a machine moves it to A for the fourth time within 24 hours", 2, ByMachine, TriggerCycles},
		{"layers", "system", "any", "E", "two layers of control are in E at once", 0, ByMachine, TriggerLayers},
		{"unwatched", "system", "P", "as C", "nobody looks for what is unusual (maso.watch.off) and nobody has accepted the risk", 2,
			ByMachine, TriggerUnwatched},
		{"order", "all", "any", "any stricter", "an operator orders it; at tier 1 from P to E at once", 0, ByPeople, TriggerOrder},
		{"gates-slow", "layer:gates", "P", "A", "decisions take more than twice as long as usual, and 50 ms, for five minutes", 2, ByMachine, TriggerSlow},
		{"gates-failing", "layer:gates", "P", "A", "three decisions failed on a defect or the store within five minutes", 2, ByMachine, TriggerFailing},
		{"gates-down", "layer:gates", "P, A", "C",
			"more than half of at least 20 decisions within five minutes failed, or one took 30 s", 2, ByMachine, TriggerFailing},
		{"rules-unread", "layer:gates", "P", "A", "rules were changed and can't be used; those of before decide on", 2, ByMachine, TriggerFailing},
		{"people-wait", "layer:people", "P", "A", "a question has waited 1.5 times as long as it may (maso.watch.answer_within)", 2,
			ByMachine, TriggerWaiting},
		{"people-wait-twice", "layer:people", "P, A", "C", "twice as long", 2, ByMachine, TriggerWaiting},
		{"people-wait-five", "layer:people", "P, A, C", "E", "five times as long", 2, ByMachine, TriggerWaiting},
		{"people-queue", "layer:people", "P, A", "C", "more than three times as many questions wait as usual, and ten at least", 2,
			ByMachine, TriggerQueue},
		{"people-none", "layer:people", "P, A", "C", "questions wait and no operator is in office; at tier 3 it is E", 2, ByMachine, TriggerNobody},
		{"judge", "agent, layer:judge", "P", "A to E", "what the judge blocks, and how it answers", 2, Later, ""},
		{"backup", "agent", "P", "A", "a critical agent does not answer; its backup stands in", 0, ByMachine, TriggerLoss},
		{"healed", "all", "A", "P", "its backup is stable, where the rules allow it (maso.self_heal)", 3, ByMachine, TriggerHealed},
	}
}

// ShareWithin and SharePercent say when a type follows its agents.
const (
	ShareWithin  = 2 * time.Minute
	SharePercent = 20
	ShareAtLeast = 2
)

// Shared reports whether so many of a type's agents that came to alternate lately have the type follow.
func Shared(isolated, all int) bool {
	return isolated >= ShareAtLeast && isolated*100 > all*SharePercent
}
