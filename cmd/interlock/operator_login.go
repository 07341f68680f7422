package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/console"
)

// consoleFlag says at which address links lead into the console: `interlock up --listen` may have been told another than the
// settings are.
type consoleFlag struct {
	Console string `help:"Address of the console, as interlock up prints it. Default: from the settings." placeholder:"URL"`
}

// address is where the console is, or what is wrong with what was named.
func (f consoleFlag) address(p *program) (string, error) {
	settings, err := p.settings()
	if err != nil {
		return "", err
	}
	if settings.ConsoleURL != "" && f.Console == "" {
		if settings, err = p.inForce(settings); err != nil {
			return "", err
		}
	}
	address := consoleURL(settings, settings.Listen)
	if f.Console != "" {
		address = f.Console
	}
	base, err := console.ParseURL(address)
	switch {
	case err == nil:
		return base.String(), nil
	case f.Console != "":
		err = interlock.Errorf(interlock.CodeInvalid, "--console",
			"%.80q is not https://HOST[:PORT] or http://localhost[:PORT]", f.Console)
	}
	return "", usage(err)
}

type operatorEnrol struct {
	Name string `arg:"" help:"The operator's name."`
	peopleFlags
}

// Help is what `interlock operator enrol --help` adds.
func (operatorEnrol) Help() string {
	return "An order of the operator's own, or of one who governs."
}

// Run gives an operator a new link. The one before it, if there is one, ends.
func (c *operatorEnrol) Run(p *program) error {
	address, err := c.address(p)
	if err != nil {
		return err
	}
	enrolment, secret, err := console.NewEnrolment(nil, now())
	if err != nil {
		return err
	}
	err = p.change(c.Name, c.peopleFlags, admission.OperatorTerms{Enrolment: &enrolment}, func(o interlock.OperatorRecord) bool {
		return o.Enrolment != nil && o.Enrolment.Hash == enrolment.Hash
	})
	if err != nil {
		return err
	}
	return printEnrolment(p, address, c.Name, secret)
}

// printEnrolment shows a link once; only the hash of its secret is kept.
func printEnrolment(p *program, address, name, secret string) error {
	_, err := fmt.Fprintf(p.stdout, "open this link within an hour to register a passkey; it works once, for whoever has it:\n%s\n",
		console.EnrolmentLink(address, name, secret))
	return err
}

type operatorLogin struct {
	Name string `arg:"" help:"The operator's name."`
	Key  string `help:"Private key file to sign with. Default: the operator's key in the SSH agent." placeholder:"FILE"`
	consoleFlag
}

// Help is what `interlock operator login --help` adds.
func (operatorLogin) Help() string {
	return "For a browser that runs no script, or an operator without a passkey. The link works once, within five minutes, " +
		"and only at a server that was running when it was made."
}

// Run signs a ticket and prints the link that uses it.
func (c *operatorLogin) Run(p *program) error {
	address, err := c.address(p)
	if err != nil {
		return err
	}
	backend, standing, err := p.openStanding()
	if err != nil {
		return err
	}
	defer backend.Close()
	operator, known := standing.Operators[c.Name]
	if !known || !operator.Revoked.IsZero() {
		return interlock.Errorf(interlock.CodeNotFound, "NAME", "no operator of this name is in office")
	}
	if err := p.person(backend, c.Name); err != nil {
		return err
	}
	flags := answerFlags{As: c.Name, Key: c.Key}
	signer, err := flags.signer(p, standing)
	if err != nil {
		return err
	}
	defer signer.Close()
	if _, err := p.proves(backend, signer); err != nil {
		return err
	}
	if name, found := operatorOf(standing, signer.PublicKey()); !found || name != c.Name {
		return interlock.Errorf(interlock.CodeUnauthorized, "--key", "the key %s is not the registered key of %s",
			signer.PublicKey().Fingerprint(), c.Name)
	}
	var nonce [16]byte
	if _, err := rand.Read(nonce[:]); err != nil {
		return fmt.Errorf("reading randomness: %w", err)
	}
	ticket := console.Ticket{Operator: c.Name, Nonce: hex.EncodeToString(nonce[:]), Issued: now().UTC()}
	if ticket.Signature, err = signer.SignApproval(rand.Reader, ticket.Statement(address)); err != nil {
		return err
	}
	link, err := ticket.Link(address)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "open this link within five minutes; it logs %s in once:\n%s\n", c.Name, link)
	return err
}
