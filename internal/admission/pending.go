package admission

import (
	"context"
	"slices"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/admission/judging"
	"interlock/internal/impact"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// A pendingDecision is one decision while it is made: loaded, folded, decided, collected and committed. Whatever it reads is
// loaded before it is decided; deciding and collecting are functions of that, so that a commit that lost a race costs no more
// than loading and deciding again. What a feature refers to, finds and writes is one row of [looks].
type pendingDecision struct {
	*Case
	a    *Admission
	ctx  context.Context     // for what is looked up only where a breaker opens
	by   interlock.Requester // its requester, as the door names it
	said *interlock.Loop     // what the door says of the monitored execution
	read impact.Analysis     // of the action, as the door knows it

	question *judging.Inquiry // what judges may have answered before
	also     []ledger.Ref     // what it reads besides its requester's part, as far as the proposal says

	// what it is made from, besides the case and the rules in force
	ground      core.DecisionRows
	foundAny    bool                        // of what looks refer to
	asked       int                         // how many questions its agent has put within an hour, where it asks another
	overdueAsks []interlock.ApprovalRequest // likewise: one that is overdue
	now         time.Time                   // as the event tells it

	standing  ledger.Standing // that of the ground, without what does not count
	begun     ledger.Standing // with an approval that goes on counting, see [pendingDecision.continued]
	goesOn    bool            // there is one
	uncounted error           // why an order does not count
	invalid   error           // why something that was signed does not count
	analysis  impact.Analysis // with what is known of who wrote and fetched what it runs
	rules     *ruleset.Ruleset
	over      []ledger.HoldBody  // the holds over its requester
	done      ledger.Done        // by its execution
	tallies   []ledger.TallyBody // how much its agent and its type were decided lately, where breakers count

	made   evaluation
	change ledger.Change
	opened *interlock.ApprovalRequest // the request that it opens
	fresh  *core.Issued               // the challenge that it opens
	shown  interlock.Proposal         // as it may be recorded and shown
	record interlock.Decision         // likewise
	answer interlock.Answer
}

// pending begins a decision, in the memory of one that has ended: it is large, and made for each action.
func (a *Admission) pending(p *Case) *pendingDecision {
	d, _ := a.ended.Get().(*pendingDecision)
	if d == nil {
		d = new(pendingDecision)
	}
	d.Case, d.a, d.by, d.said = p, a, p.Requester, p.Loop
	return d
}

// end ends a decision: nothing of it is used any more but what was answered and recorded.
func (d *pendingDecision) end() {
	d.Requester = d.by // and not as its agent's record says
	a := d.a
	*d = pendingDecision{}
	a.ended.Put(d)
}

// lookAt loads those of the rows that looks name which were not read yet, and the operators on whose word they rest. It reports
// whether any are there: more may be named then.
func (d *pendingDecision) lookAt(ctx context.Context, load core.LoadRows, decided bool) (more bool, err error) {
	g := &d.ground
	read, had := len(g.Reads), len(g.Rows)
	for n := range looks {
		refersTo := looks[n].before
		if decided {
			refersTo = looks[n].after
		}
		if refersTo == nil {
			continue
		}
		for _, ref := range refersTo(d) {
			if !slices.Contains(g.Reads, ref) {
				g.Reads = append(g.Reads, ref)
			}
		}
	}
	var operators core.Names
	for refs := g.Reads[read:]; len(refs) > 0 && err == nil; refs = g.Reads[read:] {
		read = len(g.Reads)
		if err = d.a.Extend(ctx, load, g, &operators, refs); len(operators) > 0 {
			read = len(g.Reads)
			for _, name := range append(operators, d.Requester.Agent, d.Requester.Principal) {
				if ref := core.Key(ledger.Operator, name); name != "" && !slices.Contains(g.Reads, ref) {
					g.Reads = append(g.Reads, ref)
				}
			}
			operators = nil
		}
	}
	more = len(g.Rows) > had
	d.foundAny = d.foundAny || more
	return more, err
}

// load loads what a decision is made from and makes it. load is of the store.
func (d *pendingDecision) load(ctx context.Context, load core.LoadRows) (_ core.DecisionRows, err error) {
	d.foundAny = false
	if d.ground, err = d.a.GroundOf(ctx, load, d.by, d.also...); err != nil {
		return d.ground, err
	}
	d.now = d.a.Config.Now().UTC().Truncate(time.Microsecond)
	if err = d.complete(ctx); err != nil {
		return d.ground, err
	}
	for more := true; more; more = d.fold() || more {
		if more, err = d.lookAt(ctx, load, false); err != nil {
			return d.ground, err
		}
	}
	if err = d.decide(ctx); err == nil {
		_, err = d.lookAt(ctx, load, true)
	}
	return d.ground, err
}

// fold takes what was looked up of an action's files into its analysis, and reports whether it is read otherwise with that.
func (d *pendingDecision) fold() bool {
	if own := d.ownScripts(); len(own) > 0 {
		d.View.Written = own
	} else if fetched := d.fetchedBefore(); len(fetched) > 0 {
		d.View.Fetched = fetched
	} else {
		return false
	}
	d.analysis = analysed(&d.under.Evaluator, d.Case)
	return true
}

// impacts are what its decision will say that the action does: nothing where nothing is evaluated.
func (d *pendingDecision) impacts() []interlock.Impact {
	if m := d.under.Mode; m == interlock.Logging || m == interlock.Disabled ||
		len(containment.Stopping(d.stop, d.Sandboxed, d.now)) > 0 {
		return nil
	}
	return d.analysis.Impacts
}

// judge decides with what looks find, and with what is found besides.
func (d *pendingDecision) judge(besides ...interlock.Finding) {
	d.judgeBy(&d.under.Evaluator, append(findings(looks, d, false), besides...))
}

// decide decides, and decides again without an approval whose signature does not hold: the store is read by anyone who can write
// its file, so an approval is proved again at the moment it is spent. It decides again as well if the agent has asked too much to
// be given another question.
func (d *pendingDecision) decide(ctx context.Context) (err error) {
	if d.authors, d.passes, err = d.authored(); err != nil {
		return err
	}
	d.standing, d.uncounted = d.a.ProvenStanding(d.ground.Standing, d.Requester, d.now)
	d.begun, d.goesOn = d.continued()
	d.Origin, d.spent = d.told(), d.budgets()
	d.first = firstUseOf(&d.under.Evaluator, d.Case, d.standing, d.read.Impacts, d.now)
	for d.judge(); d.made.Approval != ""; d.judge() {
		err := d.a.Recheck(ctx, d.begun.Requests[d.made.Approval], d.begun, d.now)
		if err == nil {
			break
		}
		d.invalid = err
		d.begun.Requests = without(d.begun.Requests, d.made.Approval)
	}
	if err := d.countQuestions(ctx); err != nil {
		return err
	}
	if found := d.questions(); len(found) > 0 {
		d.judge(found...)
	}
	if err := d.a.unheard(d.Case, d.analysis, &d.made.Decision, d.begun); err != nil {
		return err
	}
	if d.invalid == nil {
		d.invalid = d.uncounted
	}
	d.a.uses(d.Case, d.made.Decision, d.goesOn, d.now)
	d.a.commits(d.Case, d.made.Decision, d.standing, d.goesOn, d.now)
	d.a.steps(d.Case, d.made.Decision, d.standing, d.goesOn)
	if d.asksAnew() {
		d.overdueAsks, err = d.a.Overdue(ctx, d.now, 1)
	}
	return err
}
