package ruleset

import (
	"time"

	"interlock"
)

// LoopRules are the settings of the safety loop: what a monitored execution may do without a human, and what makes its steps
// count for more than each would alone. They are asked only of steps that an execution reports.
type LoopRules struct {
	Steps      int          `json:"max_autonomous_steps,omitempty"` // without a human; 0 is not set
	Tolerance  string       `json:"tolerance,omitempty"`            // conservative, moderate or aggressive; empty is not set
	Agents     []LoopAgent  `json:"agents,omitempty"`
	Escalation []Escalation `json:"escalation,omitempty"`
	Score      []Factor     `json:"score,omitempty"`
	Cumulative []Cumulative `json:"cumulative,omitempty"`
}

// A LoopAgent is what holds for some agents or adapters instead of, and beside, what holds for all.
type LoopAgent struct {
	Agent     string `json:"agent"` // glob over agent ids and types
	Steps     int    `json:"max_autonomous_steps,omitempty"`
	Tolerance string `json:"tolerance,omitempty"`
	Policy    Policy `json:"policy,omitzero"` // beside policy; deny before requiresApproval before autoApprove
}

// An Escalation raises the danger level of what is done too often within one execution. The declared level stays.
type Escalation struct {
	ID     string           `json:"id"`
	Match  Predicate        `json:"match"`            // what is counted: steps with an impact that meets it
	Times  int              `json:"times"`            // from this one on, the present step counted
	Within Span             `json:"within,omitempty"` // so long ago at most; the whole execution, if none is given
	Level  interlock.Danger `json:"level"`
	Reason string           `json:"reason"`

	match predicate
}

// A Factor adds to the risk score of steps that meet it.
type Factor struct {
	ID    string                `json:"id"`
	Match Predicate             `json:"match,omitzero"`
	When  []interlock.Condition `json:"when,omitempty"` // on the step's arguments; all must hold
	Add   int                   `json:"add"`            // 1 to 100
	Say   string                `json:"say"`            // the factor in plain words

	match predicate
}

// A Cumulative asks once the risk scores of an execution's steps add up to too much.
type Cumulative struct {
	Risk   int    `json:"risk"`
	Reason string `json:"reason"`
}

// The tolerances: the risk score above which a step pauses.
var tolerances = map[string]int{"conservative": 25, "moderate": 50, "aggressive": 75}

// A LoopSetting is what holds for one agent.
type LoopSetting struct {
	Steps     int
	Tolerance int
	Policy    Policy // the agent's own, on top of the ruleset's
}

// Loop returns what holds for an agent. Of several entries that concern it the strictest holds; one that concerns it holds
// instead of what is set for all, and an operator's documents instead of the defaults.
func (r *Ruleset) Loop(agent interlock.AgentRecord) LoopSetting {
	s := LoopSetting{Steps: r.loop.Steps, Tolerance: tolerances[r.loop.Tolerance]}
	steps, tolerance := 0, 0
	for _, own := range r.loop.Agents {
		if !Glob(own.Agent, agent.ID) && (agent.Type == "" || !Glob(own.Agent, agent.Type)) {
			continue
		}
		steps, tolerance = stricter(steps, own.Steps), stricter(tolerance, tolerances[own.Tolerance])
		s.Policy.Deny = append(s.Policy.Deny, own.Policy.Deny...)
		s.Policy.RequiresApproval = append(s.Policy.RequiresApproval, own.Policy.RequiresApproval...)
		s.Policy.AutoApprove = append(s.Policy.AutoApprove, own.Policy.AutoApprove...)
	}
	if steps > 0 {
		s.Steps = steps
	}
	if tolerance > 0 {
		s.Tolerance = tolerance
	}
	s.Policy.Deny, s.Policy.RequiresApproval = sortedUnique(s.Policy.Deny), sortedUnique(s.Policy.RequiresApproval)
	s.Policy.AutoApprove = sortedUnique(s.Policy.AutoApprove)
	return s
}

// stricter is the smaller of two numbers, where 0 is none.
func stricter(a, b int) int {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// LoopRules returns the loop's settings as they are in force for agents that have none of their own. Callers change nothing.
func (r *Ruleset) LoopRules() LoopRules { return r.loop }

// addLoop takes over a document's part.
func (r *Ruleset) addLoop(l *LoopRules, user bool) {
	if l == nil {
		return
	}
	if !user {
		r.loop.Steps, r.loop.Tolerance = l.Steps, l.Tolerance
	} else {
		r.ownLoop.Steps = stricter(r.ownLoop.Steps, l.Steps)
		if t := l.Tolerance; t != "" && (r.ownLoop.Tolerance == "" || tolerances[t] < tolerances[r.ownLoop.Tolerance]) {
			r.ownLoop.Tolerance = t
		}
	}
	r.loop.Agents = append(r.loop.Agents, l.Agents...)
	for _, e := range l.Escalation {
		e.match = e.Match.compile()
		r.loop.Escalation = append(r.loop.Escalation, e)
	}
	for _, f := range l.Score {
		f.match = f.Match.compile()
		r.loop.Score = append(r.loop.Score, f)
	}
	r.loop.Cumulative = append(r.loop.Cumulative, l.Cumulative...)
}

// finishLoop lets what operators set hold instead of the defaults.
func (r *Ruleset) finishLoop() {
	if r.ownLoop.Steps > 0 {
		r.loop.Steps = r.ownLoop.Steps
	}
	if r.ownLoop.Tolerance != "" {
		r.loop.Tolerance = r.ownLoop.Tolerance
	}
}

// Meets reports whether one of the impacts is what the escalation counts.
func (e *Escalation) Meets(impacts []interlock.Impact) bool { return meets(&e.match, impacts) }

// Meets reports whether the factor concerns an action with these impacts and arguments.
func (f *Factor) Meets(action interlock.Action, impacts []interlock.Impact) bool {
	return (f.match.empty || meets(&f.match, impacts)) && Hold(f.When, action.Arguments)
}

func meets(p *predicate, impacts []interlock.Impact) bool {
	for i := range impacts {
		if p.matches(&impacts[i]) {
			return true
		}
	}
	return false
}

// A Counter is something whose repetition rules ask about, under the name it has in [interlock.Count].
type Counter struct {
	Name   string
	Within time.Duration // 0 is the whole execution
	Pause  bool          // asked about by a cooldown, which holds outside of executions as well
	Counts func(action interlock.Action, impacts []interlock.Impact) bool
}

// Counters returns what must be counted of an execution's steps.
func (r *Ruleset) Counters() []Counter {
	var out []Counter
	for i := range r.loop.Escalation {
		e := &r.loop.Escalation[i]
		out = append(out, Counter{Name: e.Counted(), Within: time.Duration(e.Within),
			Counts: func(_ interlock.Action, impacts []interlock.Impact) bool { return e.Meets(impacts) }})
	}
	for i := range r.danger {
		d := &r.danger[i]
		if d.Cooldown > 0 {
			out = append(out, Counter{Name: d.Counted(), Within: time.Duration(d.Cooldown), Pause: true,
				Counts: func(action interlock.Action, impacts []interlock.Impact) bool { return d.named(action, impacts) }})
		}
	}
	return out
}

// Counted is the name under which the escalation's steps are counted.
func (e *Escalation) Counted() string { return "escalation." + e.ID }
