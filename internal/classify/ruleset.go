package classify

import (
	"strings"

	"interlock"
	"interlock/internal/strictjson"
)

// engine is the version of the detectors. It is part of every snapshot's id: other detectors are another ruleset.
const engine = 3

// snapshotDomain separates these digests from all others.
const snapshotDomain = "interlock/safety-ruleset/v1"

// A Rule says what a finding leads to. Findings are selected by detector, kind and tier; an empty list selects all.
type Rule struct {
	ID       string         `json:"id"`
	Layer    int            `json:"layer"`
	Detector string         `json:"detector"` // secret, injection, personal or harm
	Kinds    []string       `json:"kinds"`    // a star at the end means the rest
	Tiers    []string       `json:"tiers"`    // of personal data
	Verdict  Classification `json:"verdict"`
	Severity string         `json:"severity"` // low, medium, high or critical
	Reason   string         `json:"reason"`
	ASI      []string       `json:"asi"`
	LLM      []string       `json:"llm"`
	Tests    Tests          `json:"tests"`
}

// Tests are texts in which a rule finds something, and texts in which it does not.
type Tests struct {
	Block []string `json:"block"`
	Pass  []string `json:"pass"`
}

// A selection is one ruleset of a document: all its rules; some only note what they find.
type selection struct {
	ID    string   `json:"id"`
	About string   `json:"about"`
	Note  []string `json:"note"` // ids of rules whose verdict is OK here
}

// A document is the content of rules/safety.yaml, or of a snapshot of it.
type document struct {
	Engine int `json:"engine"` // of a snapshot: the version of the detectors that it was in force with
	Safety struct {
		Rulesets []selection `json:"rulesets"`
		Rules    []Rule      `json:"rules"`
	} `json:"safety"`
}

// A Ruleset is compiled and never changes.
type Ruleset struct {
	Name  string // mace-stage1, results
	About string
	ID    string // names the content: the snapshot's id
	Rules []Rule

	secrets, personal, injection, harm bool // which detectors a rule wants
}

// Rulesets are all that a document holds.
type Rulesets struct{ all []*Ruleset }

// Parse reads rulesets as JSON. What is wrong with a document is an *interlock.Error that names the member; nothing of a
// document with a mistake in it is used.
func Parse(data []byte) (*Rulesets, error) {
	var d document
	if err := strictjson.DecodeTrusted(data, &d); err != nil {
		return nil, err
	}
	if d.Engine != 0 && d.Engine != engine {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "/engine", "these rulesets are of detectors of version %d, and this "+
			"program has version %d", d.Engine, engine)
	}
	if len(d.Safety.Rulesets) == 0 {
		return nil, interlock.Errorf(interlock.CodeInvalid, "/safety/rulesets", "is empty; name one ruleset at least")
	}
	ids := map[string]bool{}
	for _, r := range d.Safety.Rules {
		if err := r.check(ids); err != nil {
			return nil, err
		}
		ids[r.ID] = true
	}
	all := &Rulesets{}
	for _, s := range d.Safety.Rulesets {
		r, err := s.compile(d.Safety.Rules, ids)
		if err != nil {
			return nil, err
		}
		if all.Named(r.Name) != nil {
			return nil, interlock.Errorf(interlock.CodeInvalid, "/safety/rulesets", "%.40q stands there twice", r.Name)
		}
		all.all = append(all.all, r)
	}
	return all, nil
}

// Named returns the ruleset of a name, or nil, under which everything is blocked.
func (r *Rulesets) Named(name string) *Ruleset {
	for _, one := range r.all {
		if one.Name == name {
			return one
		}
	}
	return nil
}

// Snapshot returns the ruleset of a snapshot's id, or nil, under which everything is blocked.
func (r *Rulesets) Snapshot(id string) *Ruleset {
	for _, one := range r.all {
		if one.ID == id {
			return one
		}
	}
	return nil
}

