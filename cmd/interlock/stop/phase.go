package stop

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"interlock"
	"interlock/cmd/interlock/audit"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission/containment"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/ruleset"
	"interlock/internal/store"
)

type PhaseCommand struct {
	Show  phaseShow  `cmd:"" default:"withargs" help:"Show what is in another phase than primary, since when and why."`
	Set   phaseSet   `cmd:"" help:"Move something to another phase: at once to a stricter one, one step at a time back."`
	Cause phaseCause `cmd:"" help:"Say what an emergency came of, before another person answers for leaving it."`
}

type phaseShow struct {
	On   string `arg:"" optional:"" help:"Show one: agent:NAME, type:NAME, run:NAME, system, layer:gates, judge or people." placeholder:"NAME"`
	JSON bool   `name:"json" help:"Print JSON."`
}

// A phaseLine is what is in a phase, as it is listed.
type phaseLine struct {
	Name    string      `json:"name"`
	Phase   phase.Phase `json:"phase"`
	Since   time.Time   `json:"since,omitzero"`
	Trigger string      `json:"trigger,omitempty"`
	By      string      `json:"by,omitempty"`
	Until   time.Time   `json:"contingency_at,omitzero"`
	Only    string      `json:"agent,omitempty"`
	Why     string      `json:"why,omitempty"`
	Cause   string      `json:"root_cause,omitempty"`
	Loosens string      `json:"loosened_by,omitempty"`
	Before  string      `json:"snapshot,omitempty"`
	// what those that are held may have left half done, and nobody has told the end of since
	Half    []auditlog.HalfDone `json:"half_done,omitempty"`
	Instead string              `json:"instead,omitempty"` // the agent that stands in
	For     string              `json:"for,omitempty"`     // whom this one stands in for
	Writes  time.Time           `json:"writes_at,omitzero"`
	Heals   time.Time           `json:"heals_at,omitzero"`
}

// onName is what somebody calls a hold by: there is one system.
func onName(name string) string {
	if name == phase.ScopeSystem {
		return ledger.HoldName(ledger.HoldSystem, phase.SystemKey)
	}
	return name
}

// actorHolds reads the holds on those who act that a store has, those of breakers or the others.
func actorHolds(p *cli.Program, opened *store.Store, breakers bool) (list []ledger.HoldBody, err error) {
	all, err := audit.HoldsOf(p, opened)
	for _, h := range all {
		if h.OnActors() && (h.Breaker != nil) == breakers {
			list = append(list, h)
		}
	}
	return list, err
}

