package cli

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"sort"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission/core"
	"interlock/internal/identity"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// OrderFlags say who gives an order that is signed, and with which key.
type OrderFlags struct {
	As  string `help:"Order as this operator. Default: the operator whose key signs." placeholder:"NAME"`
	Key string `help:"Private key file to sign with. Default: the operator's key in the SSH agent." placeholder:"FILE"`
}

// Signer is the private key file that was named, or the SSH agent's key of an operator.
func (who OrderFlags) Signer(p *Program, standing ledger.Standing) (*identity.Signer, error) {
	if who.Key != "" {
		return p.keyFile(who.Key)
	}
	signer, err := identity.AgentSigner(p.Getenv("SSH_AUTH_SOCK"), func(key identity.PublicKey) bool {
		name, found := OperatorOf(standing, key)
		return found && (who.As == "" || name == who.As)
	})
	if err != nil {
		return nil, fmt.Errorf("%w; name a key with --key, or sign elsewhere and give --signature", err)
	}
	return signer, nil
}

// keyFile opens a private key file.
func (p *Program) keyFile(path string) (*identity.Signer, error) {
	if p.Keys != nil {
		if open, is := p.Keys.Load(path); is {
			return open.(*identity.Signer), nil
		}
	}
	signer, err := identity.FileSigner(path, func() ([]byte, error) {
		return identity.AskPassphrase(p.Ctx, p.Getenv, "Passphrase of "+Printable(path)+": ")
	})
	if err == nil && p.Keys != nil {
		p.Keys.Store(path, signer)
	}
	return signer, err
}

// Operator is the signer and the operator whose registered key it has. wanted says in the refusal which operator's would do.
func (who OrderFlags) Operator(p *Program, standing ledger.Standing, wanted string) (*identity.Signer, string, error) {
	signer, err := who.Signer(p, standing)
	if err != nil {
		return nil, "", err
	}
	name, found := OperatorOf(standing, signer.PublicKey())
	if !found || who.As != "" && name != who.As {
		signer.Close()
		return nil, "", interlock.Errorf(interlock.CodeUnauthorized, who.Source(),
			"the key %s is not the registered key of an operator %s",
			signer.PublicKey().Fingerprint(), wanted)
	}
	return signer, name, nil
}

// Source is the flag that says with which key is signed, and for an SSH agent's key whose it has to be.
func (who OrderFlags) Source() string {
	if who.Key != "" {
		return "--key"
	}
	return "--as"
}

// OperatorOf finds the unrevoked operator a key is registered for.
func OperatorOf(standing ledger.Standing, key identity.PublicKey) (string, bool) {
	var names []string
	for name := range standing.Operators {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		operator := standing.Operators[name]
		if !operator.Revoked.IsZero() {
			continue
		}
		if registered, err := identity.ParsePublicKey([]byte(operator.SSHKey)); err == nil &&
			registered.Fingerprint() == key.Fingerprint() {
			return name, true
		}
	}
	return "", false
}

// NewID is a fresh id of an order.
func NewID(prefix string, bytes int) (string, error) {
	id := make([]byte, bytes)
	if _, err := io.ReadFull(rand.Reader, id); err != nil {
		return "", fmt.Errorf("reading randomness: %w", err)
	}
	return prefix + hex.EncodeToString(id), nil
}

// NewOrder makes an operator's order as of now, unsigned. about is whose freedom it is about; zero where it is nobody's.
func NewOrder(verb interlock.Verb, subject, detail, reason string, about interlock.Requester) (quorum.Given, error) {
	id, err := NewID("ord_", 8)
	at := Now().UTC().Truncate(time.Second)
	return quorum.OfOrder(interlock.Order{ID: id, Verb: verb, Subject: subject, Detail: detail, Reason: reason,
		At: at, Expires: at.Add(quorum.MaxOrder / 2)}, about), err
}

// Order has an order signed and carried out, and returns it as it was given with what came of it.
func (p *Program) Order(backend *embedded.Backend, who OrderFlags, given quorum.Given) (quorum.Given, core.Carried, error) {
	given, err := p.Sign(backend, who, given)
	if err != nil {
		return given, core.Carried{}, err
	}
	done, err := backend.CarryOut(p.Ctx, given)
	return given, done, err
}

// Signed has an order signed and prints it, for who hands it in at the control door. Nothing is carried out.
func (p *Program) Signed(backend *embedded.Backend, who OrderFlags, given quorum.Given) error {
	given, err := p.Sign(backend, who, given)
	if err != nil {
		return err
	}
	return WriteLine(p.Stdout, given.Order)
}

