package main

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission/core"
	"interlock/internal/identity"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// orderFlags say who gives an order that is signed, and with which key.
type orderFlags struct {
	As  string `help:"Order as this operator. Default: the operator whose key signs." placeholder:"NAME"`
	Key string `help:"Private key file to sign with. Default: the operator's key in the SSH agent." placeholder:"FILE"`
}

// signer is the private key file that was named, or the SSH agent's key of an operator.
func (who orderFlags) signer(p *program, standing ledger.Standing) (*identity.Signer, error) {
	if who.Key != "" {
		return identity.FileSigner(who.Key, func() ([]byte, error) {
			return identity.AskPassphrase(p.ctx, p.getenv, "Passphrase of "+printable(who.Key)+": ")
		})
	}
	signer, err := identity.AgentSigner(p.getenv("SSH_AUTH_SOCK"), func(key identity.PublicKey) bool {
		name, found := operatorOf(standing, key)
		return found && (who.As == "" || name == who.As)
	})
	if err != nil {
		return nil, fmt.Errorf("%w; name a key with --key, or sign elsewhere and give --signature", err)
	}
	return signer, nil
}

// operator is the signer and the operator whose registered key it has. wanted says in the refusal which operator's would do.
func (who orderFlags) operator(p *program, standing ledger.Standing, wanted string) (*identity.Signer, string, error) {
	signer, err := who.signer(p, standing)
	if err != nil {
		return nil, "", err
	}
	name, found := operatorOf(standing, signer.PublicKey())
	if !found || who.As != "" && name != who.As {
		signer.Close()
		return nil, "", interlock.Errorf(interlock.CodeUnauthorized, who.source(),
			"the key %s is not the registered key of an operator %s",
			signer.PublicKey().Fingerprint(), wanted)
	}
	return signer, name, nil
}

// source is the flag that says with which key is signed, and for an SSH agent's key whose it has to be.
func (who orderFlags) source() string {
	if who.Key != "" {
		return "--key"
	}
	return "--as"
}

