package runs

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/judging"
	"interlock/internal/auditlog"
	"interlock/internal/gate"
	"interlock/internal/ledger"
)

// The bounds of asking people about results.
const (
	maxReviews = 8         // results of one run that people are asked about
	maxJudged  = 256 << 10 // bytes of a result that a person is shown; nobody reads more of it before saying yes
)

// A review is what came of looking at a result before it leaves.
type review struct {
	asks bool              // a person is to be asked first
	by   interlock.Finding // what asks
	yes  string            // the request whose answer lets it leave, although judges object
}

// waitsFor says that a result waits for a person.
func waitsFor(request string, why interlock.Finding) *interlock.Error {
	about := ""
	if why.Rule != "" {
		about = why.Reason + " (" + why.Rule + "); "
	}
	return interlock.Errorf(interlock.CodeUnauthorized, "/result",
		"waits for a person: %s; %sonce that is answered, end the run with the same result again, or with another one", request, about)
}

// reviewed looks at a result before it leaves the orchestration; errUnheard has judges asked first. What they deny is not handed over, and
// neither is anything they are silent about. What they leave to people waits for an admin's answer, which is about exactly this
// result of this run under these rules, and counts once (EC-2.5, EC-3.3). Its agent may end the run with another result meanwhile.
func (e *closing) reviewed(standing ledger.Standing, now time.Time) (review, error) {
	under, run, result := e.Active.Load(), e.run, e.end.Result
	tier := under.Rules.TierFor(core.AgentOf(interlock.Requester{Agent: run.Agent}, standing))
	if run.Parent != "" || len(result) == 0 || tier < judging.OutputTier || under.Mode != interlock.Enforcing &&
		under.Mode != interlock.Monitoring {
		return review{}, nil
	}
	request, err := e.answered(standing, under.Rules.Digest(), now)
	if err != nil {
		return review{}, err
	}
	if request.Status == interlock.RequestPending && request.ID != "" {
		e.waits = waitsFor(request.ID, interlock.Finding{})
		return review{}, core.ErrUnchanged
	}
	if len(e.Config.Judges) > 0 {
		q, err := e.inquiryOf(run.Task, result, tier)
		if err == nil {
			err = e.heard.Needs(q)
		}
		if err != nil {
			return review{}, err
		}
	}
	if under.Mode != interlock.Enforcing { // nothing is refused or asked; what was said is told all the same
		return review{}, nil
	}
	snapshot := interlock.Snapshot{Profile: under.Profile, Judgments: e.heard.Said}
	found := gate.Judged(under.Rules, &snapshot, interlock.Allow, judging.NotAnAction)
	for _, f := range found {
		if f.Verdict != interlock.Ask {
			return review{}, e.unfit(f, now)
		}
	}
	switch {
	case len(found) == 0:
		return review{}, nil
	case request.Status == interlock.RequestApproved:
		return review{yes: request.ID}, e.Recheck(e.ctx, request, standing, now)
	case len(result) > maxJudged:
		return review{}, e.unfit(interlock.Finding{Rule: found[0].Rule, Reason: "it is too long for a person to be asked about; hand over less"}, now)
	case len(run.Reviews) >= maxReviews && !slices.ContainsFunc(run.Reviews, e.isThis):
		return review{}, e.unfit(interlock.Finding{Rule: found[0].Rule,
			Reason: "people were asked about as many results of this run as they may be"}, now)
	}
	return review{asks: true, by: found[0]}, nil
}

// isThis reports whether a review is of the result at hand.
func (e *closing) isThis(r interlock.RunReview) bool {
	return r.Result == auditlog.BlobDigest(e.end.Result)
}

// answered is the request about the result at hand that is open or approved, or none. That somebody refused it stays so for this result.
func (e *closing) answered(standing ledger.Standing, rules interlock.Digest, now time.Time) (none interlock.ApprovalRequest, _ error) {
	at := slices.IndexFunc(e.run.Reviews, e.isThis)
	if at < 0 {
		return none, nil
	}
	id := e.run.Reviews[at].Request
	if request, open := standing.Requests[id]; open {
		fits := request.Action == e.run.Reviews[at].Result && request.Ruleset == rules && request.Requester.Run == e.run.ID &&
			request.Requester.Agent == e.run.Agent && now.Before(request.Expires)
		if request.Status == interlock.RequestPending && fits || request.Status == interlock.RequestApproved && fits &&
			request.Approval != nil && request.Approval.Verdict == interlock.Allow {
			return request, nil
		}
		if request.Status != interlock.RequestDenied {
			return none, nil
		}
	}
	asked, found, err := e.Request(e.ctx, id)
	if err == nil && found && asked.Status == interlock.RequestDenied {
		err = interlock.Errorf(interlock.CodeUnauthorized, "/result",
			"is not handed over: a person was asked about it and refused (%s); the run goes on, and ends with another result", id)
	}
	return none, err
}

