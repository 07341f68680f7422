package ruleset

import (
	"encoding/json"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/internal/strictyaml"
)

// A checker refuses documents that are well formed and still wrong.
type checker struct {
	loader *loader
	doc    *strictyaml.Document
	file   string
	user   bool
}

// profileForm is how a sandbox profile is named.
var profileForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
})

var idForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z][a-z0-9]*([.-][a-z0-9]+)*$`)
})

// The bounds of what is loaded; they keep matching near flat and memory small.
const (
	maxRules        = 10_000
	maxPattern      = 1_000 // bytes
	maxLiteralFree  = 16    // patterns tried on every text
	maxReason       = 300   // bytes
	maxSublayer     = 99    // so that 2.1 and 2.99 read as what they are
	wideWildcardMin = 2     // plain characters a policy glob has at least
)

func (c *checker) document(d *Document) error {
	for i, r := range d.Rules {
		if r == nil {
			return c.doc.Errorf(fmt.Sprintf("/rules/%d", i), "the rule is empty")
		}
		if err := c.rule(r, fmt.Sprintf("/rules/%d", i)); err != nil {
			return err
		}
	}
	if len(c.loader.ids) > maxRules {
		return c.doc.Errorf("/rules", "there are more than %d rules", maxRules)
	}
	for i, p := range d.Profiles {
		at := fmt.Sprintf("/profiles/%d", i)
		if c.user {
			return c.doc.Errorf(at, "profiles grant, and operators' documents may only object; remove it and choose a shipped profile")
		}
		if p == nil {
			return c.doc.Errorf(at, "the profile is empty")
		}
		if err := c.profile(p, at); err != nil {
			return err
		}
	}
	if err := c.types(d.Types); err != nil {
		return err
	}
	if err := c.cedar(d.Cedar); err != nil {
		return err
	}
	if err := c.runs(d.Runs); err != nil {
		return err
	}
	if err := c.commits(d); err != nil {
		return err
	}
	if len(d.Governance) > 0 && !c.user {
		return c.doc.Errorf("/governance", "the program's own cases stand beside the code that runs them")
	}
	if err := governance(c.doc, d.Governance); err != nil {
		return err
	}
	if err := c.maso(d.Maso); err != nil {
		return err
	}
	if err := c.watch(d.Maso); err != nil {
		return err
	}
	if err := c.resolutions(d.Resolutions); err != nil {
		return err
	}
	return c.lists(d)
}

func (c *checker) lists(d *Document) error {
	for _, list := range []struct {
		at    string
		globs []string
	}{
		{"/policy/deny", d.Policy.Deny}, {"/policy/requiresApproval", d.Policy.RequiresApproval},
		{"/policy/autoApprove", d.Policy.AutoApprove}, {"/production", d.Production},
	} {
		for i, g := range list.globs {
			at := fmt.Sprintf("%s/%d", list.at, i)
			if g == "" {
				return c.doc.Errorf(at, "the glob is empty; remove it")
			}
			if list.at == "/policy/autoApprove" && len(strings.Trim(g, "*? ")) < wideWildcardMin {
				return c.doc.Errorf(at, "the glob would approve nearly everything; name at least %d characters", wideWildcardMin)
			}
		}
	}
	if err := c.danger(d.Danger); err != nil {
		return err
	}
	if err := c.loop(d.Loop); err != nil {
		return err
	}
	if err := c.budgets(d.Budgets); err != nil {
		return err
	}
	if err := c.limits(d.Limits); err != nil {
		return err
	}
	for i, s := range d.Scope {
		at := fmt.Sprintf("/scope/%d", i)
		if s.Agent == "" {
			return c.doc.Errorf(at+"/agent", "agent is missing; give a glob over agent ids or types")
		}
		if len(s.Allow) == 0 {
			return c.doc.Errorf(at+"/allow", "allow is empty; list the tools and commands, or use policy.deny")
		}
	}
	return nil
}

func (c *checker) rule(r *Rule, at string) error {
	if !idForm().MatchString(r.ID) || len(r.ID) > 80 {
		return c.doc.Errorf(at+"/id", "id must be lower-case words joined by dots and dashes, e.g. team.no-force-push")
	}
	if other, have := c.loader.ids[r.ID]; have {
		if c.user && other != c.file {
			return c.doc.Errorf(at+"/id",
				"the id %s is taken in %s; rules can be added, not replaced: choose another id", r.ID, other)
		}
		return c.doc.Errorf(at+"/id", "the id %s stands in %s already; choose another", r.ID, other)
	}
	c.loader.ids[r.ID] = c.file
	if r.Layer < 1 || r.Layer > 4 {
		return c.doc.Errorf(at+"/layer", "layer must be 1 (base laws), 2 (security), 3 (operational) or 4 (behavioural)")
	}
	if r.Sublayer < 0 || r.Sublayer > maxSublayer {
		return c.doc.Errorf(at+"/sublayer", "sublayer is a place inside the layer, from 1 to %d; leave it out for none", maxSublayer)
	}
	for i, p := range r.Profiles {
		if !idForm().MatchString(p) {
			return c.doc.Errorf(fmt.Sprintf("%s/profiles/%d", at, i), "name a profile, such as guard or asa")
		}
		doc, into := c.doc, c.loader.ruleset
		c.loader.backups = append(c.loader.backups, func() error {
			if _, known := into.profiles[p]; !known { // it would never hold, and nobody would notice
				return doc.Errorf(fmt.Sprintf("%s/profiles/%d", at, i), "there is no profile %s; known are %v", p, into.Profiles())
			}
			return nil
		})
	}
	if r.Verdict == interlock.Allow {
		return c.doc.Errorf(at+"/verdict", "a rule can only object: ask, deny or halt")
	}
	if r.Reason == "" || len(r.Reason) > maxReason || strings.ContainsAny(r.Reason, "\n\r") {
		return c.doc.Errorf(at+"/reason",
			"reason must be one plain sentence of at most %d bytes that an agent may read", maxReason)
	}
	if r.Match.Pattern != "" && len(r.Match.Pattern) > 8 && strings.Contains(r.Reason, r.Match.Pattern) {
		return c.doc.Errorf(at+"/reason", "reason repeats the pattern; say why instead")
	}
	for i, k := range r.Kinds {
		if !k.Valid() {
			return c.doc.Errorf(fmt.Sprintf("%s/kinds/%d", at, i), "unknown kind of action; known are %v", interlock.Kinds())
		}
	}
	for i, o := range r.Obligations {
		if !validObligation(o.Type) {
			return c.doc.Errorf(fmt.Sprintf("%s/obligations/%d/type", at, i), "unknown obligation")
		}
		if o.Type == interlock.ObligationSandbox && o.Note != "" && !profileForm().MatchString(o.Note) {
			return c.doc.Errorf(fmt.Sprintf("%s/obligations/%d/note", at, i),
				"the note of sandbox names the sandbox profile to use, e.g. build")
		}
	}
	if err := c.match(r, at+"/match"); err != nil {
		return err
	}
	if err := c.after(r, at+"/after"); err != nil {
		return err
	}
	return c.tests(r, at+"/tests")
}

func (c *checker) match(r *Rule, at string) error {
	m := r.Match
	if err := c.predicate(m.Predicate, at); err != nil {
		return err
	}
	if m.Predicate.compile().empty && !m.textual() {
		return c.doc.Errorf(at, "the rule would fire on everything; give impact conditions, a glob or a pattern")
	}
	for i, k := range m.Text {
		if !k.Valid() {
			return c.doc.Errorf(fmt.Sprintf("%s/text/%d", at, i), "unknown kind of text; known are %v", interlock.Kinds())
		}
	}
	for i, g := range m.Glob {
		if len(globLiterals(g)) == 0 {
			return c.doc.Errorf(fmt.Sprintf("%s/glob/%d", at, i),
				"the glob needs at least %d plain characters in a row", minLiteral)
		}
	}
	if m.Pattern == "" || !c.user && !c.loader.verify {
		return nil // the defaults' patterns are verified by a test, and a hook loads them on every call
	}
	if len(m.Pattern) > maxPattern {
		return c.doc.Errorf(at+"/pattern", "the pattern has %d bytes, at most %d are read", len(m.Pattern), maxPattern)
	}
	parsed, err := syntax.Parse(m.Pattern, syntax.Perl)
	if err != nil {
		return c.doc.Errorf(at+"/pattern", "the pattern is not RE2: %.200s", err.Error())
	}
	if _, err := syntax.Compile(parsed.Simplify()); err != nil {
		return c.doc.Errorf(at+"/pattern", "the pattern does not compile: %.200s", err.Error())
	}
	if groups, _ := patternLiterals(m.Pattern); len(groups) == 0 && len(m.Glob) == 0 {
		if c.loader.free++; c.loader.free > maxLiteralFree {
			return c.doc.Errorf(at+"/pattern",
				"the pattern holds no text of %d bytes that must occur, and %d such patterns stand already; make it more specific",
				minLiteral, maxLiteralFree)
		}
	}
	return nil
}

// after checks a condition on earlier actions.
func (c *checker) after(r *Rule, at string) error {
	a := r.After
	if a == nil {
		return nil
	}
	if err := c.predicate(a.Predicate, at); err != nil {
		return err
	}
	switch {
	case r.Match.Predicate.compile().empty:
		return c.doc.Errorf(at, "a rule about earlier actions needs impact conditions in its match")
	case a.Predicate.compile().empty:
		return c.doc.Errorf(at, "say what an earlier action must have done, with conditions as in match")
	case a.Same != "" && a.Same != sameTarget:
		return c.doc.Errorf(at+"/same", "same must be %s", sameTarget)
	case a.Times < 0 || a.Times > maxTimes:
		return c.doc.Errorf(at+"/times", "times must be from 1 to %d", maxTimes)
	case time.Duration(a.Within) > interlock.RecentWindow:
		return c.doc.Errorf(at+"/within", "nothing is remembered for longer than %s", interlock.RecentWindow)
	}
	return nil
}

func (c *checker) predicate(p Predicate, at string) error {
	for i, v := range p.Kind {
		if kindBit(v) == 0 {
			return c.doc.Errorf(fmt.Sprintf("%s/kind/%d", at, i), "unknown impact kind; known are %v", interlock.ImpactKinds())
		}
	}
	for i, v := range p.Reach {
		if reachBit(v) == 0 {
			return c.doc.Errorf(fmt.Sprintf("%s/reach/%d", at, i), "unknown reach; known are %v", interlock.Reaches())
		}
	}
	for i, v := range p.Reversibility {
		if reversibilityBit(v) == 0 {
			return c.doc.Errorf(fmt.Sprintf("%s/reversibility/%d", at, i), "unknown reversibility; known are %v",
				interlock.Reversibilities())
		}
	}
	for i, v := range p.Confidence {
		if confidenceBit(v) == 0 {
			return c.doc.Errorf(fmt.Sprintf("%s/confidence/%d", at, i), "unknown confidence; known are %v",
				interlock.Confidences())
		}
	}
	for _, list := range []struct {
		name  string
		globs []string
	}{{"via", p.Via}, {"except", p.Except}, {"target", p.Target}} {
		for i, g := range list.globs {
			if g == "" {
				return c.doc.Errorf(fmt.Sprintf("%s/%s/%d", at, list.name, i), "the glob is empty; remove it")
			}
		}
	}
	if p.Over < 0 {
		return c.doc.Errorf(at+"/over", "over must not be negative")
	}
	return nil
}

func (c *checker) tests(r *Rule, at string) error {
	t := r.Tests
	if !c.user {
		if len(t.Block)+len(t.Ask) == 0 || len(t.Pass) == 0 {
			return c.doc.Errorf(at, "a default needs a test that it stops and a test that it lets pass")
		}
	}
	if len(t.Block) > 0 && r.Verdict == interlock.Ask {
		return c.doc.Errorf(at+"/block", "the rule asks, so it can't block; move the tests to ask")
	}
	if len(t.Ask) > 0 && r.Verdict != interlock.Ask {
		return c.doc.Errorf(at+"/ask", "the rule denies, so it can't ask; move the tests to block")
	}
	for _, list := range []struct {
		name  string
		cases []json.RawMessage
	}{{"block", t.Block}, {"ask", t.Ask}, {"pass", t.Pass}} {
		for i, raw := range list.cases {
			if len(raw) == 0 || raw[0] != '"' && raw[0] != '{' {
				return c.doc.Errorf(fmt.Sprintf("%s/%s/%d", at, list.name, i), "a test is a shell command or an action")
			}
		}
	}
	return nil
}

func (c *checker) profile(p *Profile, at string) error {
	if !idForm().MatchString(p.Name) {
		return c.doc.Errorf(at+"/name", "name must be lower-case words joined by dashes")
	}
	if _, have := c.loader.ruleset.profiles[p.Name]; have {
		return c.doc.Errorf(at+"/name", "the profile %s stands already", p.Name)
	}
	if p.About == "" || len(p.Rows) == 0 {
		return c.doc.Errorf(at, "a profile needs about and rows")
	}
	if p.Judge != "" && p.Judge != JudgeRequired {
		return c.doc.Errorf(at+"/judge", "judge is required, or left out where a judge can only object")
	}
	if p.Risk < 0 || p.Risk > 100 {
		return c.doc.Errorf(at+"/risk", "risk is a score from 1 to 100, or 0 for never")
	}
	for i, r := range p.Reach {
		if reachBit(r) == 0 {
			return c.doc.Errorf(fmt.Sprintf("%s/reach/%d", at, i), "unknown reach; known are %v", interlock.Reaches())
		}
	}
	seen := map[string]bool{}
	for i, row := range p.Rows {
		here := fmt.Sprintf("%s/rows/%d", at, i)
		if !idForm().MatchString(row.ID) || seen[row.ID] {
			return c.doc.Errorf(here+"/id", "each row needs its own id of lower-case words joined by dashes")
		}
		seen[row.ID] = true
		if row.Verdict != interlock.Allow && row.Reason == "" {
			return c.doc.Errorf(here+"/reason", "a row that objects needs a reason")
		}
		if err := c.predicate(row.When, here+"/when"); err != nil {
			return err
		}
	}
	return nil
}

func validObligation(name string) bool {
	switch name {
	case interlock.ObligationConfirm, interlock.ObligationVerify, interlock.ObligationAdmin, interlock.ObligationCouncil,
		interlock.ObligationDual, interlock.ObligationRedact, interlock.ObligationSandbox, interlock.ObligationDryRun,
		interlock.ObligationCooldown, interlock.ObligationApprovers, interlock.ObligationWithin:
		return true
	}
	return false
}
