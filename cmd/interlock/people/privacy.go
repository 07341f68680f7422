package people

import (
	"fmt"
	"strconv"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/admission/core"
	"interlock/internal/admission/governance"
	"interlock/internal/ledger"
	"interlock/internal/memory"
	"interlock/internal/personal"
	"interlock/internal/privacy"
)

type PrivacyCommand struct {
	List    privacyList    `cmd:"" default:"withargs" help:"List of whom something may be kept, and what they permitted."`
	Consent privacyConsent `cmd:"" help:"Put on record what a person permits to be kept of them."`
	Find    privacyFind    `cmd:"" help:"Show what is kept of a person, without opening it."`
	Export  privacyExport  `cmd:"" help:"Open and print what is kept of a person who asks for it."`
	Delete  privacyDelete  `cmd:"" help:"Ask the council to delete what is kept of a person who asks for it."`
	cli.PlainOrders
}

type privacyList struct {
	cli.ListFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// Run lists consents, and people whose data is deleted.
func (c *privacyList) Run(p *cli.Program) error {
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	list, err := core.Listed[privacy.Consent](p.Ctx, opened, ledger.Consent, ledger.Before(-1, c.Limit()))
	if err != nil {
		return err
	}
	defer c.More(p, list.More())
	return cli.ShowRows(p, c.JSON, list.Rows, "nobody has consented to anything", consentTable)
}

func consentTable(rows []privacy.Consent) *cli.Table {
	t, at := cli.NewTable("SUBJECT", "TIER", "STATE", "FOR*", "UNTIL", "BY*", "CONSENT"), cli.Now()
	for n := range rows {
		l := &rows[n]
		state, of := "in force", "every run"
		switch {
		case !l.Revoked.IsZero():
			state = "revoked"
		case !at.Before(l.Until):
			state = "over"
		case l.Tier == personal.High && l.Council == "":
			state = "for medium, until the council approves"
		}
		if !l.Persistent {
			of = l.Agent + " in " + l.Run
		}
		t.Row(l.Subject, string(l.Tier), state, cli.Printable(of), when(l.Until), cli.Printable(l.Operator), l.ID)
	}
	return t
}

func when(at time.Time) string { return at.Local().Format("2006-01-02 15:04") }

type privacyConsent struct {
	cli.OrderFlags
	Subject    string `required:"" help:"The person, by an id of yours that says nothing of them." placeholder:"ID"`
	Said       string `required:"" help:"What the person agreed to, with its date. Its digest alone is recorded." placeholder:"TEXT"`
	Tier       string `enum:"medium,high" default:"medium" help:"The most sensitive data that it covers: medium or high."`
	Agent      string `help:"The agent that it is for." placeholder:"NAME"`
	Job        string `name:"run" help:"The one run of that agent that it is for." placeholder:"RUN"`
	Persistent bool   `help:"It is for every run until it ends."`
	Until      string `help:"How long it counts, such as 12h or 90d. Default: 24h for a run; needed where it is persistent." placeholder:"TIME"`
	Reason     string `required:"" help:"How the consent was given, for the record." placeholder:"TEXT"`
}

// Help is what `interlock privacy consent --help` adds.
func (privacyConsent) Help() string {
	return "A signed order, recorded as PII_CONSENT. With --tier high the most sensitive data, such as numbers of persons, cards and accounts,\n" +
		"may be kept once the council has approved it as well: interlock request create pii_store --target consent:ID --because TEXT."
}

// Run puts a consent on record.
func (c *privacyConsent) Run(p *cli.Program) error {
	lasts := 24 * time.Hour
	if c.Until != "" {
		var err error
		if lasts, err = cli.Period(c.Until); err != nil {
			return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--until", "%v", err))
		}
	} else if c.Persistent {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--until", "say how long it counts, such as 90d"))
	}
	if err := privacy.CheckSubject(c.Subject); err != nil {
		return err
	}
	terms := privacy.Terms{ID: privacy.ConsentID(c.Subject, c.Agent, c.Job, c.Said), Tier: personal.Tier(c.Tier), Agent: c.Agent,
		Run: c.Job, Persistent: c.Persistent, Until: p.Now().UTC().Truncate(time.Second).Add(lasts)}
	if err := terms.Check(p.Now()); err != nil {
		return err
	}
	detail, err := governance.Detail(terms)
	if err != nil {
		return err
	}
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	given, done, err := p.OrderNew(backend, c.OrderFlags, interlock.VerbConsent, c.Subject, detail, c.Reason)
	if err != nil {
		return err
	}
	err = p.Done(done, "consent %s of %s is on record by %s", terms.ID, c.Subject, given.Operator)
	if err == nil && terms.Tier == personal.High {
		_, err = fmt.Fprintf(p.Stdout, "for data of the high tier ask the council: interlock request create pii_store --target consent:%s "+
			"--because TEXT\n", terms.ID)
	}
	return err
}

type privacyFind struct {
	Subject string `required:"" help:"The person." placeholder:"ID"`
	JSON    bool   `name:"json" help:"Print JSON."`
}

// Run shows what is kept of a person. Nothing is opened, so that nobody need sign for it.
func (c *privacyFind) Run(p *cli.Program) error {
	backend, standing, err := p.OpenStanding(core.PersonRefs(c.Subject)...)
	if err != nil {
		return err
	}
	defer backend.Close()
	person, known := standing.Person(c.Subject)
	facts := factsAbout(standing, c.Subject)
	if !known && len(facts) == 0 {
		return interlock.Errorf(interlock.CodeNotFound, "--subject",
			"nothing is kept of a person of this name; `interlock privacy list` shows of whom")
	}
	kept := standing.KeptOf(c.Subject)
	for n := range kept {
		kept[n].Sealed = nil
	}
	person.Key = nil
	if c.JSON {
		return cli.WriteLine(p.Stdout, struct {
			Person   ledger.PersonBody     `json:"person"`
			Consents []privacy.Consent     `json:"consents"`
			Texts    []ledger.PersonalBody `json:"texts"`
			Facts    []factLine            `json:"facts"`
		}{person, cli.OrEmpty(standing.Consents(c.Subject)), cli.OrEmpty(kept), cli.OrEmpty(facts)})
	}
	if !person.Destroyed.IsZero() {
		if _, err := fmt.Fprintf(p.Stdout, "key already destroyed on %s by request %s\n", when(person.Destroyed), person.Request); err != nil {
			return err
		}
	}
	if err := cli.ShowRows(p, false, standing.Consents(c.Subject), "no consent", consentTable); err != nil {
		return err
	}
	if err := cli.ShowRows(p, false, kept, "no text is kept", func(rows []ledger.PersonalBody) *cli.Table {
		t := cli.NewTable("TEXT", "KEPT", "TIER", "BYTES", "AGENT*", "TYPES**")
		for _, l := range rows {
			t.Row(l.ID, when(l.At), cli.OrDash(string(l.Tier)), strconv.Itoa(l.Bytes), cli.Printable(l.Agent), fmt.Sprint(l.Types))
		}
		return t
	}); err != nil || len(facts) == 0 {
		return err
	}
	return cli.ShowRows(p, false, facts, "", factTable)
}

// factsAbout lists what agents keep about a person, the newest version of each without its value.
func factsAbout(standing ledger.Standing, subject string) (lines []factLine) {
	for _, f := range standing.FactsAbout(subject) {
		lines = append(lines, lineOf(governance.Kept{Fact: f, Target: memory.Target(f.Holder, f.Key), State: "kept", Shows: f.Newest()}))
	}
	return lines
}

type privacyExport struct {
	cli.OrderFlags
	Subject string `required:"" help:"The person." placeholder:"ID"`
	Reason  string `required:"" help:"How it was made sure that it is they who ask, for the record." placeholder:"TEXT"`
	Signed  bool   `help:"Print the signed order, for POST /dsr/request of the control door, and open nothing."`
}

// Help is what `interlock privacy export --help` adds.
func (privacyExport) Help() string {
	return "A signed order of an admin or of one of the council, recorded as DSR_REQUEST and admin_access_event before anything is opened.\n" +
		"Prints JSON: the texts by their ids. It takes the home's inputs.key."
}

// Run opens what is kept of a person.
func (c *privacyExport) Run(p *cli.Program) error {
	return dataRequest(p, c.OrderFlags, c.Signed, c.Subject, governance.DataExport, c.Reason, func(done core.Carried) error {
		return cli.WriteLine(p.Stdout, struct {
			Subject string            `json:"subject"`
			Texts   map[string]string `json:"texts"`
			Event   string            `json:"event"`
		}{c.Subject, done.Opened, done.Events[0]})
	})
}

// dataRequest gives a person's order, or prints it signed.
func dataRequest(p *cli.Program, who cli.OrderFlags, signed bool, subject, what, reason string, then func(core.Carried) error) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	if signed {
		given, err := cli.NewOrder(interlock.VerbDataRequest, subject, what, reason, interlock.Requester{})
		if err != nil {
			return err
		}
		return p.Signed(backend, who, given)
	}
	_, done, err := p.OrderNew(backend, who, interlock.VerbDataRequest, subject, what, reason)
	if err != nil {
		return err
	}
	return then(done)
}

type privacyDelete struct {
	cli.OrderFlags
	Subject string `required:"" help:"The person." placeholder:"ID"`
	Reason  string `required:"" help:"How it was made sure that it is they who ask, for the record." placeholder:"TEXT"`
	Signed  bool   `help:"Print the signed order, for POST /dsr/request of the control door, and ask for nothing."`
}

// Help is what `interlock privacy delete --help` adds.
func (privacyDelete) Help() string {
	return "A signed order of an admin or of one of the council, recorded as DSR_REQUEST and DSR_DELETE_REQUEST. The council votes on the\n" +
		"request; interlock request execute then destroys the person's key, deletes what was sealed under it and ends their consents."
}

// Run asks for the deletion.
func (c *privacyDelete) Run(p *cli.Program) error {
	return dataRequest(p, c.OrderFlags, c.Signed, c.Subject, governance.DataDelete, c.Reason, func(done core.Carried) error {
		r := done.Request
		return p.Done(done, "%s takes %s, quorum %d of %d, until %s", r.ID, r.Ballot.Approval, r.Ballot.Quorum, len(r.Ballot.Roster),
			when(r.Ballot.Closes))
	})
}
