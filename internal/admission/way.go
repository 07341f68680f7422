package admission

import (
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/judging"
	"interlock/internal/admission/messages"
	"interlock/internal/admission/runs"
	"interlock/internal/auditlog"
	"interlock/internal/classify"
	"interlock/internal/ledger"
)

// A Way is how a proposal comes here: what the door that brings it can do, and what only that door knows of the call. It is kept
// beside the proposal, which says what is wanted; nothing of it is recorded but what the snapshot of the decision holds. The zero
// value is the way of a caller that asks for itself: it reads nothing, carries nothing out, and its call is known by its id.
type Way struct {
	// reads what the action would run; nil where the door may not, as for an agent behind the network
	Read Reader
	Work WorkReader // looks at what it would delete or overwrite; nil likewise

	// the door runs it in Interlock's own sandbox, and so fulfils that obligation
	Sandboxed bool
	Handover  interlock.Handover // whether it goes on to `interlock exec` or to the gateway, which decides it again

	// the door gave this attempt an id nobody knows, and says itself how it ended, with the decision at hand
	Unseen bool
	// the approval spent on this call, which its server has not finished: it asked for input, and the door has seen
	// that this is the retry
	Continues string

	Loop     *interlock.Loop     // of a step that a monitored execution reports
	Upstream *interlock.Upstream // of what a gateway would pass on
}

// A WorkReader returns what is known of the work at those of the named paths that lie in repositories.
type WorkReader func(paths []string) map[string]interlock.Work

// A Reader returns the texts of those of the named files that it could read within its bounds. A name may be a pattern.
type Reader func(view interlock.View, names []string) map[string]string

// A Case is a proposal while it is decided: the way it came, and what only admission knows of it. Of both, what a decision may
// turn on is in its snapshot.
type Case struct {
	interlock.Proposal
	Way
	Recent []interlock.PastAction // what its run did a moment ago, as far as rules ask for it
	Failed *interlock.Failures    // how the same action of the same agent failed lately, where a gateway carries it out
	Origin *interlock.Origin      // where its values come from; nil: nothing was heard
	under  *core.ActiveRules      // what admission decides it with
	bases  *bases                 // what decisions were made from last; nil: it is only tried
	gone   <-chan struct{}        // closed when nobody waits for it any more; nil: somebody always does
	stop   ledger.HoldBody        // that everything is stopped; the zero value: nothing is

	text    *classify.Result                    // what the classifier says of it, where it is a text
	agent   interlock.AgentRecord               // its requester's, as the snapshot held it
	tree    string                              // the orchestration of its requester's registered run, if it has one
	using   []core.Use                          // what the decision takes from the ledger
	met     map[ledger.Spend]bool               // what of that found too little left
	limited []auditlog.Limited                  // where that was a limit, what it found
	spent   []budgeted                          // what was found of the budgets that its agent works on
	over    []func(time.Time) interlock.Finding // and what that objects when
	post    *messages.MessageCheck              // the message that it is about; nil: it is about none
	context []ledger.SignalBody                 // how full its run's context is, as observers tell
	overdue bool                                // its run's time is over, and nobody has recorded that
	healed  bool                                // it was looked whether something it is under has healed
	first   first                               // what its agent's type has not used before
	authors []interlock.RunHolder               // who else wrote what it runs, where types bind agents
	passes  []string                            // and who else wrote what it copies or rewrites

	judging    judging.Consultation    // what judges said of it
	deciding   []runs.Deciding         // what it decides that was decided before, or is from now on
	committing []ledger.CommitmentBody // what becomes of that
	committed  []auditlog.Committed    // as the log says it
	since      time.Time               // a yes that was given before then does not count
	firsts     []firstTime             // what its agent's type may never have done
	step       int                     // what it is to the plan of its run
	planning   *interlock.Plan         // that plan, once this step of it is let through
}
