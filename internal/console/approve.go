package console

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/console/render"
	"interlock/internal/console/signin"
	"interlock/internal/identity"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// maxNote bounds what an operator may say to an answer, in bytes.
const maxNote = 500

// An asking is one request as an operator is shown it: everything that is signed, whole.
type asking struct {
	interlock.ApprovalRequest
	Decision  *interlock.Decision // that left it behind; nil where the log holds none
	Tried     *interlock.DryRun   // what it did in a throw-away copy; nil where it was not tried
	Digest    interlock.Digest    // of the display, as it is in the statement
	Changes   []render.EditLine   // a file edit, line by line
	Statement string              // the exact text a yes signs
	Hash      string              // of it, base64url, for the script
	Untried   string              // why a yes would not count yet: a rule wants a dry run first
	Refused   string              // why this operator's answer would not count; empty: it would
}

// signing is what forms need to have something signed.
type signing struct {
	Host      string
	Passkeys  string // ids of the operator's passkeys for this host, for the script; empty: it has none
	Challenge string // base64url
	Witness   bool   // the word of this server for the session is enough
}

func (c *Console) signing(r *http.Request, challenge []byte) signing {
	v := c.visitor(r)
	s := signing{Host: c.host, Challenge: base64.RawURLEncoding.EncodeToString(challenge), Witness: witnessed(v)}
	for _, passkey := range v.Operator.Passkeys {
		if passkey.RelyingID == c.host {
			s.Passkeys = strings.TrimSpace(s.Passkeys + " " + passkey.ID)
		}
	}
	return s
}

// shown is what an operator sees of a request.
func (c *Console) shown(r *http.Request, request interlock.ApprovalRequest, standing ledger.Standing) asking {
	operator, _ := c.operator(r)
	run, untried := c.tried(r, &request)
	statement := quorum.Statement(request, interlock.Allow, operator.Name)
	one := asking{ApprovalRequest: request, Digest: quorum.DisplayDigest(request.Display), Changes: render.EditOf(request.Display),
		Statement: statement,
		Hash:      base64.RawURLEncoding.EncodeToString(identity.StatementChallenge(statement))}
	one.Tried, one.Untried = run, untried
	if err := quorum.MayAnswer(request, operator, standing.Agents, c.config.Now()); err != nil {
		one.Refused = err.Error()
	}
	if !c.may(r, reading) { // who may not read it may not answer it either
		one.Reason, one.Judged = interlock.GeneralReason(one.Reason), nil
		one.Display, one.Changes, one.Statement, one.Hash, one.Tried = "what exactly was proposed is not shown to your role\n", nil, "", "", nil
	}
	return one
}

// tried puts the dry run that a rule wants seen before a yes into what is signed, and says what is missing if there is none.
func (c *Console) tried(r *http.Request, request *interlock.ApprovalRequest) (*interlock.DryRun, string) {
	if !request.Owes(interlock.ObligationDryRun) || request.Status != interlock.RequestPending || c.config.DryRun == nil {
		return nil, ""
	}
	run, err := c.config.DryRun(r.Context(), *request)
	if err != nil {
		return nil, "its dry run can't be read"
	}
	if run != nil {
		request.DryRun = run.ID
	}
	if err := quorum.Tried(*request); err != nil {
		return nil, err.Error()
	}
	return run, ""
}

// requestPage shows one request with everything that may be answered, or what has become of it.
func (c *Console) requestPage(w http.ResponseWriter, r *http.Request) {
	request, found, err := c.config.Backend.Request(r.Context(), r.PathValue("id"))
	if err == nil && !found {
		err = errNoRequest
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	standing, err := c.config.Backend.Ground(r.Context(), ref(ledger.Agent, request.Requester.Agent))
	if err != nil {
		c.fail(w, r, err)
		return
	}
	page := requested{Lived: request.Status == interlock.RequestPending}
	if c.may(r, reading) {
		page.Proposed = render.TakeApart(request.Display)
		if page.Similar, err = c.similar(r.Context(), request); err != nil {
			c.fail(w, r, err)
			return
		}
	}
	page.asking = c.shown(r, request, standing)
	if page.Body == "" {
		page.Body = page.Display
	}
	page.signing = c.signing(r, identity.StatementChallenge(page.Statement))
	if err := c.evidence(r, &page); err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "request.html", "Request "+request.ID, page)
}

// errNoRequest says that there is no such request, and that none with this id is remembered.
var errNoRequest = interlock.Errorf(interlock.CodeNotFound, "id", "no request that waits has this id, and none that did is remembered")

// A requested is the page of one request.
type requested struct {
	signing
	asking
	render.Proposed
	Similar render.Precedent
	Event   string // of the decision behind it
	Lived   bool   // it can still be answered
}

