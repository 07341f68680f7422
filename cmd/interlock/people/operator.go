package people

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"text/tabwriter"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission/core"
	"interlock/internal/admission/governance"
	"interlock/internal/console"
	"interlock/internal/fileio"
	"interlock/internal/identity"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

type OperatorCommand struct {
	Add     operatorAdd     `cmd:"" help:"Register a person by SSH public key, or by a link to register a passkey."`
	Enrol   operatorEnrol   `cmd:"" help:"Print a new one-time link with which an operator registers a passkey."`
	Login   operatorLogin   `cmd:"" help:"Print a one-time link into the console, signed by the operator's SSH key."`
	Passkey operatorPasskey `cmd:"" help:"List an operator's passkeys, or remove one."`
	List    operatorList    `cmd:"" help:"List operators, or print them as an ssh-keygen allowed_signers file."`
	Change  operatorChange  `cmd:"" help:"Give an operator another role, other teams or another SSH key."`
	cli.PlainOrders
	Probe  operatorProbe  `cmd:"" help:"Put questions with seeded errors among those that wait, or report how many of them people found."`
	Weak   operatorWeak   `cmd:"" name:"weak-keys" help:"Permit keys without a passphrase to sign in this home, or refuse them again."`
	Revoke operatorRevoke `cmd:"" help:"End an operator's right to answer, from now on."`
}

type operatorAdd struct {
	Name   string   `arg:"" help:"1 to 64 characters of a-z, 0-9, . _ @ and -."`
	SSHKey string   `name:"ssh-key" help:"Public key file (ending in .pub): ed25519, ecdsa, rsa from 3072 bits, or a security key." placeholder:"FILE"`
	Enrol  bool     `help:"Print a one-time link with which the person registers a passkey in the console."`
	Team   []string `help:"Team that rules may name as approvers; may be given more than once." placeholder:"NAME"`
	Role   string   `help:"viewer, auditor, council, operator, admin or superadmin. Default: operator, and admin for the first." placeholder:"ROLE"`
	peopleFlags
}

// Help is what `interlock operator add --help` adds.
func (operatorAdd) Help() string {
	return "The first operator governs, and is made once, at a terminal, by typing back a word that is shown there. Every other one is an\n" +
		"admin's order, signed with an SSH key here or with a passkey in the console."
}

// Run registers an operator.
func (c *operatorAdd) Run(p *cli.Program) error {
	if err := identity.CheckName("NAME", c.Name); err != nil {
		return cli.Usage(err)
	}
	if c.Role != "" && !quorum.ValidRole(c.Role) {
		return cli.Usage(unknownRole(c.Role))
	}
	if c.SSHKey == "" && !c.Enrol {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--ssh-key",
			"name the person's public key file, or give --enrol for a link to register a passkey"))
	}
	address, err := c.address(p)
	if err != nil {
		return err
	}
	record := interlock.OperatorRecord{Name: c.Name, Role: c.Role, Teams: c.Team, Created: cli.Now().UTC()}
	var key identity.PublicKey
	if c.SSHKey != "" {
		if key, err = readPublicKey(c.SSHKey); err != nil {
			return err
		}
		if err := p.NoteUnprotected(c.SSHKey); err != nil {
			return err
		}
		record.SSHKey = key.String()
	}
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	standing, err := p.Standing(backend)
	if err != nil {
		return err
	}
	if err := c.free(standing, key); err != nil {
		return err
	}
	secret := ""
	if c.Enrol {
		var enrolment interlock.Enrolment
		if enrolment, secret, err = console.NewEnrolment(nil, cli.Now()); err != nil {
			return err
		}
		record.Enrolment = &enrolment
	}
	if governance.HasGovernor(standing) {
		err = c.ordered(p, backend, &record)
	} else {
		err = first(p, backend, &record, c.shown(key))
	}
	if errors.Is(err, identity.ErrNoTerminal) { // a script that sets a machine up goes on; it has made nobody
		_, err = fmt.Fprintf(p.Stderr, "nobody was added: the first operator is made by a person, so run this again at a terminal; until then "+
			"nobody can answer, and what is asked about stays refused\n")
		return err
	}
	if err != nil {
		return err
	}
	said := fmt.Sprintf("operator %s added as %s", c.Name, record.Role)
	if c.SSHKey != "" {
		said += " with key " + key.Fingerprint()
	}
	fmt.Fprintln(p.Stdout, said)
	if !governance.HasGovernor(standing) { // before it
		fmt.Fprintln(p.Stdout, cli.Pair(record.Role))
	}
	if !c.Enrol {
		return nil
	}
	return printEnrolment(p, address, c.Name, secret)
}

