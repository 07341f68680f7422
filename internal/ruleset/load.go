package ruleset

import (
	"bytes"
	"encoding/json"
	"regexp"
	"sync"
	"time"

	"interlock"
	"interlock/internal/strictjson"
	"interlock/internal/strictyaml"
)

// A loader puts documents into a ruleset that is being made.
type loader struct {
	ruleset *Ruleset
	ids     map[string]string // rule id -> file it is in
	limits  map[string]string // limit id -> file it is in
	own     map[string]bool   // limits that an operator's document gives
	budgets map[string]string // budget id -> file it is in
	free    int               // patterns without a literal
	backups []func() error    // what is looked at once every type and profile is known
	verify  bool              // check the defaults as closely as an operator's documents
	sums    map[string]string // digests of defaults that were taken, and checked, when they were put into the program
}

const fileDomain = "interlock/rules-file/v1"

// file reads one file and returns the digest of its content.
func (l *loader) file(name string, data []byte, user bool) (string, error) {
	doc := strictyaml.FromJSON(name, data)
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		var err error
		if doc, err = strictyaml.Parse(name, data); err != nil {
			return "", err
		}
	} else if user {
		canonical, err := strictjson.Canonical(data)
		if err != nil {
			return "", doc.Errorf("", "%s", err.Error())
		}
		doc = strictyaml.FromJSON(name, canonical)
	}
	sum, known := l.sums[name]
	if !known || user {
		// which stand between the lines of a table, and in no string
		sum = DocumentDigest(bytes.ReplaceAll(doc.JSON(), []byte("\n"), nil))
	}
	if !user && isKnowledge(doc.JSON()) {
		return sum, nil
	}
	var d Document
	if known && !user && !l.verify { // it was checked when it became part of the program
		if err := decodeShipped(data, &d); err != nil {
			return "", err
		}
		for _, rule := range d.Rules {
			l.ids[rule.ID] = name
		}
		for _, limit := range d.Limits {
			l.limits[limit.ID] = name
		}
		l.add(&d, user)
		return sum, nil
	}
	decode := doc.Decode
	if !user {
		decode = doc.DecodeTrusted
	}
	if err := decode(&d); err != nil {
		return "", err
	}
	c := checker{loader: l, doc: doc, file: name, user: user}
	if err := c.document(&d); err != nil {
		return "", err
	}
	l.add(&d, user)
	return sum, nil
}

// DocumentDigest names the content of one document in compact form.
func DocumentDigest(compact []byte) string {
	return string(strictjson.DigestBytes(fileDomain, compact))
}

// isKnowledge reports whether a default file is data of the analysers and not of the ruleset: its first member is none
// of a Document's. Canonical JSON puts a Document's own first, whatever they are.
func isKnowledge(canonical []byte) bool {
	member, found := bytes.CutPrefix(canonical, []byte(`{"`))
	member, _, ended := bytes.Cut(member, []byte(`"`))
	if !found || !ended {
		return true
	}
	switch string(member) {
	case "budgets", "cedar", "commitments", "danger", "dry_runs", "limits", "loop", "maso", "plans", "policy", "production",
		"profiles", "resolutions", "rules", "runs", "scope", "types":
		return false
	}
	return true
}

