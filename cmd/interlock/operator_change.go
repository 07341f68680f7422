package main

import (
	"fmt"
	"slices"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

type operatorChange struct {
	Name   string   `arg:"" help:"The operator's name."`
	SSHKey string   `name:"ssh-key" help:"Public key file (ending in .pub) in place of the one there is." placeholder:"FILE"`
	Team   []string `help:"Team that rules may name as approvers, in place of those there are; may be given more than once." placeholder:"NAME"`
	Role   string   `help:"viewer, auditor, council, operator, admin or superadmin." placeholder:"ROLE"`
	peopleFlags
}

// Help is what `interlock operator change --help` adds.
func (operatorChange) Help() string {
	return "Everybody may change their own key. The rest takes an order of one who governs."
}

// Run changes what is known of an operator.
func (c *operatorChange) Run(p *program) error {
	if c.Role != "" && !quorum.ValidRole(c.Role) {
		return usage(unknownRole(c.Role))
	}
	if c.Role == "" && len(c.Team) == 0 && c.SSHKey == "" {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--role", "say what is to change: --role, --team or --ssh-key"))
	}
	terms := admission.OperatorTerms{Role: c.Role, Teams: c.Team}
	if c.SSHKey != "" {
		key, err := readPublicKey(c.SSHKey)
		if err != nil {
			return err
		}
		if err := p.noteUnprotected(c.SSHKey); err != nil {
			return err
		}
		terms.SSHKey = key.String()
	}
	err := p.change(c.Name, c.peopleFlags, terms, func(o interlock.OperatorRecord) bool {
		return (c.Role == "" || o.Role == c.Role) && (len(c.Team) == 0 || slices.Equal(o.Teams, c.Team)) &&
			(terms.SSHKey == "" || o.SSHKey == terms.SSHKey)
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "operator %s changed\n", c.Name)
	return err
}

// change has an order to change an operator signed and carried out.
func (p *program) change(name string, who peopleFlags, terms admission.OperatorTerms,
	done func(interlock.OperatorRecord) bool) error {
	address, err := who.address(p)
	if err != nil {
		return err
	}
	detail, err := admission.Detail(terms)
	if err != nil {
		return err
	}
	given, err := newOrder(interlock.VerbChangeOperator, name, detail, "", interlock.Requester{})
	if err != nil {
		return err
	}
	backend, standing, err := p.openStanding()
	if err != nil {
		return err
	}
	defer backend.Close()
	if known, there := standing.Operators[name]; !there || !known.Revoked.IsZero() {
		return notInOffice()
	}
	return p.orderPeople(backend, who, address, given, func(s ledger.Standing) bool { return done(s.Operators[name]) })
}