func unknownRole(role string) error {
	return interlock.Errorf(interlock.CodeInvalid, "--role", "%.40q is not known; name one of %s", role,
		strings.Join(quorum.Roles(), ", "))
}

// readPublicKey reads the public half of a person's key.
func readPublicKey(path string) (identity.PublicKey, error) {
	text, err := fileio.Plain(path, 1<<20)
	if err != nil {
		return identity.PublicKey{}, cli.Usage(interlock.Errorf(interlock.CodeNotFound, "--ssh-key", "the key file can't be read"))
	}
	return identity.ParsePublicKey(text)
}

// ordered adds an operator by an order of one who governs.
func (c *operatorAdd) ordered(p *cli.Program, backend *embedded.Backend, record *interlock.OperatorRecord) error {
	record.Role = cmp.Or(record.Role, quorum.RoleOperator)
	detail, err := governance.Detail(governance.OperatorTerms{Role: record.Role, Teams: record.Teams, SSHKey: record.SSHKey,
		Enrolment: record.Enrolment})
	if err != nil {
		return err
	}
	given, err := cli.NewOrder(interlock.VerbAddOperator, c.Name, detail, "", interlock.Requester{})
	if err != nil {
		return err
	}
	return orderPeople(p, backend, c.peopleFlags, given, func(standing ledger.Standing) bool {
		added := standing.Operators[c.Name]
		return added.Revoked.IsZero() && added.Role == record.Role && added.SSHKey == record.SSHKey &&
			(record.Enrolment == nil || added.Enrolment != nil && added.Enrolment.Hash == record.Enrolment.Hash)
	})
}

// shown says with what the person will answer.
func (c *operatorAdd) shown(key identity.PublicKey) string {
	switch {
	case c.SSHKey == "":
		return "a passkey, by a link"
	case c.Enrol:
		return key.Fingerprint() + ", and a passkey, by a link"
	}
	return key.Fingerprint()
}

// free refuses a name or a key that is somebody's.
func (c *operatorAdd) free(standing ledger.Standing, key identity.PublicKey) error {
	if known, taken := standing.Operators[c.Name]; taken && known.Revoked.IsZero() {
		return interlock.Errorf(interlock.CodeConflict, "NAME",
			"an operator has this name; `interlock operator change` gives them another key")
	}
	if c.SSHKey == "" {
		return nil
	}
	if other, taken := cli.OperatorOf(standing, key); taken {
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
func (c *operatorList) Run(p *cli.Program) error {
	backend, standing, err := p.OpenStanding()
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
		return cli.WriteLine(p.Stdout, operators)
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
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
			fmt.Fprintln(p.Stdout, line)
			continue
		}
		fingerprint := "unreadable"
		if operator.SSHKey == "" {
			fingerprint = "-"
		} else if key, err := identity.ParsePublicKey([]byte(operator.SSHKey)); err == nil {
			fingerprint = key.Fingerprint()
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\n", operator.Name, operator.Role, fingerprint, len(operator.Passkeys),
			cli.Day(operator.Created), cli.Day(operator.Revoked))
	}
	return table.Flush()
}

type operatorRevoke struct {
	Name string `arg:"" help:"The operator's name."`
	peopleFlags
}

