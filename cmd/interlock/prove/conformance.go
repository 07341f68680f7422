// Package prove holds the commands that say how good this program, a home of it and its judges are.
package prove

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
	"interlock/internal/config"
	"interlock/internal/conform"
	"interlock/internal/ledger"
	"interlock/internal/maturity"
	"interlock/internal/quorum"
	"interlock/internal/sandbox"
	"interlock/internal/store"
)

type ConformanceCommand struct {
	MCPAQL conformanceMCPAQL `cmd:"" name:"mcp-aql" help:"Hold a live server of this program against MCP-AQL, clause by clause."`
	MASO   conformanceMASO   `cmd:"" name:"maso" help:"Hold throw-away homes of this program against MASO Execution Control, clause by clause."`
	ASA    conformanceASA    `cmd:"" name:"asa" help:"Hold throw-away homes of this program against the Asimov Safety Architecture, clause by clause."`
	MACE   conformanceMACE   `cmd:"" name:"mace" help:"Hold throw-away homes of this program against the MACE safety boundaries, clause by clause."`
}

// A homeRun says which clauses this home satisfies. It writes nothing to it.
type homeRun struct {
	name    string // of the specification, as the command has it
	clauses []conform.Clause
	set     string // what a home is that satisfies them
	strict  bool
	json    bool
}

// look says it. Its error says that a MUST is not satisfied.
func (c homeRun) look(p *cli.Program) error {
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	home, err := conformHome(p, opened)
	if err != nil {
		return err
	}
	results := conform.Here(c.clauses, home)
	tally := conform.Count(results, c.strict)
	tally.Open = 0 // what a tier above this home's asks for is not open
	for _, r := range results {
		if r.Must && r.Word == conform.Fail {
			tally.Open++
		}
		if !c.json {
			fmt.Fprintln(p.Stdout, r.Word, r.ID, cli.Printable(r.Seen))
		}
	}
	tally.OK = tally.Open == 0
	if c.json {
		err = cli.WriteLine(p.Stdout, struct {
			conform.Tally
			Clauses []conform.Result `json:"clauses"`
		}{tally, results})
	} else {
		verdict := "this home is set up for " + c.set
		if !tally.OK {
			verdict = fmt.Sprintf("this home is not set up for %s: %d MUST are not satisfied", c.set, tally.Open)
		}
		fmt.Fprintf(p.Stdout, "%d passed, %d failed, %d pending; %d clauses don't hang on settings, and interlock conformance %s drives them\n%s\n",
			tally.Passed, tally.Failed, tally.Pending, len(c.clauses)-len(results), c.name, verdict)
	}
	if err == nil && !tally.OK {
		return &cli.ExitCode{Code: 1}
	}
	return err
}

// conformHome is how this home is set up, as far as clauses depend on that.
func conformHome(p *cli.Program, opened *store.Store) (conform.Home, error) {
	facts, err := masoHome(p, opened)
	if err != nil {
		return conform.Home{}, err
	}
	evaluator, settings, err := p.Evaluator()
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
		switch role {
		case quorum.RoleSuperadmin:
			h.Superadmins++
		case quorum.RoleAdmin:
			h.Admins++
		case quorum.RoleAuditor:
			h.Auditors++
		case quorum.RoleCouncil:
			h.Seats++
		}
	}
	h.Quorum, h.Governs = settings.Council.Terms().Quorum, settings.Council.Governs
	h.Texts, h.Redacts, h.Inputs = cmp.Or(string(settings.ResultTexts()), string(config.TextsOff)), settings.RedactsPersonal(), !settings.ForgetInputs
	h.Loop = loopHere(evaluator, settings)
	agents, err := core.Listed[interlock.AgentRecord](p.Ctx, opened, ledger.Agent, ledger.Every(listAll))
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
	if h.Graduation, err = gateBefore(p, opened, facts); err != nil {
		return h, err
	}
	h.Sandbox, err = sandboxHere(p)
	return h, err
}

// loopHere is how the safety loop is set up.
func loopHere(evaluator *admission.Evaluator, settings config.Config) conform.Loop {
	set := evaluator.Rules.Loop(interlock.AgentRecord{})
	l := conform.Loop{Steps: set.Steps, Tolerance: set.Tolerance, Channels: len(settings.Channels), Acknowledges: settings.MCPAcknowledge,
		CodeTTL: time.Duration(settings.CodeTTL), TokenTTL: cmp.Or(time.Duration(settings.MCPTokenTTL), 5*time.Minute),
		Skew: cmp.Or(time.Duration(settings.MCPClockTolerance), 30*time.Second)}
	if profile, known := evaluator.Rules.Profile(settings.Profile); known {
		l.Unregistered = profile.Trust.String()
	}
	for _, d := range evaluator.Rules.Danger() {
		if d.User {
			l.Declared++
		}
	}
	return l
}

