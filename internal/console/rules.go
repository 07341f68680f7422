package console

import (
	"encoding/json"
	"net/http"
	"sort"
	"strings"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/internal/ruletest"
)

// hitReads is how many of the newest events the pages about rules count hits in.
const hitReads = 2000

// lately is what was decided in the newest events.
type lately struct {
	Decisions int
	rules     map[string]*auditlog.Hits
	kinds     map[string]*rate
	gates     map[string]*rate
}

// A rate is how the decisions about one kind of action came out, or those in which one gate was the one that is named.
type rate struct {
	Name   string
	Counts tallies
	All    int
}

// Denied is the share of denials, in percent.
func (r rate) Denied() int { return (r.Denials()*100 + r.All/2) / max(r.All, 1) }

// Denials is how many were denied or halted.
func (r rate) Denials() int { return r.Counts.Deny + r.Counts.Halt }

// Asked is the share of questions, in percent.
func (r rate) Asked() int { return (r.Counts.Ask*100 + r.All/2) / max(r.All, 1) }

func (l *lately) add(d auditlog.Decided) {
	l.Decisions++
	gate := "nothing objected"
	if f := d.Decision.Decisive(); f != nil {
		gate = f.Gate
	}
	count(l.kinds, string(d.Proposal.Action.Kind), answerOf(d))
	count(l.gates, gate, answerOf(d))
}

func count(by map[string]*rate, name string, answer interlock.Verdict) {
	one := by[name]
	if one == nil {
		one = &rate{Name: name}
		by[name] = one
	}
	one.All++
	one.Counts.add(answer)
}

// titled is what the template of rates gets.
func titled(title string, list []*rate) any {
	return struct {
		Title string
		Rates []*rate
	}{title, list}
}

// rates lists rates, the most frequent first.
func rates(by map[string]*rate) []*rate {
	list := make([]*rate, 0, len(by))
	for _, one := range by {
		list = append(list, one)
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].All > list[j].All || list[i].All == list[j].All && list[i].Name < list[j].Name
	})
	return list
}

// Kinds lists the rates by kind of action.
func (l *lately) Kinds() []*rate { return rates(l.kinds) }

// Gates lists the rates by the gate that was named.
func (l *lately) Gates() []*rate { return rates(l.gates) }

// lately counts what was decided in the newest events.
func (c *Console) lately(r *http.Request) (*lately, error) {
	entries, err := c.config.Log.Entries(r.Context(), "", ledger.Before(-1, hitReads))
	if err != nil {
		return nil, err
	}
	l := &lately{rules: map[string]*auditlog.Hits{}, kinds: map[string]*rate{}, gates: map[string]*rate{}}
	for _, e := range entries {
		if !auditlog.IsDecision(e.Type) {
			continue
		}
		if d, err := auditlog.ReadDecision(e); err == nil && !d.Canary {
			auditlog.Tally(l.rules, d.Decision, d.Event.Recorded)
			l.add(d)
		}
	}
	return l, nil
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
	counted, err := c.lately(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	rules := c.config.Facts.Rules()
	var hit, quiet []ruled
	named := map[string]bool{}
	for _, h := range auditlog.Ranked(counted.rules) {
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
		*lately
		Q      string
		Rules  []ruled
		Digest interlock.Digest
		All    int
	}{counted, q, append(hit, quiet...), rules.Digest(), len(rules.Rules())})
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
	rules := facts.Rules()
	rule, known := rules.Rule(id)
	if !known {
		c.render(w, r, http.StatusNotFound, "rule.html", "Rule "+shorten(id, 80), nil)
		return
	}
	counted, err := c.lately(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	results, err := ruletest.RunRule(rules, facts.Analyser, rule)
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
		LooksFor  []clause
	}{rule, counted.rules[rule.ID], counted.Decisions, results, failed, string(match), looksFor(rule)})
}
