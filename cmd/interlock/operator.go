package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"text/tabwriter"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/console"
	"interlock/internal/identity"
	"interlock/internal/quorum"
)

type operatorCommand struct {
	Add     operatorAdd     `cmd:"" help:"Register a person by SSH public key, or by a link to register a passkey."`
	Enrol   operatorEnrol   `cmd:"" help:"Print a new one-time link with which an operator registers a passkey."`
	Login   operatorLogin   `cmd:"" help:"Print a one-time link into the console, signed by the operator's SSH key."`
	Passkey operatorPasskey `cmd:"" help:"List an operator's passkeys, or remove one."`
	List    operatorList    `cmd:"" help:"List operators, or print them as an ssh-keygen allowed_signers file."`
	Revoke  operatorRevoke  `cmd:"" help:"End an operator's right to answer, from now on."`
}

type operatorAdd struct {
	Name   string   `arg:"" help:"1 to 64 characters of a-z, 0-9, . _ @ and -."`
	SSHKey string   `name:"ssh-key" help:"Public key file (ending in .pub): ed25519, ecdsa, rsa from 3072 bits, or a security key." placeholder:"FILE"`
	Enrol  bool     `help:"Print a one-time link with which the person registers a passkey in the console."`
	Team   []string `help:"Team that rules may name as approvers; may be given more than once." placeholder:"NAME"`
	Role   string   `help:"viewer, auditor, council, operator, admin or superadmin." default:"operator" placeholder:"ROLE"`
	consoleFlag
}

// Run registers an operator.
func (c *operatorAdd) Run(p *program) error {
	if err := identity.CheckName("NAME", c.Name); err != nil {
		return usage(err)
	}
	if !quorum.ValidRole(c.Role) {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--role", "%.40q is not known; name one of %s", c.Role,
			strings.Join(quorum.Roles(), ", ")))
	}
	if c.SSHKey == "" && !c.Enrol {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--ssh-key",
			"name the person's public key file, or give --enrol for a link to register a passkey"))
	}
	address, err := c.address(p)
	if err != nil {
		return err
	}
	record := interlock.OperatorRecord{Name: c.Name, Role: c.Role, Teams: c.Team, Created: now().UTC()}
	var key identity.PublicKey
	if c.SSHKey != "" {
		text, err := os.ReadFile(c.SSHKey)
		if err != nil {
			return usage(interlock.Errorf(interlock.CodeNotFound, "--ssh-key", "the key file can't be read"))
		}
		if key, err = identity.ParsePublicKey(text); err != nil {
			return err
		}
		record.SSHKey = key.String()
	}
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	if err := c.free(p, backend, key); err != nil {
		return err
	}
	secret := ""
	if c.Enrol {
		var enrolment interlock.Enrolment
		if enrolment, secret, err = console.NewEnrolment(nil, now()); err != nil {
			return err
		}
		record.Enrolment = &enrolment
	}
	if err := backend.PutOperator(p.ctx, record); err != nil {
		return err
	}
	said := fmt.Sprintf("operator %s added as %s", c.Name, c.Role)
	if c.SSHKey != "" {
		said += " with key " + key.Fingerprint()
	}
	fmt.Fprintln(p.stdout, said)
	if !c.Enrol {
		return nil
	}
	return printEnrolment(p, address, c.Name, secret)
}

// free refuses a name or a key that is somebody's.
func (c *operatorAdd) free(p *program, backend *embedded.Backend, key identity.PublicKey) error {
	standing, err := p.standing(backend)
	if err != nil {
		return err
	}
	if known, taken := standing.Operators[c.Name]; taken && known.Revoked.IsZero() {
		return interlock.Errorf(interlock.CodeConflict, "NAME",
			"an operator has this name; revoke it first to give it another key")
	}
	if c.SSHKey == "" {
		return nil
	}
	if other, taken := operatorOf(standing, key); taken {
		return interlock.Errorf(interlock.CodeConflict, "--ssh-key",
			"the key belongs to operator %s; one key is one person", other)
	}
	return nil
}

type operatorList struct {
	JSON           bool `name:"json" help:"Print JSON." xor:"form"`
	AllowedSigners bool `help:"Print the unrevoked ones in the form ssh-keygen -Y verify -f takes." xor:"form"`
}

// Run lists operators by name.
func (c *operatorList) Run(p *program) error {
	backend, standing, err := p.openStanding()
	if err != nil {
		return err
	}
	defer backend.Close()
	operators := []interlock.OperatorRecord{}
	for _, operator := range standing.Operators {
		operators = append(operators, operator)
	}
	sort.Slice(operators, func(i, j int) bool { return operators[i].Name < operators[j].Name })
	if c.JSON {
		return writeLine(p.stdout, operators)
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	if !c.AllowedSigners {
		fmt.Fprintln(table, "NAME\tROLE\tKEY\tPASSKEYS\tADDED\tREVOKED")
	}
	for _, operator := range operators {
		if c.AllowedSigners {
			if !operator.Revoked.IsZero() || operator.SSHKey == "" {
				continue
			}
			line, err := identity.AllowedSigner(operator)
			if err != nil {
				return err
			}
			fmt.Fprintln(p.stdout, line)
			continue
		}
		fingerprint := "unreadable"
		if operator.SSHKey == "" {
			fingerprint = "-"
		} else if key, err := identity.ParsePublicKey([]byte(operator.SSHKey)); err == nil {
			fingerprint = key.Fingerprint()
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\n", operator.Name, operator.Role, fingerprint, len(operator.Passkeys),
			day(operator.Created), day(operator.Revoked))
	}
	return table.Flush()
}

type operatorRevoke struct {
	Name string `arg:"" help:"The operator's name."`
}

// Run revokes an operator. What the operator approved and nobody has spent yet counts no longer.
func (c *operatorRevoke) Run(p *program) error {
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	err = backend.UpdateOperator(p.ctx, c.Name, func(o *interlock.OperatorRecord) error {
		if !o.Revoked.IsZero() {
			return interlock.Errorf(interlock.CodeNotFound, "NAME", "no operator of this name is in office")
		}
		o.Revoked, o.Enrolment = now().UTC(), nil
		return nil
	})
	if err != nil {
		return inOffice(err)
	}
	_, err = fmt.Fprintf(p.stdout, "operator %s revoked\n", c.Name)
	return err
}

func day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.DateOnly)
}