// gateBefore says why the gate before this home's tier is closed; empty: it is open, or there is none.
func gateBefore(p *cli.Program, opened *store.Store, facts maturity.Home) (string, error) {
	book := &maturity.Book{Lately: facts.Now.UTC().Add(-lately)}
	if err := opened.Walk(p.Ctx, func(e interlock.Entry) error {
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
func sandboxHere(p *cli.Program) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	dir, err := os.MkdirTemp("", "ilk-")
	if err != nil {
		return "", fmt.Errorf("making a temporary directory: %w", err)
	}
	defer os.RemoveAll(dir)
	if f := sandbox.Probe(p.Ctx, filepath.Join(dir, "sandbox"), self); !f.Works {
		return cmp.Or(f.Missing, "interlock exec --report says why"), nil
	}
	return "", nil
}

// A conformanceRun holds throw-away homes of this program against clauses.
type conformanceRun struct {
	name    string // in the name of the evidence file
	clauses []conform.Clause
	checks  []conform.Check
	strict  bool
	json    bool
	without string                         // what may be pending
	items   func(results []conform.Result) // optional: prints what the clauses come to, before the counts
}

// drive makes every check and prints what was seen, the counts and the verdict. Its error says that a MUST is not met, or where strict a clause.
func (c conformanceRun) drive(p *cli.Program) error {
	var results []conform.Result
	err := driven(p, func(d *conform.Driver) error {
		results = conform.Run(p.Ctx, d, c.clauses, c.checks, func(r conform.Result) {
			if !c.json {
				fmt.Fprintln(p.Stdout, r.Word, r.ID, r.Seen)
			}
		})
		return p.Ctx.Err()
	})
	if err != nil {
		return err
	}
	tally := conform.Count(results, c.strict)
	path, err := writeEvidence(c.name, results, tally)
	if err != nil {
		return err
	}
	if c.json {
		for n := range results {
			results[n].Steps = nil // the evidence file has them
		}
		err = cli.WriteLine(p.Stdout, struct {
			conform.Tally
			Evidence string           `json:"evidence"`
			Clauses  []conform.Result `json:"clauses"`
		}{tally, path, results})
	} else {
		if c.items != nil {
			c.items(results)
		}
		fmt.Fprintf(p.Stdout, "%d passed, %d failed, %d pending, of %d clauses\nevidence: %s\n%s\n", tally.Passed, tally.Failed, tally.Pending,
			len(results), path, verdictOf(tally, c.strict, c.without))
	}
	if err == nil && !tally.OK {
		return &cli.ExitCode{Code: 1}
	}
	return err
}

// verdictOf says what the counts come to.
func verdictOf(t conform.Tally, strict bool, without string) string {
	switch {
	case !t.OK && strict:
		return fmt.Sprintf("not conformant: %d clauses failed or are pending", t.Open)
	case !t.OK:
		return fmt.Sprintf("not conformant: %d MUST failed or are pending", t.Open)
	case strict || t.Pending == 0:
		return "conformant"
	}
	return "conformant, without " + without
}

type conformanceASA struct {
	Strict bool `help:"Every clause has to pass, and not the MUSTs alone; also what needs several machines."`
	Here   bool `help:"Say instead whether this home's settings have both gates. Nothing is changed."`
	JSON   bool `name:"json" help:"Print one JSON object."`
}

// Help is what `interlock conformance asa --help` adds.
func (conformanceASA) Help() string {
	return "Holds throw-away homes of this program, with a judge of their own, against the Internet-Draft of the Asimov Safety Architecture.\n" +
		"Your own home, settings and log are not touched. Each line is pass, fail or pending, a clause, and what was seen; then come the\n" +
		"eight items of its section 20. Exits 1 unless every MUST passes; topology and signed messages may be pending, except with --strict."
}

// Run makes every check, or looks at this home.
func (c conformanceASA) Run(p *cli.Program) error {
	if c.Here {
		return c.here(p)
	}
	clauses, err := conform.ASAClauses()
	if err != nil {
		return err
	}
	if !c.JSON {
		fmt.Fprintln(p.Stdout, conform.Draft)
	}
	return conformanceRun{name: "asa", clauses: clauses, checks: conform.ASAChecks(), strict: c.Strict, json: c.JSON,
		without: "topology and signed messages", items: func(results []conform.Result) {
			for _, r := range results {
				if n := conform.Item(r.ID); n > 0 && r.Word == conform.Pass {
					fmt.Fprintf(p.Stdout, "item %d: %s\n", n, r.Word)
				} else if n > 0 {
					fmt.Fprintf(p.Stdout, "item %d: %s: %s\n", n, r.Word, r.Seen)
				}
			}
		}}.drive(p)
}

// here says which of the draft's items the settings of this home can meet at all.
func (c conformanceASA) here(p *cli.Program) error {
	settings, err := p.Settings()
	if err != nil {
		return err
	}
	if settings, err = p.InForce(settings); err != nil {
		return err
	}
	result := conform.Result{ID: "ASA-20-1", Must: true, Word: conform.Pass, Seen: "profile asa, and a judge is named"}
	switch {
	case !settings.Judge.IsSet():
		result.Word, result.Seen = conform.Fail, "item 1, both gates: no judge is named in the settings; docs/judge.md says how"
	case !Alone(settings):
		result.Word = conform.Fail
		result.Seen = "item 1, both gates on every action: the profile is " + settings.Profile + ", and only asa wants the judge's allow"
	}
	if c.JSON {
		err = cli.WriteLine(p.Stdout, result)
	} else {
		_, err = fmt.Fprintf(p.Stdout, "%s\n%s %s %s\n", conform.Draft, result.Word, result.ID, result.Seen)
	}
	if err == nil && result.Word != conform.Pass {
		return &cli.ExitCode{Code: 1}
	}
	return err
}