// Run revokes an operator. What the operator approved and nobody has spent yet counts no longer.
func (c *operatorRevoke) Run(p *cli.Program) error {
	backend, standing, err := p.OpenStanding()
	if err != nil {
		return err
	}
	defer backend.Close()
	if known, there := standing.Operators[c.Name]; !there || !known.Revoked.IsZero() {
		return notInOffice()
	}
	return revoke(p, backend, c.peopleFlags, "operator", c.Name,
		func(s ledger.Standing) bool { return !s.Operators[c.Name].Revoked.IsZero() })
}

// notInOffice is said of a name that nobody has and of one who has left.
func notInOffice() error {
	return interlock.Errorf(interlock.CodeNotFound, "NAME", "no operator of this name is in office")
}

type operatorWeak struct {
	What   string `arg:"" enum:"permit,refuse" help:"permit or refuse."`
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
	peopleFlags
}

// Help is what `interlock operator weak-keys --help` adds.
func (operatorWeak) Help() string {
	return "A key without a passphrase signs for anything of its owner's user, so it signs nothing here unless one home " +
		"is told to let it. That takes\n" +
		"a passkey, in the console, or a security key. What such keys sign from then on is marked in its event."
}

// Run has an order about weak keys signed and carried out.
func (c *operatorWeak) Run(p *cli.Program) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	detail, said := core.WeakKeysMay, "keys without a passphrase may sign here; what they sign is marked\n"
	if c.What == "refuse" {
		detail, said = core.WeakKeysMayNot, "keys without a passphrase sign nothing here\n"
	}
	given, err := cli.NewOrder(interlock.VerbWeakKeys, core.WeakKeysSubject, detail, c.Reason, interlock.Requester{})
	if err != nil {
		return err
	}
	err = orderPeople(p, backend, c.peopleFlags, given, func(ledger.Standing) bool {
		may, err := backend.WeakKeysMaySign(p.Ctx)
		return err == nil && may == (c.What == "permit")
	})
	if err == nil {
		_, err = fmt.Fprint(p.Stdout, said)
	}
	return err
}

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
func (c *operatorChange) Run(p *cli.Program) error {
	if c.Role != "" && !quorum.ValidRole(c.Role) {
		return cli.Usage(unknownRole(c.Role))
	}
	if c.Role == "" && len(c.Team) == 0 && c.SSHKey == "" {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--role", "say what is to change: --role, --team or --ssh-key"))
	}
	terms := governance.OperatorTerms{Role: c.Role, Teams: c.Team}
	if c.SSHKey != "" {
		key, err := readPublicKey(c.SSHKey)
		if err != nil {
			return err
		}
		if err := p.NoteUnprotected(c.SSHKey); err != nil {
			return err
		}
		terms.SSHKey = key.String()
	}
	err := change(p, c.Name, c.peopleFlags, terms, func(o interlock.OperatorRecord) bool {
		return (c.Role == "" || o.Role == c.Role) && (len(c.Team) == 0 || slices.Equal(o.Teams, c.Team)) &&
			(terms.SSHKey == "" || o.SSHKey == terms.SSHKey)
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "operator %s changed\n", c.Name)
	return err
}

// change has an order to change an operator signed and carried out.
func change(p *cli.Program, name string, who peopleFlags, terms governance.OperatorTerms,
	done func(interlock.OperatorRecord) bool) error {
	detail, err := governance.Detail(terms)
	if err != nil {
		return err
	}
	given, err := cli.NewOrder(interlock.VerbChangeOperator, name, detail, "", interlock.Requester{})
	if err != nil {
		return err
	}
	backend, standing, err := p.OpenStanding()
	if err != nil {
		return err
	}
	defer backend.Close()
	if known, there := standing.Operators[name]; !there || !known.Revoked.IsZero() {
		return notInOffice()
	}
	return orderPeople(p, backend, who, given, func(s ledger.Standing) bool { return done(s.Operators[name]) })
}