// inquiryOf is the question about a result. Its consequence is not known, so that where agents act by themselves all judges are heard.
func (e *closing) inquiryOf(task string, result json.RawMessage, tier int) (*judging.Inquiry, error) {
	q := e.Judging.JudgedBy(tier >= 3, 0)
	asks, err := e.Judging.Output(task, string(result))
	if err != nil {
		return nil, err
	}
	q.Asks = []interlock.JudgeQuestion{asks}
	q.Key, err = q.Digest(struct {
		Result string `json:"result"`
	}{string(result)})
	return q, err
}

// asks is the change that has a person say whether a result leaves. What is signed is the result's digest and all that is shown of it.
func (e *closing) asks(seen review, standing ledger.Standing, now time.Time) (ledger.Change, error) {
	change := ledger.Change{Version: standing.Version}
	id, err := e.Random(6)
	if err != nil {
		return change, err
	}
	nonce, err := e.Random(16)
	if err != nil {
		return change, err
	}
	digest, run := auditlog.BlobDigest(e.end.Result), e.run
	request := interlock.ApprovalRequest{ID: "apr_" + id, Action: digest, Ruleset: e.Active.Load().Rules.Digest(),
		Requester: interlock.Requester{Agent: run.Agent, Principal: run.Principal, Run: run.ID}, Nonce: nonce, Created: now,
		Expires: now.Add(e.Config.ApprovalTTL), Display: e.display(digest), Reason: seen.by.Reason, Rule: seen.by.Rule,
		Status: interlock.RequestPending, Judged: e.heard.Said, Obligations: []interlock.Obligation{{Type: interlock.ObligationAdmin}}}
	one := interlock.RunReview{Result: digest, Request: request.ID}
	run.Reviews = slices.Clone(run.Reviews)
	if at := slices.IndexFunc(run.Reviews, e.isThis); at < 0 {
		run.Reviews = append(run.Reviews, one)
	} else {
		if before, open := standing.Requests[run.Reviews[at].Request]; open { // its time has passed, or the rules have changed
			if err := e.ExpireRequest(&change, before, now); err != nil {
				return change, err
			}
		}
		run.Reviews[at] = one
	}
	e.waits = waitsFor(request.ID, seen.by)
	change.Writes = slices.Concat(change.Writes, ledger.Rows(request), ledger.Rows(run), e.Judging.JudgedRows(&e.heard, now))
	return change, e.Append(&change, interlock.EventRefusal, e.by, "agent", auditlog.RefusalRecord{Door: "runs",
		Code: string(e.waits.Code), Reason: core.Reason(e.waits), Request: request.ID, Judgments: e.heard.Said})
}

// display is a result as the person who answers is shown it: whole, with what the run was registered for.
func (e *closing) display(digest interlock.Digest) string {
	var b strings.Builder
	b.WriteString("result: of the run " + e.run.ID + "\n")
	if e.run.Task != "" {
		b.WriteString("objective: " + core.Visible(e.run.Task) + "\n")
	}
	b.WriteString("digest: " + string(digest) + "\n\n")
	for _, line := range strings.Split(e.Redact(string(e.end.Result)), "\n") {
		b.WriteString(core.Visible(line) + "\n")
	}
	return b.String()
}

// unfit is a result that is not handed over, with what judges said of it and how that is remembered.
type unfit struct {
	error
	said []interlock.Judgment
	rows []ledger.Row
}

func (u *unfit) Unwrap() error { return u.error }

func (e *closing) unfit(f interlock.Finding, now time.Time) error {
	return &unfit{interlock.Errorf(interlock.CodeUnauthorized, "/result", "is not handed over: %s (%s); the run goes on", f.Reason, f.Rule),
		e.heard.Said, e.Judging.JudgedRows(&e.heard, now)}
}
