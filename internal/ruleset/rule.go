package ruleset

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"time"

	"interlock"
	"interlock/internal/strictjson"
)

// A Document is one file of rules. Every part is optional, and at least one is there.
type Document struct {
	Rules      []*Rule      `json:"rules,omitempty"`
	Profiles   []*Profile   `json:"profiles,omitempty"` // defaults only
	Policy     Policy       `json:"policy,omitzero"`
	Danger     []DangerRule `json:"danger,omitempty"`
	Scope      []Scope      `json:"scope,omitempty"`
	Loop       *LoopRules   `json:"loop,omitempty"`
	Limits     []*Limit     `json:"limits,omitempty"`
	Budgets    []*Budget    `json:"budgets,omitempty"`    // of tokens and money, by what is reported; operators' only
	Production []string     `json:"production,omitempty"` // globs of hosts, contexts, databases, branches, buckets
	Maso       *MasoRules   `json:"maso,omitempty"`

	Types []*Type        `json:"types,omitempty"` // of agents: what they may do at most; operators' only
	Cedar []*CedarPolicy `json:"cedar,omitempty"` // policies that object by who asks and when; operators' only
	Runs  *RunRules      `json:"runs,omitempty"`  // of agents that delegate to each other; operators' only

	// what becomes of what tools left half done, and how it is undone; operators' only
	Resolutions []*Resolution `json:"resolutions,omitempty"`

	Commitments []*Commitment `json:"commitments,omitempty"` // of what was decided, until there is a reason to decide otherwise; operators' only
	Plans       *PlanRules    `json:"plans,omitempty"`       // of what runs are to do, step by step; operators' only
	DryRuns     []*DryRunForm `json:"dry_runs,omitempty"`    // how tools are tried without effect; operators' only

	Governance []GovernanceCase `json:"governance,omitempty"` // tests of who may order and answer what; operators' only
}

// A Rule objects to actions that meet its match.
type Rule struct {
	ID    string `json:"id"`    // stable, lower case, e.g. "fs.delete-root"
	Layer int    `json:"layer"` // 1 base laws, 2 security, 3 operational, 4 behavioural
	// place inside the layer: of two that are equally strict there the lower is named first, 0 before all; it overrides nothing
	Sublayer    int                    `json:"sublayer,omitempty"`
	Profiles    []string               `json:"profiles,omitempty"` // it holds under these; under every one if none is named
	Kinds       []interlock.Kind       `json:"kinds,omitempty"`    // kinds of action it looks at; all if none is named
	Match       Match                  `json:"match"`
	After       *After                 `json:"after,omitempty"` // what the same run must have done before
	Verdict     interlock.Verdict      `json:"verdict"`         // ask, deny or halt
	Obligations []interlock.Obligation `json:"obligations,omitempty"`
	Reason      string                 `json:"reason"` // one sentence an agent may read
	Suggestion  Suggestion             `json:"suggestion,omitzero"`
	Tags        []string               `json:"tags,omitempty"`
	Heuristic   bool                   `json:"heuristic,omitempty"` // a guess that autoApprove may overrule
	// silent where the user's own words want this act, see engine.wanted
	Wanted bool  `json:"wanted,omitempty"`
	Tests  Tests `json:"tests,omitzero"`

	user     bool // an operator's
	position int  // in Ruleset.rules
	pattern  func() *regexp.Regexp
	applies  uint16 // bits of Kinds
	match    predicate
}

// User reports whether the rule is an operator's and not a default.
func (r *Rule) User() bool { return r.user }

// A Match says what a rule looks for. Impact conditions must all hold of one impact; text conditions must hold of one
// text; where both are given, both must hold.
type Match struct {
	Predicate
	Glob    []string         `json:"glob,omitempty"`    // any of these globs matches a whole executed text
	Pattern string           `json:"pattern,omitempty"` // this RE2 pattern is found in an executed text
	Text    []interlock.Kind `json:"text,omitempty"`    // kinds of text that glob and pattern look at; all if none is named
}

func (m Match) textual() bool { return len(m.Glob) > 0 || m.Pattern != "" }