// OrderNew makes an order about nobody's freedom, and has it signed and carried out.
func (p *Program) OrderNew(backend *embedded.Backend, who OrderFlags, verb interlock.Verb, subject, detail, reason string) (
	quorum.Given, core.Carried, error) {
	given, err := NewOrder(verb, subject, detail, reason, interlock.Requester{})
	if err != nil {
		return given, core.Carried{}, err
	}
	return p.Order(backend, who, given)
}

// Sign fills in the operator and the proof by an SSH key. An operator whose order would not
// count is told so before anything is signed.
func (p *Program) Sign(backend *embedded.Backend, who OrderFlags, given quorum.Given) (quorum.Given, error) {
	if err := p.Person(backend, given.Subject); err != nil {
		return given, err
	}
	standing, err := p.Standing(backend, Ref(ledger.Agent, given.About.Agent))
	if err != nil {
		return given, err
	}
	if as, known := standing.Operators[who.As]; who.As != "" && (!known || !as.Revoked.IsZero()) {
		return given, interlock.Errorf(interlock.CodeUnauthorized, "--as",
			"no operator of this name is in office; `interlock operator list` shows them")
	}
	verb, _ := quorum.VerbOf(given.Verb)
	signer, name, err := who.Operator(p, standing, cmp.Or(verb.Signer, "in office"))
	if err != nil {
		return given, err
	}
	defer signer.Close()
	given = p.dated(given).By(name)
	if err := given.MayGive(standing.Operators[name], standing.Agents, p.Now()); err != nil {
		return given, err
	}
	weak, err := p.Proves(backend, signer)
	if err != nil {
		return given, err
	}
	given = given.Marked(weak)
	if _, grants := given.Terms.(interlock.Grant); grants { // everything else was shown already
		if _, err := io.WriteString(p.Stderr, given.Text()); err != nil {
			return given, err
		}
	}
	return SignWith(signer, given)
}

// dated has an order that is carried out once given now, by this program's own clock.
func (p *Program) dated(given quorum.Given) quorum.Given {
	if p.Clock != nil && given.Terms == nil {
		given.At = p.Now().UTC().Truncate(time.Second)
		given.Expires = given.At.Add(quorum.MaxOrder / 2)
	}
	return given
}

// SignWith signs an order with its operator's key.
func SignWith(signer *identity.Signer, given quorum.Given) (quorum.Given, error) {
	signature, err := signer.SignApproval(rand.Reader, given.Text())
	return given.Signed(interlock.MethodSSH, signer.PublicKey().Fingerprint(), signature), err
}

// Done prints what came of an order: what it did, and the event that records it.
func (p *Program) Done(done core.Carried, did string, values ...any) error {
	_, err := fmt.Fprintf(p.Stdout, did+", recorded as event %s\n", append(values, done.Events[0])...)
	return err
}

// Did prints what an order did, as its verb's row says it.
func (p *Program) Did(done core.Carried, given quorum.Given) error {
	verb, _ := quorum.VerbOf(given.Verb)
	return p.Done(done, "%s", verb.Says(Printable(given.Subject), given.Operator))
}

// PlainOrder has an order of nothing but its subject and a reason signed and carried out, and says what it did.
func (p *Program) PlainOrder(who OrderFlags, verb interlock.Verb, subject, reason string, asJSON bool) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	given, done, err := p.OrderNew(backend, who, verb, subject, "", reason)
	if err != nil {
		return err
	}
	if asJSON {
		return p.orderJSON(given, done)
	}
	return p.Did(done, given)
}

// orderJSON prints what came of an order as JSON.
func (p *Program) orderJSON(given quorum.Given, done core.Carried) error {
	return WriteLine(p.Stdout, struct {
		Verb   interlock.Verb `json:"verb"`
		On     string         `json:"on"`
		Detail string         `json:"detail,omitempty"`
		By     string         `json:"by"`
		Event  string         `json:"event"`
	}{given.Verb, given.Subject, given.Detail, given.Operator, done.Events[0]})
}

// Moved prints what came of an order about a phase or a breaker.
func (p *Program) Moved(asJSON bool, given quorum.Given, done core.Carried, did string) error {
	if asJSON {
		return p.orderJSON(given, done)
	}
	return p.Done(done, did, Printable(given.Subject), given.Operator)
}
