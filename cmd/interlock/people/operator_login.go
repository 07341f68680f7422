package people

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission/governance"
	"interlock/internal/auditlog"
	"interlock/internal/console"
	"interlock/internal/quorum"
)

// consoleFlag says at which address links lead into the console: `interlock up --listen` may have been told another than the
// settings are.
type consoleFlag struct {
	Console string `help:"Address of the console, as interlock up prints it. Default: from the settings." placeholder:"URL"`
}

// address is where the console is, or what is wrong with what was named.
func (f consoleFlag) address(p *cli.Program) (string, error) {
	settings, err := p.Settings()
	if err != nil {
		return "", err
	}
	if settings.ConsoleURL != "" && f.Console == "" {
		if settings, err = p.InForce(settings); err != nil {
			return "", err
		}
	}
	address := cli.ConsoleURL(settings, settings.Listen)
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
	return "", cli.Usage(err)
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
func (c *operatorEnrol) Run(p *cli.Program) error {
	address, err := c.address(p)
	if err != nil {
		return err
	}
	enrolment, secret, err := console.NewEnrolment(nil, cli.Now())
	if err != nil {
		return err
	}
	err = change(p, c.Name, c.peopleFlags, governance.OperatorTerms{Enrolment: &enrolment}, func(o interlock.OperatorRecord) bool {
		return o.Enrolment != nil && o.Enrolment.Hash == enrolment.Hash
	})
	if err != nil {
		return err
	}
	return printEnrolment(p, address, c.Name, secret)
}

// printEnrolment shows a link once; only the hash of its secret is kept.
func printEnrolment(p *cli.Program, address, name, secret string) error {
	_, err := fmt.Fprintf(p.Stdout, "open this link within an hour to register a passkey; it works once, for whoever has it:\n%s\n",
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
func (c *operatorLogin) Run(p *cli.Program) error {
	address, err := c.address(p)
	if err != nil {
		return err
	}
	backend, standing, err := p.OpenStanding()
	if err != nil {
		return err
	}
	defer backend.Close()
	operator, known := standing.Operators[c.Name]
	if !known || !operator.Revoked.IsZero() {
		return interlock.Errorf(interlock.CodeNotFound, "NAME", "no operator of this name is in office")
	}
	if err := p.Person(backend, c.Name); err != nil {
		return err
	}
	flags := cli.OrderFlags{As: c.Name, Key: c.Key}
	signer, err := flags.Signer(p, standing)
	if err != nil {
		return err
	}
	defer signer.Close()
	if _, err := p.Proves(backend, signer); err != nil {
		return err
	}
	if name, found := cli.OperatorOf(standing, signer.PublicKey()); !found || name != c.Name {
		return interlock.Errorf(interlock.CodeUnauthorized, "--key", "the key %s is not the registered key of %s",
			signer.PublicKey().Fingerprint(), c.Name)
	}
	var nonce [16]byte
	if _, err := rand.Read(nonce[:]); err != nil {
		return fmt.Errorf("reading randomness: %w", err)
	}
	ticket := console.Ticket{Operator: c.Name, Nonce: hex.EncodeToString(nonce[:]), Issued: cli.Now().UTC()}
	if ticket.Signature, err = signer.SignApproval(rand.Reader, ticket.Statement(address)); err != nil {
		return err
	}
	link, err := ticket.Link(address)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "open this link within five minutes; it logs %s in once:\n%s\n", c.Name, link)
	return err
}

type operatorPasskey struct {
	List   passkeyList   `cmd:"" help:"List an operator's passkeys."`
	Remove passkeyRemove `cmd:"" help:"Remove one passkey, from now on."`
}

type passkeyList struct {
	Name string `arg:"" help:"The operator's name."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run lists what an operator may log in and sign with in the console.
func (c *passkeyList) Run(p *cli.Program) error {
	backend, standing, err := p.OpenStanding()
	if err != nil {
		return err
	}
	defer backend.Close()
	operator, known := standing.Operators[c.Name]
	if !known {
		return interlock.Errorf(interlock.CodeNotFound, "NAME", "no operator has this name; `interlock operator list` shows them")
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, cli.OrEmpty(operator.Passkeys))
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tNAME\tMADE\tFOR")
	for _, key := range operator.Passkeys {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", cli.Printable(key.ID), cli.Printable(key.Name), cli.Day(key.Created),
			cli.Printable(key.RelyingID))
	}
	return table.Flush()
}

type passkeyRemove struct {
	Name string `arg:"" help:"The operator's name."`
	ID   string `arg:"" optional:"" help:"The passkey's id, as interlock operator passkey list shows it."`
	All  bool   `help:"Remove every one."`
	peopleFlags
}

// Help is what `interlock operator passkey remove --help` adds.
func (passkeyRemove) Help() string {
	return "For a device that was lost. Its sessions end, and what it approved and nobody has used yet counts no longer. The operator stays;\n" +
		"`interlock operator enrol NAME` registers another passkey."
}

// Run removes a passkey.
func (c *passkeyRemove) Run(p *cli.Program) error {
	said := "passkey " + cli.Printable(c.ID)
	switch {
	case c.All == (c.ID != ""):
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "ID", "name one passkey, or give --all"))
	case c.All:
		c.ID, said = governance.AllPasskeys, "every passkey"
	}
	err := change(p, c.Name, c.peopleFlags, governance.OperatorTerms{Passkey: c.ID}, func(o interlock.OperatorRecord) bool {
		return len(o.Passkeys) == 0 || !c.All && !slices.ContainsFunc(o.Passkeys, func(k interlock.Passkey) bool { return k.ID == c.ID })
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s of operator %s removed\n", said, c.Name)
	return err
}

type operatorProbe struct {
	Count  int    `help:"How many questions with seeded errors to put, 1 to 20." default:"5" placeholder:"N"`
	Reason string `help:"Why, for the record." placeholder:"TEXT"`
	Report bool   `help:"Report how many of the seeded errors were found, instead of seeding any."`
	Since  string `help:"How far back the report looks." default:"90d" placeholder:"TIME"`
	JSON   bool   `name:"json" help:"Print the report as one JSON object."`
}

// Help is what `interlock operator probe --help` adds.
func (operatorProbe) Help() string {
	return "The questions look like others and wait among them; each states one thing and does another. Whatever is answered permits nothing,\n" +
		"they are in no count of answers, and the log marks them. The report ends with 1 where not more than 80 % of those answered were found."
}

// Run seeds errors, or reports.
func (c *operatorProbe) Run(p *cli.Program) error {
	length, err := cli.Period(c.Since)
	if err != nil {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--since", "%s", err))
	}
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	if c.Report {
		return c.report(p, backend, cli.Now().Add(-length))
	}
	if err := p.Person(backend, "probes"); err != nil {
		return err
	}
	ids, err := backend.Probe(p.Ctx, c.Count, c.Reason)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s with seeded errors among those that wait; `interlock operator probe --report` says how many were found\n",
		cli.Plural(len(ids), "question"))
	return err
}

// report counts from the log.
func (c *operatorProbe) report(p *cli.Program, backend *embedded.Backend, since time.Time) error {
	seeded, answers := 0, []interlock.ApprovalRequest(nil)
	err := backend.Store.Walk(p.Ctx, func(e interlock.Entry) error {
		switch e.Type {
		case interlock.EventProbe:
			put, at, err := auditlog.ProbesOf(e)
			if err == nil && at.After(since) {
				seeded += len(put)
			}
			return err
		case interlock.EventApproval:
			request, approval, err := auditlog.ApprovalOf(e)
			if err == nil && request.Created.After(since) {
				request.Approval = &approval
				answers = append(answers, request)
			}
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	found := quorum.ProbedOf(seeded, answers)
	if c.JSON {
		err = cli.WriteLine(p.Stdout, found)
	} else {
		verdict := "PASS"
		if !found.Passed {
			verdict = "FAIL"
		}
		_, err = fmt.Fprintf(p.Stdout, "%d seeded, %d answered, %d found, %d approved, %d not answered\nfound  %.0f %% of those answered, more "+
			"than 80 %% is asked for: %s\n", found.Seeded, found.Answered, found.Found, found.Missed, found.Expired, 100*found.Share, verdict)
	}
	if err == nil && !found.Passed {
		err = &cli.ExitCode{Code: 1}
	}
	return err
}
