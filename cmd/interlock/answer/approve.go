// Package answer holds the commands that answer what waits for a human.
package answer

import (
	"crypto/rand"
	"errors"
	"fmt"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/try"
	"interlock/embedded"
	"interlock/internal/fileio"
	"interlock/internal/identity"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// answerFlags are what approve and deny share.
type answerFlags struct {
	ID        string `arg:"" optional:"" help:"The request's id, as interlock pending lists it. At a terminal it may be picked from a list."`
	As        string `help:"Answer as this operator. Default: the operator whose key signs." placeholder:"NAME"`
	Key       string `help:"Private key file to sign with. Default: the operator's key in the SSH agent." placeholder:"FILE" xor:"signer"`
	Signature string `help:"Signature made elsewhere over interlock pending ID --statement --as NAME." placeholder:"FILE" xor:"signer"`
	Reason    string `help:"Why, for the record." placeholder:"TEXT"`
	JSON      bool   `name:"json" help:"Print JSON."`
}

type ApproveCommand struct{ answerFlags }

type DenyCommand struct{ answerFlags }

// Help is what `interlock approve --help` adds.
func (ApproveCommand) Help() string {
	return "The identical action by the same requester then passes once, before the request expires. " +
		"Who may answer and what is signed stands in docs/approvals.md."
}

// Run says yes.
func (c *ApproveCommand) Run(p *cli.Program) error { return c.answer(p, interlock.Allow) }

// Run says no.
func (c *DenyCommand) Run(p *cli.Program) error { return c.answer(p, interlock.Deny) }

// answer signs and hands in one answer. Whether it counts is decided behind Resolve, in the transaction that takes it;
// what is looked at here only spares a person a passphrase for an answer that can't count, and that try is recorded too.
func (c *answerFlags) answer(p *cli.Program, verdict interlock.Verdict) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	if err := p.Person(backend, c.ID); err != nil {
		return err
	}
	if c.ID == "" {
		if c.ID, err = picked(p, backend, verdictVerb(verdict)); err != nil {
			return err
		}
	}
	standing, err := p.Standing(backend, cli.Ref(ledger.Request, c.ID))
	if err != nil {
		return err
	}
	approval := interlock.Approval{Request: c.ID, Verdict: verdict, Operator: c.As, Reason: c.Reason}
	request, known := standing.Requests[c.ID]
	if standing, err = p.Standing(backend, cli.Ref(ledger.Agent, request.Requester.Agent)); err != nil {
		return err
	}
	if known && request.Status == interlock.RequestPending && p.Now().Before(request.Expires) {
		if request, err = c.showDryRun(p, backend, request, verdict); err != nil {
			return c.unsigned(p, backend, approval, err)
		}
		approval.DryRun = request.DryRun
		if err := c.sign(p, backend, request, standing, &approval); err != nil {
			return c.unsigned(p, backend, approval, err)
		}
	}
	receipt, err := backend.Resolve(p.Ctx, approval)
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, struct {
			Request  string            `json:"request"`
			Verdict  interlock.Verdict `json:"verdict"`
			Operator string            `json:"operator"`
			Event    string            `json:"event_id"`
			Another  bool              `json:"another_needed,omitempty"` // operator's yes
		}{c.ID, verdict, approval.Operator, receipt.Events[0], verdict == interlock.Allow && request.NeedsTwo() && request.First == nil})
	}
	said, after := "approved", "; the identical action passes once, until "+request.Expires.Local().Format("15:04:05")
	switch {
	case verdict == interlock.Deny:
		said, after = "denied", ""
	case request.NeedsTwo() && request.First == nil:
		after = "; another operator must say yes as well, until " + request.Expires.Local().Format("15:04:05")
	}
	_, err = fmt.Fprintf(p.Stdout, "%s %s as %s, recorded as event %s%s\n", said, c.ID, approval.Operator,
		receipt.Events[0], after)
	return err
}

// verdictVerb is what an operator does who gives a verdict.
func verdictVerb(verdict interlock.Verdict) string {
	if verdict == interlock.Allow {
		return "approve"
	}
	return "deny"
}