// operatorOf finds the unrevoked operator a key is registered for.
func operatorOf(standing ledger.Standing, key identity.PublicKey) (string, bool) {
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

// newID is a fresh id of an order.
func newID(prefix string, bytes int) (string, error) {
	id := make([]byte, bytes)
	if _, err := io.ReadFull(rand.Reader, id); err != nil {
		return "", fmt.Errorf("reading randomness: %w", err)
	}
	return prefix + hex.EncodeToString(id), nil
}

// newOrder makes an operator's order as of now, unsigned. about is whose freedom it is about; zero where it is nobody's.
func newOrder(verb interlock.Verb, subject, detail, reason string, about interlock.Requester) (quorum.Given, error) {
	id, err := newID("ord_", 8)
	at := now().UTC().Truncate(time.Second)
	return quorum.OfOrder(interlock.Order{ID: id, Verb: verb, Subject: subject, Detail: detail, Reason: reason,
		At: at, Expires: at.Add(quorum.MaxOrder / 2)}, about), err
}

// order has an order signed and carried out, and returns it as it was given with what came of it.
func (p *program) order(backend *embedded.Backend, who orderFlags, given quorum.Given) (quorum.Given, core.Carried, error) {
	given, err := p.sign(backend, who, given)
	if err != nil {
		return given, core.Carried{}, err
	}
	done, err := backend.CarryOut(p.ctx, given)
	return given, done, err
}

// orderNew makes an order about nobody's freedom, and has it signed and carried out.
func (p *program) orderNew(backend *embedded.Backend, who orderFlags, verb interlock.Verb, subject, detail, reason string) (
	quorum.Given, core.Carried, error) {
	given, err := newOrder(verb, subject, detail, reason, interlock.Requester{})
	if err != nil {
		return given, core.Carried{}, err
	}
	return p.order(backend, who, given)
}

// sign fills in the operator and the proof by an SSH key. An operator whose order would not
// count is told so before anything is signed.
func (p *program) sign(backend *embedded.Backend, who orderFlags, given quorum.Given) (quorum.Given, error) {
	if err := p.person(backend, given.Subject); err != nil {
		return given, err
	}
	standing, err := p.standing(backend, ref(ledger.Agent, given.About.Agent))
	if err != nil {
		return given, err
	}
	if as, known := standing.Operators[who.As]; who.As != "" && (!known || !as.Revoked.IsZero()) {
		return given, interlock.Errorf(interlock.CodeUnauthorized, "--as",
			"no operator of this name is in office; `interlock operator list` shows them")
	}
	verb, _ := quorum.VerbOf(given.Verb)
	signer, name, err := who.operator(p, standing, cmp.Or(verb.Signer, "in office"))
	if err != nil {
		return given, err
	}
	defer signer.Close()
	given = p.dated(given).By(name)
	if err := given.MayGive(standing.Operators[name], standing.Agents, p.now()); err != nil {
		return given, err
	}
	weak, err := p.proves(backend, signer)
	if err != nil {
		return given, err
	}
	given = given.Marked(weak)
	if _, grants := given.Terms.(interlock.Grant); grants { // everything else was shown already
		if _, err := io.WriteString(p.stderr, given.Text()); err != nil {
			return given, err
		}
	}
	return signWith(signer, given)
}

// dated has an order that is carried out once given now, by this program's own clock.
func (p *program) dated(given quorum.Given) quorum.Given {
	if p.clock != nil && given.Terms == nil {
		given.At = p.now().UTC().Truncate(time.Second)
		given.Expires = given.At.Add(quorum.MaxOrder / 2)
	}
	return given
}

// signWith signs an order with its operator's key.
func signWith(signer *identity.Signer, given quorum.Given) (quorum.Given, error) {
	signature, err := signer.SignApproval(rand.Reader, given.Text())
	return given.Signed(interlock.MethodSSH, signer.PublicKey().Fingerprint(), signature), err
}

// done prints what came of an order: what it did, and the event that records it.
func (p *program) done(done core.Carried, did string, values ...any) error {
	_, err := fmt.Fprintf(p.stdout, did+", recorded as event %s\n", append(values, done.Events[0])...)
	return err
}

// did prints what an order did, as its verb's row says it.
func (p *program) did(done core.Carried, given quorum.Given) error {
	verb, _ := quorum.VerbOf(given.Verb)
	return p.done(done, "%s", verb.Says(printable(given.Subject), given.Operator))
}

// plainOrder has an order of nothing but its subject and a reason signed and carried out, and says what it did.
func (p *program) plainOrder(who orderFlags, verb interlock.Verb, subject, reason string, asJSON bool) error {
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	given, done, err := p.orderNew(backend, who, verb, subject, "", reason)
	if err != nil {
		return err
	}
	if asJSON {
		return p.orderJSON(given, done)
	}
	return p.did(done, given)
}

// orderJSON prints what came of an order as JSON.
func (p *program) orderJSON(given quorum.Given, done core.Carried) error {
	return writeLine(p.stdout, struct {
		Verb   interlock.Verb `json:"verb"`
		On     string         `json:"on"`
		Detail string         `json:"detail,omitempty"`
		By     string         `json:"by"`
		Event  string         `json:"event"`
	}{given.Verb, given.Subject, given.Detail, given.Operator, done.Events[0]})
}

// asTyped gives an error that names the field of a record the name of what the user typed: of an order its subject is the
// agent, the tool or the id on the command line, and the operator who gives it stands after --as. Fields of settings, and
// whatever the command does not take, keep their names.
func asTyped(err error, command *kong.Node) error {
	var exit *exitCode
	if errors.As(err, &exit) {
		return &exitCode{code: exit.code, err: asTyped(exit.err, command)}
	}
	var refused *interlock.Error
	if !errors.As(err, &refused) || command == nil {
		return err
	}
	text, ok := strings.CutPrefix(err.Error(), refused.Field+": ")
	if !ok {
		return err // what wraps it has named what it is about
	}
	for _, word := range wordsFor(refused.Field) {
		switch {
		case !takes(command, word):
		case strings.HasPrefix(word, "-"):
			return errors.New(word + ": " + text)
		default:
			return errors.New(strings.ToUpper(word) + ": " + text)
		}
	}
	return err
}

// flagged makes an error about a setting that stood on the command line one about its flag.
func flagged(p *program, err error) error {
	var refused *interlock.Error
	if p.globals.Profile == "" || !errors.As(err, &refused) || refused.Field != "profile" || err.Error() != refused.Error() {
		return err
	}
	return usage(interlock.Errorf(refused.Code, "--profile", "%s", refused.Message))
}

// wordsFor lists what a field may be on a command line, flags with their dashes and arguments without; the first that the
// command takes is meant.
func wordsFor(field string) []string {
	switch field {
	case "id", "request":
		return []string{"id", "--request"}
	case "subject":
		return []string{"agent", "tool", "rule", "id", "name"}
	case "name":
		return []string{"name", "--name"}
	case "operator":
		return []string{"--as", "name"}
	case "agent", "rule", "tool":
		return []string{field, "--" + field}
	case "event", "proof":
		return []string{field}
	case "key", "kind", "times", "signature", "checkpoint", "sandbox":
		return []string{"--" + field}
	case "reason":
		return []string{"--reason", "--evidence"}
	case "ssh_key":
		return []string{"--ssh-key"}
	case "detail":
		return []string{"--to", "tool"}
	case "expires":
		return []string{"--for"}
	case "scope":
		return []string{"--path", "--agent"}
	case "conditions":
		return []string{"--where"}
	case "--rules":
		return []string{"dir"}
	}
	return nil
}

// takes reports whether a command has that flag or argument of its own.
func takes(command *kong.Node, word string) bool {
	if name, flag := strings.CutPrefix(word, "--"); flag {
		return slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool { return f.Name == name })
	}
	return slices.ContainsFunc(command.Positional, func(p *kong.Positional) bool { return p.Name == word })
}