// add takes over a document that has been checked.
func (l *loader) add(d *Document, user bool) {
	r := l.ruleset
	for _, rule := range d.Rules {
		rule.user = user
		rule.match = rule.Match.Predicate.compile()
		if rule.After != nil {
			rule.After.compile()
			r.after = append(r.after, rule.After)
		}
		for _, k := range rule.Kinds {
			rule.applies |= actionBit(k)
		}
		if p := rule.Match.Pattern; p != "" {
			rule.pattern = sync.OnceValue(func() *regexp.Regexp { return compile(p) })
		}
		r.rules = append(r.rules, rule)
	}
	for _, p := range d.Profiles {
		for i := range p.Rows {
			p.Rows[i].match = p.Rows[i].When.compile()
		}
		for _, reach := range p.Reach {
			p.reaches |= reachBit(reach)
		}
		r.profiles[p.Name] = p
	}
	r.governance = append(r.governance, d.Governance...)
	r.policy.Deny = append(r.policy.Deny, d.Policy.Deny...)
	r.policy.RequiresApproval = append(r.policy.RequiresApproval, d.Policy.RequiresApproval...)
	r.policy.AutoApprove = append(r.policy.AutoApprove, d.Policy.AutoApprove...)
	for _, rule := range d.Danger {
		rule.User = user
		r.danger = append(r.danger, rule)
	}
	r.addLoop(d.Loop, user)
	r.addLimits(d.Limits, user)
	r.addBudgets(d.Budgets)
	r.scopes = append(r.scopes, d.Scope...)
	r.production = append(r.production, d.Production...)
	r.addMaso(d.Maso)
	r.addWatch(d.Maso)
	r.resolutions = append(r.resolutions, d.Resolutions...)
	for _, t := range d.Types {
		r.addLimits(t.bounds(), user)
		r.typesTier = max(r.typesTier, t.Tier)
		if r.types[t.Name] = t; len(t.Users) > 0 {
			r.userTypes = append(r.userTypes, t.Name)
		}
	}
	r.cedar = append(r.cedar, d.Cedar...)
	r.commitments = append(r.commitments, d.Commitments...)
	r.dryRuns = append(r.dryRuns, d.DryRuns...)
	if d.Plans != nil {
		r.plans, r.plansSet = *d.Plans, true
	}
	if d.Runs != nil {
		r.runs, r.runsSet = *d.Runs, true
	}
}

// compile compiles a pattern that was checked before. If it does not compile after all it matches everything: a rule that
// can't be read objects rather than staying silent.
func compile(pattern string) *regexp.Regexp {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return regexp.MustCompile("")
	}
	return re
}

// Row returns the first row of the profile's table that matches the impact, or nil at the table's end, which asks.
func (p *Profile) Row(i *interlock.Impact) *Row {
	for n := range p.Rows {
		if p.Rows[n].match.matches(i) {
			return &p.Rows[n]
		}
	}
	return nil
}

// Reaches reports whether the profile grants acting that far at all.
func (p *Profile) Reaches(r interlock.Reach) bool {
	return p.reaches == 0 || p.reaches&reachBit(r) != 0
}

// Cases returns the rule's own tests as actions.
func (t Tests) Cases() ([]TestCase, error) {
	t, err := t.Read()
	if err != nil {
		return nil, err
	}
	var out []TestCase
	for _, list := range []struct {
		want  string
		cases []json.RawMessage
	}{{"block", t.Block}, {"ask", t.Ask}, {"pass", t.Pass}} {
		for _, raw := range list.cases {
			test, err := testCase(raw)
			if err != nil {
				return nil, err
			}
			test.Want = list.want
			out = append(out, test)
		}
	}
	return out, nil
}

// A Sequence is what a test says of the actions before the one it is about.
type Sequence struct {
	After []json.RawMessage `json:"after,omitempty"` // commands or actions, oldest first
	Gap   Span              `json:"gap,omitempty"`   // how long before each next one; a second, if none is given
}

// testCase reads a test: a string is a shell command, and so is an object's input where no kind is named.
func testCase(raw []byte) (TestCase, error) {
	if len(raw) > 0 && raw[0] == '"' {
		c := TestCase{Action: interlock.Action{Kind: interlock.KindShell}}
		err := strictjson.Decode(raw, &c.Action.Input)
		return c, err
	}
	var whole struct {
		interlock.Action
		Sequence
	}
	if err := strictjson.Decode(raw, &whole); err != nil {
		return TestCase{}, err
	}
	c := TestCase{Action: whole.Action, Gap: time.Duration(whole.Gap)}
	if c.Action.Kind == "" && c.Action.Input != "" {
		c.Action.Kind = interlock.KindShell
	}
	if c.Gap == 0 {
		c.Gap = time.Second
	}
	for _, earlier := range whole.After {
		before, err := testCase(earlier)
		if err != nil {
			return TestCase{}, err
		}
		c.After = append(c.After, before.Action)
	}
	return c, nil
}
