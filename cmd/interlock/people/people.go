// Package people holds the commands about who may do what: operators, settings, agents and their runs, plans and messages.
package people

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission/governance"
	"interlock/internal/identity"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// Who there is changes by orders of who governs. They are signed here with an SSH key or, by a person whose key is a passkey, in the
// console, at an address that is printed.

// peopleFlags say who gives an order about a person or an agent, and with which key.
type peopleFlags struct {
	As  string `help:"Order as this operator. Default: the operator whose key signs." placeholder:"NAME"`
	Key string `help:"Private key file to sign with. Default: the operator's key in the SSH agent, or a passkey in the console." placeholder:"FILE"`
	consoleFlag
}

// A waiting order is carried out once the standing says so.
type stands func(ledger.Standing) bool

// orderPeople has an order about a person or an agent signed and carried out, here or in the console.
func orderPeople(p *cli.Program, backend *embedded.Backend, who peopleFlags, given quorum.Given, done stands) error {
	address, err := "", error(nil)
	if who.Key == "" || who.Console != "" {
		address, err = who.address(p)
	}
	if err != nil {
		return err
	}
	standing, err := p.Standing(backend)
	if err != nil {
		return err
	}
	if !governance.HasGovernor(standing) {
		return interlock.Errorf(interlock.CodeUnauthorized, "",
			"nobody governs this home yet; `interlock operator add NAME` makes the first operator, at a terminal")
	}
	_, _, err = p.Order(backend, cli.OrderFlags{As: who.As, Key: who.Key}, given)
	var refusal *interlock.Error
	if err == nil || who.Key != "" || !errors.As(err, &refusal) || refusal.Field != "key" ||
		refusal.Code != interlock.CodeNotFound && refusal.Code != interlock.CodeUnavailable {
		return err
	}
	if !passkeyFor(standing, given) {
		return err
	}
	return inConsole(p, backend, address, given, done)
}

// revoke ends an operator or an agent by a signed order.
func revoke(p *cli.Program, backend *embedded.Backend, who peopleFlags, kind, name string, done stands) error {
	given, err := cli.NewOrder(interlock.VerbRevoke, name, "", "", interlock.Requester{})
	if err == nil {
		err = orderPeople(p, backend, who, given, done)
	}
	if err == nil {
		_, err = fmt.Fprintf(p.Stdout, "%s %s revoked\n", kind, name)
	}
	return err
}

// passkeyFor reports whether anybody who may give an order has a passkey.
func passkeyFor(standing ledger.Standing, given quorum.Given) bool {
	verb, _ := quorum.VerbOf(given.Verb)
	for _, o := range standing.Operators { // any order: one is enough
		if o.Revoked.IsZero() && len(o.Passkeys) > 0 && verb.Role(o.Role) && (quorum.Governs(o.Role) || o.Name == given.Subject) {
			return true
		}
	}
	return false
}

// inConsole prints where an order can be signed with a passkey, and waits until it was.
func inConsole(p *cli.Program, backend *embedded.Backend, address string, given quorum.Given, done stands) error {
	query := url.Values{"verb": {string(given.Verb)}, "subject": {given.Subject}, "detail": {given.Detail}}
	if given.Aside != "" {
		query.Set("aside", given.Aside)
	}
	if given.Reason != "" {
		query.Set("reason", given.Reason)
	}
	if _, err := fmt.Fprintf(p.Stderr, "no SSH key signs here; open this page within ten minutes and sign it with a passkey:\n%s/orders/new?%s\n",
		address, query.Encode()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(p.Ctx, quorum.MaxOrder)
	defer cancel()
	look := time.NewTicker(500 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return interlock.Errorf(interlock.CodeExpired, "", "nobody signed it; nothing was changed")
		case <-look.C:
		}
		standing, err := p.Standing(backend, cli.Ref(ledger.Agent, given.Subject))
		if err != nil && ctx.Err() == nil {
			return err
		}
		if err == nil && done(standing) {
			return nil
		}
	}
}

// first makes the first operator who governs, which is on nobody's order: once, by somebody at a terminal who types back what is
// shown there.
func first(p *cli.Program, backend *embedded.Backend, operator *interlock.OperatorRecord, shown string) error {
	operator.Role = cmp.Or(operator.Role, quorum.RoleAdmin)
	if !quorum.Governs(operator.Role) {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--role",
			"the first operator governs, so make this one admin or superadmin, and add the others then"))
	}
	if err := p.Person(backend, operator.Name); err != nil {
		return err
	}
	word, err := identity.Word(rand.Reader)
	if err != nil {
		return err
	}
	written, err := p.Settings()
	if err != nil {
		return err
	}
	said, list, err := SaySettings(written)
	if err != nil {
		return err
	}
	text := "Nobody governs this home yet. Whoever does from now on adds people and agents, and signs for it.\n" +
		"  operator  " + operator.Name + "\n  role      " + operator.Role + "\n  key       " + shown + "\n"
	if list == "" {
		said = governance.SaidSettings{}
	} else {
		text += "These settings are other than the default and stay so, by your word. Weaker ones take an order from now on.\n" + list
	}
	if err := identity.TypeBack(p.Ctx, text, word); err != nil {
		return err
	}
	_, err = backend.FirstOperator(p.Ctx, *operator, said)
	return err
}
