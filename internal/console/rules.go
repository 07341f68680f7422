package console

import (
	"encoding/json"
	"net/http"
	"strings"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ruleset"
	"interlock/internal/ruletest"
)

// hitReads is how many of the newest events the pages about rules count hits in.
const hitReads = 2000

// hits counts how often each rule objected lately, and in how many decisions.
func (c *Console) hits(r *http.Request) (byRule map[string]*auditlog.Hits, decisions int, err error) {
	entries, err := c.config.Log.Recent(r.Context(), "", -1, hitReads)
	if err != nil {
		return nil, 0, err
	}
	byRule = map[string]*auditlog.Hits{}
	for _, e := range entries {
		if !auditlog.IsDecision(e.Type) {
			continue
		}
		if d, err := auditlog.ReadDecision(e); err == nil {
			auditlog.Tally(byRule, d.Decision, d.Event.Recorded)
			decisions++
		}
	}
	return byRule, decisions, nil
}

// A ruled is one rule in a list.
type ruled struct {
	*ruleset.Rule
	Hits  *auditlog.Hits // nil: none lately
	Tests int
}

// rulesPage lists the rules in force, those that objected lately first.
func (c *Console) rulesPage(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query().Get("q")
	if len(q) > maxFilter {
		c.fail(w, r, interlock.Errorf(interlock.CodeInvalid, "q", "is longer than %d bytes", maxFilter))
		return
	}
	byRule, decisions, err := c.hits(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	rules := c.config.Facts.Rules
	var hit, quiet []ruled
	named := map[string]bool{}
	for _, h := range auditlog.Ranked(byRule) {
		if rule, known := rules.Rule(h.Rule); known && aboutRule(rule, q) {
			hit = append(hit, ruled{rule, h, testsOf(rule)})
			named[rule.ID] = true
		}
	}
	for _, rule := range rules.Rules() {
		if !named[rule.ID] && aboutRule(rule, q) {
			quiet = append(quiet, ruled{rule, nil, testsOf(rule)})
		}
	}
	c.render(w, r, http.StatusOK, "rules.html", "Rules", struct {
		Q         string
		Rules     []ruled
		Decisions int
		Digest    interlock.Digest
		All       int
	}{q, append(hit, quiet...), decisions, rules.Digest(), len(rules.Rules())})
}

func testsOf(r *ruleset.Rule) int { return len(r.Tests.Block) + len(r.Tests.Ask) + len(r.Tests.Pass) }

func aboutRule(r *ruleset.Rule, q string) bool {
	text := strings.ToLower(r.ID + "\n" + r.Reason + "\n" + strings.Join(r.Tags, "\n"))
	return strings.Contains(text, strings.ToLower(q))
}

// rulePage shows one rule, runs its tests now, and says how often it objected lately.
func (c *Console) rulePage(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	facts := c.config.Facts
	rule, known := facts.Rules.Rule(id)
	if !known {
		c.render(w, r, http.StatusNotFound, "rule.html", "Rule "+shorten(id, 80), nil)
		return
	}
	byRule, decisions, err := c.hits(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	results, err := ruletest.RunRule(facts.Rules, facts.Analyser, rule)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	match, err := json.MarshalIndent(struct {
		Kinds []interlock.Kind `json:"kinds,omitempty"`
		Match ruleset.Match    `json:"match"`
		After *ruleset.After   `json:"after,omitempty"`
	}{rule.Kinds, rule.Match, rule.After}, "", "  ")
	if err != nil {
		c.fail(w, r, err)
		return
	}
	failed := 0
	for _, result := range results {
		if result.Fault != "" {
			failed++
		}
	}
	c.render(w, r, http.StatusOK, "rule.html", "Rule "+rule.ID, &struct {
		*ruleset.Rule
		Hits      *auditlog.Hits
		Decisions int
		Results   []ruletest.Result
		Failed    int
		Match     string
	}{rule, byRule[rule.ID], decisions, results, failed, string(match)})
}
