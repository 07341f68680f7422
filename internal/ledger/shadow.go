package ledger

import (
	"sort"
	"strings"
	"time"

	"interlock"
)

// CandidateKey is the key of the one ruleset that may decide beside the one in force.
const CandidateKey = "candidate"

// A CandidateBody is a ruleset that decides beside the one in force and answers nobody.
type CandidateBody struct {
	Name      string            `json:"name"` // CandidateKey
	Ruleset   interlock.Digest  `json:"ruleset"`
	Documents map[string]string `json:"documents"` // the operator's rules that it adds to the program's, by path
	Began     time.Time         `json:"began"`
	Until     time.Time         `json:"until"`
}

// The bounds of what is kept of a candidate's decisions.
const (
	maxParted      = 256                 // ways in which it decided otherwise
	maxExamples    = 3                   // of each
	maxExampleText = 200                 // bytes of a reason
	shadowLife     = 30 * 24 * time.Hour // after its last decision
)

// A ShadowBody is what a candidate decided otherwise than the ruleset in force. It is no part of the log: nobody was answered.
type ShadowBody struct {
	Ruleset   interlock.Digest `json:"ruleset"`
	Decisions int              `json:"decisions"`
	Dropped   int              `json:"dropped,omitempty"` // there was no room for them
	Failed    int              `json:"failed,omitempty"`  // it could not decide them
	Questions [2]int           `json:"questions"`         // asked by the ruleset in force, and by the candidate
	From      time.Time        `json:"from,omitzero"`
	To        time.Time        `json:"to,omitzero"`
	Parted    []Parted         `json:"parted,omitempty"`
	Others    int              `json:"others,omitempty"` // that parted in ways there is no room for
}

// A Parted is one way in which verdicts differ: of one agent, by the rule that is decisive under the stricter of both.
type Parted struct {
	Agent    string            `json:"agent"`
	Rule     string            `json:"rule"`
	Was      interlock.Verdict `json:"was"`
	Now      interlock.Verdict `json:"now"`
	Count    int               `json:"count"`
	Examples []PartedExample   `json:"examples,omitempty"`
}

// A PartedExample is one decision that differs.
type PartedExample struct {
	Event  string    `json:"event"`
	Index  int64     `json:"index"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitempty"` // redacted
}

// Count counts a decision; how it differs, if it does, is for Part to say.
func (s *ShadowBody) Count(at time.Time, was, now interlock.Verdict) {
	s.Decisions++
	if s.From.IsZero() || at.Before(s.From) {
		s.From = at
	}
	if at.After(s.To) {
		s.To = at
	}
	if was == interlock.Ask {
		s.Questions[0]++
	}
	if now == interlock.Ask {
		s.Questions[1]++
	}
}

// Part counts decisions that differ.
func (s *ShadowBody) Part(p Parted) {
	for i := range s.Parted {
		have := &s.Parted[i]
		if have.Agent == p.Agent && have.Rule == p.Rule && have.Was == p.Was && have.Now == p.Now {
			have.Count += p.Count
			room := max(maxExamples-len(have.Examples), 0)
			have.Examples = append(have.Examples, p.Examples[:min(room, len(p.Examples))]...)
			return
		}
	}
	if len(s.Parted) >= maxParted {
		s.Others += p.Count
		return
	}
	for i := range p.Examples {
		if e := &p.Examples[i]; len(e.Reason) > maxExampleText {
			e.Reason = strings.ToValidUTF8(e.Reason[:maxExampleText], "")
		}
	}
	s.Parted = append(s.Parted, p)
}

// Add takes over what another process, or this one since, has counted.
func (s *ShadowBody) Add(more ShadowBody) {
	s.Decisions, s.Dropped, s.Failed = s.Decisions+more.Decisions, s.Dropped+more.Dropped, s.Failed+more.Failed
	s.Others += more.Others
	for n := range s.Questions {
		s.Questions[n] += more.Questions[n]
	}
	if s.From.IsZero() || !more.From.IsZero() && more.From.Before(s.From) {
		s.From = more.From
	}
	if more.To.After(s.To) {
		s.To = more.To
	}
	for _, p := range more.Parted {
		s.Part(p)
	}
	sort.SliceStable(s.Parted, func(i, j int) bool { return s.Parted[i].Count > s.Parted[j].Count })
}