// All returns every ruleset, in the order of the document.
func (r *Rulesets) All() []*Ruleset { return r.all }

// check says what is wrong with a rule by itself.
func (r *Rule) check(ids map[string]bool) error {
	wrong := func(member, format string, args ...any) error {
		return interlock.Errorf(interlock.CodeInvalid, "/safety/rules/"+r.ID+"/"+member, format, args...)
	}
	switch {
	case r.ID == "" || ids[r.ID]:
		return wrong("id", "is missing or stands there twice")
	case r.Layer < 1 || r.Layer > 4:
		return wrong("layer", "must be 1 to 4")
	case r.Verdict != Pass && r.Verdict != Remove && r.Verdict != Review && r.Verdict != Refuse:
		return wrong("verdict", "must be OK, REDACT, FLAG_FOR_REVIEW or BLOCK")
	case !oneOf(r.Severity, "low", "medium", "high", "critical"):
		return wrong("severity", "must be low, medium, high or critical")
	case !oneOf(r.Detector, "secret", "injection", "personal", "harm"):
		return wrong("detector", "must be secret, injection, personal or harm")
	case r.Reason == "":
		return wrong("reason", "is missing")
	case len(r.Tests.Block) == 0 || len(r.Tests.Pass) == 0:
		return wrong("tests", "needs texts to block and texts to pass; a rule that nobody tried is no rule")
	}
	for _, tier := range r.Tiers {
		if r.Detector != "personal" || !oneOf(tier, "high", "medium", "low") {
			return wrong("tiers", "are high, medium and low, and of personal data only")
		}
	}
	return nil
}

func oneOf(value string, of ...string) bool {
	for _, one := range of {
		if one == value {
			return true
		}
	}
	return false
}

// compile makes one ruleset of a document's rules.
func (s selection) compile(rules []Rule, ids map[string]bool) (*Ruleset, error) {
	for _, id := range s.Note {
		if !ids[id] {
			return nil, interlock.Errorf(interlock.CodeInvalid, "/safety/rulesets/"+s.ID+"/note", "%.40q is no rule", id)
		}
	}
	if s.ID == "" {
		return nil, interlock.Errorf(interlock.CodeInvalid, "/safety/rulesets", "a ruleset has no id")
	}
	out := &Ruleset{Name: s.ID, About: s.About, Rules: make([]Rule, 0, len(rules))}
	for _, r := range rules {
		if oneOf(r.ID, s.Note...) {
			r.Verdict = Pass
		}
		out.Rules = append(out.Rules, r)
		switch r.Detector {
		case "secret":
			out.secrets = true
		case "injection":
			out.injection = true
		case "personal":
			out.personal = true
		case "harm":
			out.harm = true
		}
	}
	content, err := strictjson.Marshal(struct {
		Engine int    `json:"engine"`
		Name   string `json:"name"`
		Rules  []Rule `json:"rules"`
	}{engine, out.Name, out.Rules})
	if err != nil {
		return nil, err
	}
	out.ID = string(strictjson.DigestBytes(snapshotDomain, content))
	return out, nil
}

// rule returns the rule that a finding falls under: of those that select it the strictest, of these the first. -1 is none.
func (r *Ruleset) rule(detector, kind, tier string) int {
	best := -1
	for n := range r.Rules {
		one := &r.Rules[n]
		if one.Detector == detector && (len(one.Tiers) == 0 || oneOf(tier, one.Tiers...)) && named(one.Kinds, kind) &&
			(best < 0 || one.Verdict.Stricter(r.Rules[best].Verdict)) {
			best = n
		}
	}
	return best
}

func named(kinds []string, kind string) bool {
	if len(kinds) == 0 {
		return true
	}
	for _, k := range kinds {
		if start, ok := strings.CutSuffix(k, "*"); k == kind || ok && strings.HasPrefix(kind, start) {
			return true
		}
	}
	return false
}