// Run shows the phases.
func (c *phaseShow) Run(p *cli.Program) error {
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	holds, err := actorHolds(p, opened, false)
	if err != nil {
		return err
	}
	lines := []phaseLine{}
	for n := range holds {
		if c.On == "" || holds[n].Name() == onName(c.On) {
			line := phaseLineOf(&holds[n], p)
			if line.Half, err = halfDone(p, opened, &holds[n]); err != nil {
				return err
			}
			lines = append(lines, line)
		}
	}
	if c.On != "" && len(lines) == 0 {
		if _, _, ok := ledger.Actors(onName(c.On)); !ok {
			return interlock.Errorf(interlock.CodeInvalid, "NAME", "names nothing that has a phase; `interlock phase show --help` says what does")
		}
		lines = append(lines, phaseLine{Name: onName(c.On), Phase: phase.Primary})
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, lines)
	}
	if len(lines) == 0 {
		_, err = fmt.Fprintf(p.Stdout, "everything is in phase %s\n", phase.Primary.Title())
		return err
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ON\tPHASE\tSINCE\tTRIGGER\tBY\tLOOSENED BY\tWHY")
	for _, l := range lines {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", cli.Printable(l.Name), l.Phase.Title(), cli.When(l.Since),
			cli.OrDash(l.Trigger),
			cli.OrDash(cli.Printable(l.By)), cli.OrDash(l.Loosens), cli.Brief(whyLine(l)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprint(p.Stdout, halfDoneText(lines))
	return err
}

// maxHalfShown is how many actions that may be half done are listed for people.
const maxHalfShown = 20

// halfDone is what may be half done under a hold. Where the rules can't be read, nobody has declared how that is resolved.
func halfDone(p *cli.Program, log *store.Store, h *ledger.HoldBody) ([]auditlog.HalfDone, error) {
	rules := &ruleset.Ruleset{}
	if evaluator, _, err := p.Evaluator(); err == nil {
		rules = evaluator.Rules
	}
	return containment.HalfDoneUnder(p.Ctx, log, h, rules)
}

// halfDoneText lists for people what may be half done, each action once.
func halfDoneText(lines []phaseLine) string {
	var out strings.Builder
	seen := map[string]bool{}
	for _, l := range lines {
		for _, half := range l.Half {
			if seen[half.Event] {
				continue
			}
			if seen[half.Event] = true; len(seen) == 1 {
				out.WriteString("\nmay be half done:\n")
			}
			if len(seen) <= maxHalfShown {
				fmt.Fprintf(&out, "  %s: %s\n    %s (event %.12s)\n", cli.Printable(half.Agent), cli.Brief(cli.Printable(half.Did)), half.Resolution, half.Event)
			}
		}
	}
	if more := len(seen) - maxHalfShown; more > 0 {
		fmt.Fprintf(&out, "  and %d more; --json lists them\n", more)
	}
	return out.String()
}

func phaseLineOf(h *ledger.HoldBody, p *cli.Program) phaseLine {
	is := h.AsOf(p.Now().UTC())
	l := phaseLine{Name: h.Name(), Phase: is.Phase, Since: is.Since, Trigger: is.Trigger, By: is.By, Until: is.Deadline, Only: h.Only,
		Why: h.Why, Before: h.Snapshot, Instead: h.Instead, Heals: h.Heals}
	if b := h.Backup; b != nil {
		l.Phase, l.For, l.Writes = phase.Primary, b.For, b.Writes
		return l
	}
	if h.Hold.Cause != nil {
		l.Cause = h.Hold.Cause.What
	}
	if down, known := phase.Down(is.Phase, tier(p)); known {
		l.Loosens = down.Who()
	}
	return l
}

func whyLine(l phaseLine) string {
	var words []string
	switch {
	case l.Instead != "":
		words = []string{l.Instead + " stands in"}
	case l.For != "" && l.Writes.IsZero():
		words = []string{"reads, and has not acted yet"}
	case l.For != "":
		words = []string{"reads until " + cli.When(l.Writes)}
	}
	words = append(words, l.Why)
	if l.Only != "" {
		words = append(words, "only "+l.Only+" goes on")
	}
	if !l.Until.IsZero() {
		words = append(words, "contingency at "+cli.When(l.Until))
	}
	if !l.Heals.IsZero() {
		words = append(words, "heals by itself at "+cli.When(l.Heals)+" at the earliest")
	}
	if l.Cause != "" {
		words = append(words, "came of: "+l.Cause)
	}
	return strings.Join(words, "; ")
}

// tier is the tier in force, or 0 where the rules can't be read: then the longer way back is named.
func tier(p *cli.Program) int {
	settings, err := p.Settings()
	if err != nil {
		return 2
	}
	evaluator, err := embedded.NewEvaluator(settings)
	if err != nil {
		return 2
	}
	return evaluator.Rules.Maso().Tier
}

type phaseSet struct {
	cli.OrderFlags
	On     string `arg:"" help:"agent:NAME, type:NAME, run:NAME, system, layer:gates, judge or people." placeholder:"NAME"`
	To     string `arg:"" help:"P (primary), A (alternate), C (contingency) or E (emergency)." placeholder:"PHASE"`
	Agent  string `help:"The one agent that goes on in contingency." placeholder:"NAME"`
	Proof  string `help:"What shows that nothing tainted lives on: a ticket, a report." placeholder:"TEXT"`
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Help is what `interlock phase set --help` adds.
func (phaseSet) Help() string {
	return "A signed order, recorded as PHASE_CHANGED. Whoever answers requests may tighten, by any number of steps. Back goes one step at a\n" +
		"time: C to A and A to P (with --proof) by an admin, E to C by a superadmin or the council, once another person has named\n" +
		"the root cause. At tier 1 emergency is left for P directly, and without a tier by an admin alone."
}

// Run gives the order.
func (c *phaseSet) Run(p *cli.Program) error {
	to, known := phase.Parse(c.To)
	if !known {
		return interlock.Errorf(interlock.CodeInvalid, "PHASE", "%.20q is no phase; name P, A, C or E", c.To)
	}
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	on := onName(c.On)
	holds, err := actorHolds(p, backend.Store, false)
	if err != nil {
		return err
	}
	verb, from := interlock.VerbTightenPhase, phase.Primary
	for n := range holds {
		if holds[n].Name() == on {
			from = holds[n].At(p.Now().UTC()).Phase
		}
	}
	if to.Compare(from) < 0 || to == from && to == phase.Contingency && c.Agent != "" {
		verb = interlock.VerbLoosenPhase
	}
	detail := containment.PhaseDetail{To: to, Only: c.Agent, Proof: c.Proof}
	given, done, err := p.OrderNew(backend, c.OrderFlags, verb, on, detail.String(), c.Reason)
	if err != nil {
		return err
	}
	return p.Moved(c.JSON, given, done, "%s went from phase "+from.Title()+" to "+to.Title()+", by order of %s")
}

type phaseCause struct {
	cli.OrderFlags
	On     string `arg:"" help:"What is in emergency, such as system." placeholder:"NAME"`
	Reason string `required:"" help:"The root cause, and what has been done about it." placeholder:"TEXT"`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Help is what `interlock phase cause --help` adds.
func (phaseCause) Help() string {
	return "A signed order of an admin or of one of the council, recorded as ROOT_CAUSE. It changes no phase: whoever answers for the risk, a\n" +
		"superadmin or one of the council and another person, then leaves the emergency with `interlock phase set`."
}

// Run gives the order.
func (c *phaseCause) Run(p *cli.Program) error {
	return p.PlainOrder(c.OrderFlags, interlock.VerbRootCause, onName(c.On), c.Reason, c.JSON)
}
