// Package rollback works out what has to be undone when an agent, or one action, turns out to have been compromised: what it did and
// everything downstream that used it, the last first, and how each is undone, who does it, and what stays whatever anybody does.
//
// It undoes nothing. What Interlock itself can take back it says so of; everything else is for a person or another program, who tells
// how each step ended. Start with [Make]; package dataflow says what is downstream.
package rollback

import (
	"fmt"
	"slices"
	"time"

	"interlock"
	"interlock/internal/dataflow"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// Schema is the value of "schema" in a plan.
const Schema = "interlock.rollback/v1"

// MaxSteps bounds a plan that can be begun. What is more is for a narrower seed, or one after the other.
const MaxSteps = 2000

// A Plan is what has to be undone.
type Plan struct {
	Schema  string           `json:"schema"`
	Agent   string           `json:"agent,omitempty"` // what was compromised: this agent since a time,
	Since   time.Time        `json:"since,omitzero"`
	Event   string           `json:"event,omitempty"` // or this one action
	Size    int64            `json:"log_size"`        // how much of the log it was made from
	Ruleset interlock.Digest `json:"ruleset"`         // which says how tools resolve what they did
	Agents  []Affected       `json:"agents"`          // whose actions are in it, by name
	Steps   []Step           `json:"steps"`           // the last action first
	Residue []string         `json:"residue"`         // what stays whatever anybody does
	Unread  int64            `json:"archived,omitempty"`
}

// Affected is one agent of a plan.
type Affected struct {
	Agent string             `json:"agent"`
	Sure  dataflow.Certainty `json:"sure"`
	Steps int                `json:"steps"`
}

// A Step is one action that is to be undone.
type Step struct {
	N          int                `json:"step"`
	Event      string             `json:"event"`
	At         time.Time          `json:"at"`
	Agent      string             `json:"agent"`
	Run        string             `json:"run,omitempty"`
	Did        string             `json:"did"`
	Sure       dataflow.Certainty `json:"sure"`
	Itself     bool               `json:"compromised,omitempty"`
	Because    []dataflow.Reason  `json:"because,omitempty"`
	Undo       Undo               `json:"undo"`
	How        string             `json:"how"`
	By         string             `json:"by"`                   // interlock, a person, or nobody
	Unfinished bool               `json:"unfinished,omitempty"` // nobody has told how it ended
	Dangerous  bool               `json:"dangerous,omitempty"`  // and half of it is worse than all or nothing
	Residue    string             `json:"residue,omitempty"`    // what stays whatever anybody does
	Gave       string             `json:"gave,omitempty"`       // the run that it delegated
}

// Undo says what undoing an action takes.
type Undo string

// What it takes.
const (
	UndoNothing    Undo = "nothing"      // it changed nothing
	UndoDiscarded  Undo = "discarded"    // what it wrote was a copy, which is gone
	UndoReverse    Undo = "reverse"      // it can be undone
	UndoCompensate Undo = "compensate"   // another tool undoes it, or makes up for it
	UndoWithin     Undo = "within"       // it can be undone for a while, or by somebody else
	UndoNever      Undo = "irreversible" // it can't be
	UndoEnd        Undo = "end"          // Interlock ends what it gave: a run
)

// Who carries a step out.
const (
	ByInterlock = "interlock"
	ByPerson    = "person"
	ByNobody    = "nobody"
)

// Open reports whether somebody has to carry the step out and tell how that ended.
func (s *Step) Open() bool { return s.By == ByPerson }

// Make works out the plan. rules say how tools resolve what they did.
func Make(log *dataflow.Log, seed dataflow.Seed, rules *ruleset.Ruleset) Plan {
	p := Plan{Schema: Schema, Agent: seed.Agent, Since: seed.Since, Event: seed.Event, Size: log.Size(), Ruleset: rules.Digest(),
		Agents: []Affected{}, Steps: []Step{}, Residue: []string{}, Unread: log.Gone()}
	reached := log.Downstream(seed)
	slices.Reverse(reached)
	agents := map[string]int{}
	for n, r := range reached {
		step := stepOf(n+1, &r, rules.Resolve(r.Tool, r.Text))
		p.Steps = append(p.Steps, step)
		if step.Residue != "" {
			p.Residue = append(p.Residue, step.Residue)
		}
		at, known := agents[r.Agent]
		if !known {
			at = len(p.Agents)
			agents[r.Agent] = at
			p.Agents = append(p.Agents, Affected{Agent: r.Agent, Sure: r.Sure})
		}
		p.Agents[at].Steps++
		if r.Sure == dataflow.Certain {
			p.Agents[at].Sure = dataflow.Certain
		}
	}
	if p.Unread > 0 {
		p.Residue = append(p.Residue, fmt.Sprintf("whatever %d decisions did that are in an archive, and were not looked at", p.Unread))
	}
	slices.SortFunc(p.Agents, func(a, b Affected) int {
		switch {
		case a.Agent < b.Agent:
			return -1
		case a.Agent > b.Agent:
			return 1
		}
		return 0
	})
	return p
}

// Text is the plan as it is kept, and Digest names it. The same log, seed and rules give the same bytes.
func (p Plan) Text() ([]byte, error) { return strictjson.Marshal(p) }

const planDomain = "interlock/rollback-plan/v1"

// Digest names the plan.
func (p Plan) Digest() (interlock.Digest, error) {
	text, err := p.Text()
	if err != nil {
		return "", err
	}
	return strictjson.DigestBytes(planDomain, text), nil
}

// Open is how many steps somebody has to carry out.
func (p *Plan) Open() (open int) {
	for n := range p.Steps {
		if p.Steps[n].Open() {
			open++
		}
	}
	return open
}