// evidence adds the decision behind a request, and what its action did when it was tried.
func (c *Console) evidence(r *http.Request, page *requested) (err error) {
	if !c.may(r, reading) {
		return nil
	}
	if c.config.Decision != nil {
		if page.asking.Decision, err = c.config.Decision(r.Context(), page.ApprovalRequest); err != nil {
			return err
		}
	}
	if c.config.DryRun != nil && page.Tried == nil {
		if page.Tried, err = c.config.DryRun(r.Context(), page.ApprovalRequest); err != nil {
			return err
		}
	}
	behind, err := c.behind(r, []*card{{asking: page.asking}})
	if err != nil {
		return err
	}
	if d, known := behind[page.ID]; known {
		page.Event = d.Event.ID
		if page.asking.Decision == nil {
			page.asking.Decision = &d.Decision
		}
	}
	return nil
}

// answerOne takes the answer to one request.
func (c *Console) answerOne(w http.ResponseWriter, r *http.Request) {
	c.answer(w, r, []string{r.PathValue("id")})
}

// answerSeveral takes one answer to the requests that were ticked. Each is signed by itself; a passkey signs the list of them.
func (c *Console) answerSeveral(w http.ResponseWriter, r *http.Request) {
	c.answer(w, r, r.PostForm["id"])
}

func (c *Console) answer(w http.ResponseWriter, r *http.Request, ids []string) {
	approvals, err := c.approvals(r, ids)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	if err := c.proved(r, approvals); err != nil {
		c.fail(w, r, err)
		return
	}
	for n, approval := range approvals {
		if _, err := c.config.Backend.Resolve(r.Context(), approval); err != nil {
			if n > 0 {
				err = partly(n, approval.Request, err)
			}
			c.fail(w, r, err)
			return
		}
	}
	http.Redirect(w, r, "/pending", http.StatusSeeOther)
}

// partly says of an answer to several requests how far it came.
func partly(n int, request string, err error) error {
	var refusal *interlock.Error
	if !errors.As(err, &refusal) {
		return err
	}
	return interlock.Errorf(refusal.Code, refusal.Field, "%d were answered; then %s was refused: %s", n, request, refusal.Message)
}

// approvals are the answers a form gives, with what proves them. Whether they count is decided behind Resolve.
func (c *Console) approvals(r *http.Request, ids []string) ([]interlock.Approval, error) {
	if len(ids) == 0 || len(ids) > identity.MaxBatch {
		return nil, interlock.Errorf(interlock.CodeInvalid, "id", "tick 1 to %d requests", identity.MaxBatch)
	}
	for i, id := range ids {
		if slices.Contains(ids[:i], id) { // nothing of such a form was meant as it is
			return nil, interlock.Errorf(interlock.CodeInvalid, "id", "%.40s is named twice; nothing was answered", id)
		}
	}
	verdict, reason, err := verb(r)
	if err != nil {
		return nil, err
	}
	refs := make([]ledger.Ref, len(ids))
	for i, id := range ids {
		refs[i] = ref(ledger.Request, id)
	}
	standing, err := c.config.Backend.Ground(r.Context(), refs...)
	if err != nil {
		return nil, fmt.Errorf("reading the requests: %w", err)
	}
	operator, _ := c.operator(r)
	approvals := make([]interlock.Approval, len(ids))
	statements := make([]string, len(ids))
	for i, id := range ids {
		request, known := standing.Requests[id]
		if !known {
			return nil, c.gone(r, id)
		}
		// What was shown is what is signed: a page of other requests, or of one that changed, signs nothing here.
		shown := r.PostForm.Get("display")
		if own := r.PostForm.Get("display:" + id); own != "" || len(ids) > 1 {
			shown = own
		}
		if shown != "" && shown != string(quorum.DisplayDigest(request.Display)) {
			return nil, interlock.Errorf(interlock.CodeConflict, "display", "the page showed something else; load it again")
		}
		if verdict == interlock.Allow && request.Owes(interlock.ObligationDryRun) {
			if len(ids) > 1 {
				return nil, interlock.Errorf(interlock.CodeInvalid, "id",
					"%s wants its dry run seen first: open it and answer it there", id)
			}
			request.DryRun = r.PostForm.Get("dry_run") // the one that was shown
		}
		statements[i] = quorum.Statement(request, verdict, operator.Name)
		approvals[i] = interlock.Approval{Request: id, Verdict: verdict, Operator: operator.Name, Reason: reason,
			Statement: statements[i], DryRun: request.DryRun}
	}
	return approvals, c.sign(r, statements, verdict == interlock.Allow, func(i int, method, key, signature string) {
		approvals[i].Method, approvals[i].Key, approvals[i].Signature = method, key, signature
	})
}

// gone says what has become of a request that was answered too late.
func (c *Console) gone(r *http.Request, id string) error {
	request, found, err := c.config.Backend.Request(r.Context(), id)
	switch {
	case err != nil:
		return err
	case !found:
		return errNoRequest
	}
	return interlock.Errorf(interlock.CodeNotFound, "id", "no request that waits has this id: it is %s", render.Became(&request))
}