// showDryRun shows who signs here what the action did when it was tried, and puts it into what is signed where a rule wants it.
func (c *answerFlags) showDryRun(p *cli.Program, backend *embedded.Backend, request interlock.ApprovalRequest,
	verdict interlock.Verdict) (interlock.ApprovalRequest, error) {
	run, err := try.DryRunFor(p.Ctx, backend.Store, request)
	if err != nil {
		return request, err
	}
	if run != nil && c.Signature == "" { // else it was signed elsewhere, after `interlock pending ID`
		try.PrintDryRun(p.Stderr, *run)
	}
	if verdict != interlock.Allow {
		return request, nil
	}
	request = try.ShownRun(request, run)
	return request, quorum.Tried(request)
}

// unsigned records an answer that could not be signed by an operator and returns why. A missing file or passphrase is the
// operator's own affair; a key that is nobody's, or an operator who may not answer, is a try.
func (c *answerFlags) unsigned(p *cli.Program, backend *embedded.Backend, approval interlock.Approval, cause error) error {
	var refusal *interlock.Error
	if !errors.As(cause, &refusal) || refusal.Code != interlock.CodeUnauthorized || refusal.Field == "key" {
		return cause
	}
	if _, err := backend.RefuseApproval(p.Ctx, "operator", approval.Operator, approval.Request, cause); err != nil {
		return fmt.Errorf("%w (and the attempt could not be recorded)", cause)
	}
	return cause
}

// sign fills in operator, key, statement and signature.
func (c *answerFlags) sign(p *cli.Program, backend *embedded.Backend, request interlock.ApprovalRequest, standing ledger.Standing,
	approval *interlock.Approval) error {
	if c.As != "" {
		operator, known := standing.Operators[c.As]
		if !known {
			return interlock.Errorf(interlock.CodeUnauthorized, "--as",
				"no operator has this name; `interlock operator list` shows them")
		}
		if err := quorum.MayAnswer(request, operator, standing.Agents, p.Now()); err != nil {
			return err
		}
	}
	if c.Signature != "" {
		return c.useSignature(request, standing, approval)
	}
	// What is signed is shown before anybody types a passphrase, on the error stream, so that no pipeline swallows it.
	if err := printRequest(p.Stderr, request, nil); err != nil {
		return err
	}
	signer, err := cli.OrderFlags{As: c.As, Key: c.Key}.Signer(p, standing)
	if err != nil {
		return err
	}
	defer signer.Close()
	if approval.Weak, err = p.Proves(backend, signer); err != nil {
		return err
	}
	if err := c.claim(request, standing, signer.PublicKey(), approval); err != nil {
		return err
	}
	approval.Statement = quorum.Statement(request, approval.Verdict, approval.Operator)
	approval.Signature, err = signer.SignApproval(rand.Reader, approval.Statement)
	return err
}

// maxSignatureFile bounds a signature: the longest that is taken, and room.
const maxSignatureFile = 64 << 10

// useSignature takes a signature that was made with ssh-keygen -Y sign.
func (c *answerFlags) useSignature(request interlock.ApprovalRequest, standing ledger.Standing,
	approval *interlock.Approval) error {
	text, err := fileio.Plain(c.Signature, maxSignatureFile)
	if err != nil {
		return interlock.Errorf(interlock.CodeNotFound, "--signature", "the signature file can't be read: %s", fileio.Reason(err))
	}
	key, err := identity.SignatureKey(string(text))
	if err != nil {
		return err
	}
	if err := c.claim(request, standing, key, approval); err != nil {
		return err
	}
	approval.Statement = quorum.Statement(request, approval.Verdict, approval.Operator)
	approval.Signature = string(text)
	return nil
}

// claim names the operator the key belongs to and refuses one who may not answer before anything is signed.
func (c *answerFlags) claim(request interlock.ApprovalRequest, standing ledger.Standing, key identity.PublicKey,
	approval *interlock.Approval) error {
	name, found := cli.OperatorOf(standing, key)
	if !found || c.As != "" && name != c.As {
		source := cli.OrderFlags{Key: c.Key}.Source()
		if c.Signature != "" {
			source = "--signature"
		}
		return interlock.Errorf(interlock.CodeUnauthorized, source,
			"the key %s is not the registered key of an operator who may answer", key.Fingerprint())
	}
	approval.Operator, approval.Key = name, key.Fingerprint()
	return quorum.MayAnswer(request, standing.Operators[name], standing.Agents, cli.Now())
}