// A Predicate is a condition on one impact: every list that is given must contain the impact's value. Globs know * for
// any run of characters and ? for one, and ignore case.
type Predicate struct {
	Kind          []interlock.ImpactKind    `json:"kind,omitempty"`
	Reach         []interlock.Reach         `json:"reach,omitempty"`
	Reversibility []interlock.Reversibility `json:"reversibility,omitempty"`
	Confidence    []interlock.Confidence    `json:"confidence,omitempty"`
	Via           []string                  `json:"via,omitempty"`    // globs
	Except        []string                  `json:"except,omitempty"` // globs that via must not match
	Target        []string                  `json:"target,omitempty"` // globs
	Traits        Traits                    `json:"traits,omitzero"`
	Over          int64                     `json:"over,omitempty"` // the amount is greater than this
}

// Traits is a condition on an impact's traits.
type Traits struct {
	All  []string `json:"all,omitempty"`
	Any  []string `json:"any,omitempty"`
	None []string `json:"none,omitempty"`
}

// A Suggestion is what the agent might do instead.
type Suggestion struct {
	Say string `json:"say,omitempty"` // one sentence
	Try string `json:"try,omitempty"` // a shell command that the same ruleset allows
}

// Tests are a rule's own: actions it must fire on, and actions it must leave alone. Each is a shell command, or an
// object with the members of an action and, where the rule looks at what came before, of a [Sequence].
type Tests struct {
	Block []json.RawMessage `json:"block,omitempty"` // decided deny or halt, and this rule fires
	Ask   []json.RawMessage `json:"ask,omitempty"`   // decided ask, and this rule fires
	Pass  []json.RawMessage `json:"pass,omitempty"`  // this rule does not fire

	written string // of a shipped rule: all of them, not yet read
}

// Read returns the tests, read.
func (t Tests) Read() (Tests, error) {
	if t.written == "" {
		return t, nil
	}
	var read Tests
	err := strictjson.DecodeTrusted([]byte(t.written), &read)
	return read, err
}

// MarshalJSON writes the tests as a rule is printed, read or not.
func (t Tests) MarshalJSON() ([]byte, error) {
	type plain Tests
	read, err := t.Read()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // the rule's encoder does, if it is to
	err = encoder.Encode(plain(read))
	return out.Bytes(), err
}

// A Policy is three lists of globs over tool names and whole executed texts, ignoring case.
type Policy struct {
	Deny             []string `json:"deny,omitempty"`
	RequiresApproval []string `json:"requiresApproval,omitempty"`
	AutoApprove      []string `json:"autoApprove,omitempty"`
}

// A Scope limits agents to what it lists.
type Scope struct {
	Agent string   `json:"agent"` // glob over agent ids and types
	Allow []string `json:"allow"` // globs over tool names and executed texts
}

// A Profile is a named preset: which base verdict each impact gets before anything objects.
type Profile struct {
	Name  string            `json:"name"`
	About string            `json:"about"`
	Trust interlock.Trust   `json:"trust"`           // of agents nobody has registered
	Risk  int               `json:"risk,omitempty"`  // scores from here up are asked about; 0 is never
	Reach []interlock.Reach `json:"reach,omitempty"` // how far it grants acting at all; everywhere if none is named
	Empty interlock.Verdict `json:"empty"`           // for an action without impacts
	// Judge says whether a judge has to allow what nothing else denies: required, or nothing, where one can only object
	Judge   Judging `json:"judge,omitempty"`
	Rows    []Row   `json:"rows"` // the first that matches an impact gives its verdict; the table's end asks
	reaches uint16
}

// Judging says what a profile wants of judges. The zero value wants nothing: they can object.
type Judging string

// JudgeRequired is the profile of those who want a judge's Allow for everything that no gate denies (ASA 20, items 1 and 4).
const JudgeRequired Judging = "required"

// A Row is one line of a profile's table.
type Row struct {
	ID      string            `json:"id"`
	When    Predicate         `json:"when,omitzero"` // everything, if empty
	Verdict interlock.Verdict `json:"verdict"`
	Reason  string            `json:"reason,omitempty"` // needed unless the verdict is allow

	match predicate
}

// A TestCase is one of a rule's own tests.
type TestCase struct {
	After  []interlock.Action // what the run did before, oldest first
	Gap    time.Duration      // how long before each next action
	Action interlock.Action
	Want   string // "block", "ask" or "pass"
}

// Under reports whether the rule holds under a profile.
func (r *Rule) Under(profile string) bool {
	return len(r.Profiles) == 0 || slices.Contains(r.Profiles, profile)
}

// OnImpacts reports whether the rule has conditions on impacts.
func (r *Rule) OnImpacts() bool { return !r.match.empty }

// OnTexts reports whether the rule has conditions on executed texts.
func (r *Rule) OnTexts() bool { return r.Match.textual() }