// verb reads which answer a form gives. A question back is a no that says what is missing: the agent reads the reason, and
// may ask again with more.
func verb(r *http.Request) (interlock.Verdict, string, error) {
	reason := strings.TrimSpace(r.PostForm.Get("reason"))
	if len(reason) > maxNote {
		return interlock.Deny, "", interlock.Errorf(interlock.CodeInvalid, "reason", "is longer than %d bytes", maxNote)
	}
	switch r.PostForm.Get("verb") {
	case "approve":
		return interlock.Allow, reason, nil
	case "deny":
		return interlock.Deny, reason, nil
	case "ask":
		if reason == "" {
			return interlock.Deny, "", interlock.Errorf(interlock.CodeInvalid, "reason", "say what you need to know")
		}
		return interlock.Deny, "more is needed: " + reason, nil
	}
	return interlock.Deny, "", interlock.Errorf(interlock.CodeInvalid, "verb", "is approve, deny or ask")
}

// witnessed reports whether this server's word for a session is enough for what lets more happen than before. It is not where
// the session began with a passkey: there the passkey is at hand, and one who comes with the cookie alone may have taken it.
// Browsers send a cookie of localhost to every port of it, so an agent's own page could get one.
func witnessed(v signin.Visitor) bool { return v.Session.Method != interlock.MethodPasskey }

// sign fills in what proves statements: the passkey's signature over all of them, or, where the form brings none, the word
// of this server that the session made each.
func (c *Console) sign(r *http.Request, statements []string, loosens bool,
	fill func(i int, method, key, signature string)) error {
	v := c.visitor(r)
	if given := r.PostForm.Get("assertion"); given != "" {
		signature, err := identity.Assertion([]byte(given), statements...)
		if err != nil {
			return err
		}
		key := identity.AssertionPasskey(signature)
		for i := range statements {
			fill(i, interlock.MethodPasskey, key, signature)
		}
		return nil
	}
	if r.PostForm.Get("method") != interlock.MethodSession {
		return interlock.Errorf(interlock.CodeInvalid, "assertion",
			"the passkey signed nothing; without script, use the other form")
	}
	if loosens && !witnessed(v) {
		err := interlock.Errorf(interlock.CodeUnauthorized, "assertion",
			"you came in with a passkey, so this takes its signature; without script, come in by `interlock operator login`")
		c.alert(r, v.Operator.Name, err)
		return err
	}
	for i, statement := range statements {
		signature, err := c.config.Attest(interlock.MethodSession, v.Session.ID, statement)
		if err != nil {
			return fmt.Errorf("attesting an answer: %w", err)
		}
		fill(i, interlock.MethodSession, v.Session.ID, signature)
	}
	return nil
}

// proved looks at what can only be looked at while a passkey's signature is fresh: the page it came from and its counter.
// A signature that does not hold goes on to Resolve, which refuses and records it.
func (c *Console) proved(r *http.Request, approvals []interlock.Approval) error {
	operator, _ := c.operator(r)
	if approvals[0].Method != interlock.MethodPasskey {
		return nil
	}
	seen, err := identity.VerifyAssertion(operator, approvals[0].Statement, approvals[0].Signature)
	if err != nil {
		return nil
	}
	if err := c.counted(r, operator, seen); err != nil {
		if seen.Origin != c.origin {
			c.alert(r, operator.Name, err)
		}
		return err
	}
	return nil
}

// newID makes an id with a prefix.
func (c *Console) newID(prefix string) (string, error) {
	var raw [8]byte
	if _, err := io.ReadFull(c.config.Random, raw[:]); err != nil {
		return "", fmt.Errorf("making an id: %w", err)
	}
	return prefix + hex.EncodeToString(raw[:]), nil
}

func codeOf(err error) interlock.Code {
	var refusal *interlock.Error
	if errors.As(err, &refusal) {
		return refusal.Code
	}
	return ""
}

// similar finds questions of the past that are like one: the same rule, and the same sort of action.
func (c *Console) similar(ctx context.Context, to interlock.ApprovalRequest) (render.Precedent, error) {
	newest, err := core.RequestsWith(ctx, c.config.Backend, "", render.SimilarLooked)
	if err != nil {
		return render.Precedent{}, err
	}
	like := render.TakeApart(to.Display)
	var found render.Precedent
	for i := range newest {
		one := &newest[i]
		if one.ID == to.ID || one.Rule != to.Rule || render.TakeApart(one.Display).Like() != like.Like() {
			continue
		}
		found.All++
		switch one.Status {
		case interlock.RequestApproved, interlock.RequestSpent:
			found.Yes++
		case interlock.RequestDenied:
			found.No++
		}
		if len(found.Rows) < render.SimilarListed {
			found.Rows = append(found.Rows, *one)
		}
	}
	return found, nil
}
