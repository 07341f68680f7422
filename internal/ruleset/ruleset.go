// Package ruleset holds what Interlock is told to object to: rules, policy globs, danger declarations, per-agent scopes
// and the profiles that grant base verdicts. A Ruleset is immutable and named by the digest of its content; a change is
// another Ruleset.
//
// Rules come as documents, in YAML from people or in JSON from the embedded defaults. Every mistake in a document is an
// error with file, line, field and how to mend it; there is no partly loaded ruleset. Documents of operators may only add:
// they can't reuse a default's id, define profiles or grant anything but autoApprove, which suppresses what was inferred
// and what a profile would only ask, and never what a rule says.
//
// The package does no I/O and judges nothing itself: package gate asks it which rules an action's impacts and texts meet.
// Start with Load here, then rule.go for the document format and match.go for what is asked of it.
package ruleset

import (
	"maps"
	"slices"
	"sort"
	"sync"

	"interlock"
	"interlock/internal/strictjson"
)

// A Ruleset is everything objections are made from. It is immutable and safe for concurrent use.
type Ruleset struct {
	digest     interlock.Digest
	rules      []*Rule // defaults and operators' together, by id
	profiles   map[string]*Profile
	policy     Policy
	danger     []DangerRule
	scopes     []Scope
	production []string
	after      []*After // what the rules ask of earlier actions
	loop       LoopRules
	ownLoop    LoopRules // what operators' documents set instead of the defaults
	governance []GovernanceCase
	maso       MasoRules
	watch      WatchRules
	watches    bool      // some document says what is watched
	limits     []*Limit  // by id
	budgets    []*Budget // by id
	types      map[string]*Type
	userTypes  []string // names of the types that bound what people have begun, sorted
	runs       RunRules
	cedar      []*CedarPolicy
	typesTier  int // the highest that a type names
	// how what tools leave half done is resolved, in the order of the documents
	resolutions []*Resolution
	runsSet     bool

	commitments []*Commitment
	plans       PlanRules
	plansSet    bool
	dryRuns     []*DryRunForm

	index    ruleIndex                    // of the rules that match impacts
	texts    func() textRules             // of the rules that match texts; built when first asked
	policies func() [numPolicies]*matcher // of the policy globs, likewise
}

const rulesetDomain = "interlock/ruleset/v1"

// Load makes a ruleset of the embedded defaults and an operator's documents, by path. Defaults are JSON as the generator
// writes it; operators' documents are YAML, or JSON if they begin with a brace. Defaults that are data of the analysers
// enter the digest, because they change decisions too, and are read elsewhere. The digest does not depend on the order of files.
func Load(defaults, user map[string][]byte) (*Ruleset, error) {
	return load(defaults, nil, user, false)
}

// LoadShipped is Load for defaults that were checked and digested when they were put into the program. It takes both for
// granted, which is most of what loading them costs a hook call, and gives the same ruleset.
func LoadShipped(defaults map[string][]byte, sums map[string]string, user map[string][]byte) (*Ruleset, error) {
	return load(defaults, sums, user, false)
}

// Verify checks defaults more closely than Load does, which is called on every hook call: their patterns too.
func Verify(defaults map[string][]byte) error {
	_, err := load(defaults, nil, nil, true)
	return err
}

func load(defaults map[string][]byte, digests map[string]string, user map[string][]byte, verify bool) (*Ruleset, error) {
	r := &Ruleset{profiles: map[string]*Profile{}, types: map[string]*Type{}}
	l := loader{ruleset: r, ids: map[string]string{}, limits: map[string]string{}, own: map[string]bool{},
		budgets: map[string]string{}, verify: verify, sums: digests}
	var sums struct {
		Defaults []string `json:"defaults"`
		User     []string `json:"user"`
	}
	for _, path := range slices.Sorted(maps.Keys(defaults)) {
		sum, err := l.file(path, defaults[path], false)
		if err != nil {
			return nil, err
		}
		sums.Defaults = append(sums.Defaults, sum)
	}
	for _, path := range slices.Sorted(maps.Keys(user)) {
		sum, err := l.file(path, user[path], true)
		if err != nil {
			return nil, err
		}
		sums.User = append(sums.User, sum)
	}
	for _, check := range l.backups {
		if err := check(); err != nil {
			return nil, err
		}
	}
	sort.Strings(sums.Defaults)
	sort.Strings(sums.User)
	var err error
	if r.digest, err = strictjson.Digest(rulesetDomain, sums); err != nil {
		return nil, err
	}
	r.finish()
	return r, nil
}

// finish sorts what was loaded and prepares the tables that answer questions.
func (r *Ruleset) finish() {
	r.finishLoop()
	sort.Slice(r.cedar, func(i, j int) bool { return r.cedar[i].id < r.cedar[j].id })
	r.userTypes = sortedUnique(slices.Clone(r.userTypes))
	sort.Slice(r.rules, func(i, j int) bool { return r.rules[i].ID < r.rules[j].ID })
	for i, rule := range r.rules {
		rule.position = i
	}
	for _, list := range []*[]string{&r.policy.Deny, &r.policy.RequiresApproval, &r.policy.AutoApprove, &r.production} {
		*list = sortedUnique(*list)
	}
	sort.Slice(r.danger, func(i, j int) bool {
		a, b := r.danger[i], r.danger[j]
		if a.Name != b.Name {
			return a.Name < b.Name
		}
		return a.Level < b.Level
	})
	r.index.build(r.rules)
	r.texts = sync.OnceValue(func() textRules { return rulesMatcher(r.rules) })
	r.policies = sync.OnceValue(func() [numPolicies]*matcher { return r.policy.matchers() })
}

// Digest names the ruleset's content.
func (r *Ruleset) Digest() interlock.Digest { return r.digest }

// Rules returns the rules by id. Callers do not modify them.
func (r *Ruleset) Rules() []*Rule { return r.rules }

// Rule returns the rule with an id.
func (r *Ruleset) Rule(id string) (*Rule, bool) {
	i := sort.Search(len(r.rules), func(i int) bool { return r.rules[i].ID >= id })
	if i < len(r.rules) && r.rules[i].ID == id {
		return r.rules[i], true
	}
	return nil, false
}

// Profile returns the profile with a name.
func (r *Ruleset) Profile(name string) (*Profile, bool) {
	p, ok := r.profiles[name]
	return p, ok
}

// Profiles returns the names of all profiles, sorted.
func (r *Ruleset) Profiles() []string { return slices.Sorted(maps.Keys(r.profiles)) }

// Policy returns the policy globs, sorted.
func (r *Ruleset) Policy() Policy { return r.policy }

// Danger returns the danger declarations, sorted.
func (r *Ruleset) Danger() []DangerRule { return r.danger }

// Scopes returns the per-agent allow-lists.
func (r *Ruleset) Scopes() []Scope { return r.scopes }

// Production returns the globs of names that are production, sorted. Doors put them into interlock.View.Production.
func (r *Ruleset) Production() []string { return r.production }

func sortedUnique(list []string) []string {
	sort.Strings(list)
	out := list[:0]
	for i, s := range list {
		if i == 0 || s != list[i-1] {
			out = append(out, s)
		}
	}
	return out
}
