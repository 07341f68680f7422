package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/conform"
	"interlock/internal/ledger"
	"interlock/internal/maturity"
	"interlock/internal/quorum"
	"interlock/internal/sandbox"
	"interlock/internal/store"
)

// here says which clauses this home satisfies. It writes nothing to it.
func (c conformanceMASO) here(p *program) error {
	clauses, err := conform.Clauses()
	if err != nil {
		return err
	}
	opened, _, err := p.auditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	home, err := p.conformHome(opened)
	if err != nil {
		return err
	}
	results := conform.Here(clauses, home)
	tally := conform.Count(results, c.Strict)
	tally.Open = 0 // what a tier above this home's asks for is not open
	for _, r := range results {
		if r.Must && r.Word == conform.Fail {
			tally.Open++
		}
		if !c.JSON {
			fmt.Fprintln(p.stdout, r.Word, r.ID, printable(r.Seen))
		}
	}
	tally.OK = tally.Open == 0
	if c.JSON {
		err = writeLine(p.stdout, struct {
			conform.Tally
			Clauses []conform.Result `json:"clauses"`
		}{tally, results})
	} else {
		verdict := "this home is set up for its tier"
		if !tally.OK {
			verdict = fmt.Sprintf("this home is not set up for its tier: %d MUST are not satisfied", tally.Open)
		}
		fmt.Fprintf(p.stdout, "%d passed, %d failed, %d pending; %d clauses don't hang on settings, and interlock conformance maso drives them\n%s\n",
			tally.Passed, tally.Failed, tally.Pending, len(clauses)-len(results), verdict)
	}
	if err == nil && !tally.OK {
		return &exitCode{code: 1}
	}
	return err
}

// conformHome is how this home is set up, as far as clauses depend on that.
func (p *program) conformHome(opened *store.Store) (conform.Home, error) {
	facts, err := p.masoHome(opened)
	if err != nil {
		return conform.Home{}, err
	}
	evaluator, settings, err := p.evaluator()
	if err != nil {
		return conform.Home{}, err
	}
	h := conform.Home{Tier: facts.Tier, Profile: facts.Profile, Enforcing: settings.Mode == interlock.Enforcing, Agents: facts.Agents,
		Listed: facts.Listed, Rates: facts.Rates, Control: settings.Control != "" && settings.Control != "off", TTL: time.Duration(settings.ApprovalTTL),
		Checkpoint: facts.Checkpoint}
	for _, l := range evaluator.Rules.AllLimits() {
		if _, holds := facts.Most[l.ID]; holds {
			h.Caps = append(h.Caps, string(l.Measure))
		}
	}
	accountable := map[string]bool{}
	for _, t := range evaluator.Rules.Types() {
		h.Types++
		accountable[t.Name] = t.Accountable != ""
		if t.Alive == 0 {
			h.NotAlive = append(h.NotAlive, t.Name)
		}
	}
	bounds := evaluator.Rules.Runs()
	h.Turns, h.Retries = bounds.Turns, bounds.Retries
	for _, kind := range settings.KillOn {
		h.KillOn = append(h.KillOn, string(kind))
	}
	for _, role := range facts.Roles { // counts
		if quorum.Governs(role) {
			h.Governors++
		}
		if quorum.Answers(role) {
			h.Answerers++
		}
		h.Risk = h.Risk || role == quorum.RoleSuperadmin || role == quorum.RoleCouncil
	}
	agents, err := admission.Listed[interlock.AgentRecord](p.ctx, opened, ledger.Agent, ledger.Every(listAll))
	if err != nil {
		return h, err
	}
	for _, a := range agents.Rows {
		switch {
		case !a.Revoked.IsZero():
		case a.Observer:
			h.Observers++
		case accountable[cmp.Or(a.Type, a.ID)] || a.Principal != "":
			h.Answered++
		}
	}
	if h.Graduation, err = p.gateBefore(opened, facts); err != nil {
		return h, err
	}
	h.Sandbox, err = sandboxHere(p)
	return h, err
}

// gateBefore says why the gate before this home's tier is closed; empty: it is open, or there is none.
func (p *program) gateBefore(opened *store.Store, facts maturity.Home) (string, error) {
	book := &maturity.Book{Lately: facts.Now.UTC().Add(-lately)}
	if err := opened.Walk(p.ctx, func(e interlock.Entry) error {
		book.Add(e)
		return nil
	}); err != nil {
		return "", err
	}
	for _, g := range maturity.Of(facts, book).Gates {
		if g.To == facts.Tier && !g.Open {
			return fmt.Sprintf("the rules name tier %d, and what its gate takes is not all evidenced: interlock maso report", g.To), nil
		}
	}
	return "", nil
}

// sandboxHere says why no sandbox works on this machine.
func sandboxHere(p *program) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	dir, err := os.MkdirTemp("", "ilk-")
	if err != nil {
		return "", fmt.Errorf("making a temporary directory: %w", err)
	}
	defer os.RemoveAll(dir)
	if f := sandbox.Probe(p.ctx, filepath.Join(dir, "sandbox"), self); !f.Works {
		return cmp.Or(f.Missing, "interlock exec --report says why"), nil
	}
	return "", nil
}
