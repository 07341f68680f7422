package people

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/admission/governance"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

type MemoryCommand struct {
	List       memoryList       `cmd:"" default:"withargs" help:"List the facts that agents keep, without their values."`
	Show       memoryShow       `cmd:"" help:"Show what is kept under a key: its value, where it comes from, what may be wrong with that."`
	Hash       memoryHash       `cmd:"" help:"Print the sem_snapshot_hash over the stable facts that are answered."`
	Quarantine memoryQuarantine `cmd:"" help:"Hide every fact that derives from a source."`
	Release    memoryRelease    `cmd:"" help:"End a source's quarantine."`
	Rollback   memoryRollback   `cmd:"" help:"Ask the council to take back all that derives from a source and was written until then."`
}

// facts reads what is kept in this home.
func facts(p *cli.Program) (list []governance.Kept, hash string, err error) {
	opened, _, err := p.AuditStore()
	if err != nil {
		return nil, "", err
	}
	defer opened.Close()
	return governance.FactsOf(p.Ctx, opened, cli.Now())
}

// A factLine is a fact as it is printed as JSON.
type factLine struct {
	Key     string    `json:"key"`
	Store   string    `json:"store"`
	State   string    `json:"state"`
	ID      string    `json:"id"`
	Value   string    `json:"value,omitempty"`
	Bytes   int       `json:"bytes"`
	Agent   string    `json:"agent"`
	Run     string    `json:"run,omitempty"`
	Source  string    `json:"source,omitempty"`
	Derives []string  `json:"derives"`
	Taint   []string  `json:"taint"`
	Number  int       `json:"number"`
	At      time.Time `json:"at"`
	Until   time.Time `json:"until,omitzero"`
	Request string    `json:"request_id,omitempty"`
}

func lineOf(k governance.Kept) factLine {
	v := k.Shows
	return factLine{Key: k.Target, Store: k.Store, State: k.State, ID: v.ID, Bytes: len(v.Value) + len(v.Sealed), Agent: v.Agent, Run: v.Run,
		Source: v.Source, Derives: v.Derives, Taint: v.Taint, Number: k.Number, At: v.At, Until: v.Until, Request: v.Request}
}

type memoryList struct {
	Agent string `help:"Written by this agent alone." placeholder:"NAME"`
	JSON  bool   `name:"json" help:"Print JSON."`
}

// Run lists facts.
func (c *memoryList) Run(p *cli.Program) error {
	kept, _, err := facts(p)
	if err != nil {
		return err
	}
	var lines []factLine
	for _, k := range kept {
		if c.Agent == "" || k.Shows.Agent == c.Agent {
			lines = append(lines, lineOf(k))
		}
	}
	return cli.ShowRows(p, c.JSON, lines, "no facts are kept", factTable)
}

func factTable(rows []factLine) *cli.Table {
	t := cli.NewTable("FACT**", "STORE", "STATE", "AGE", "BY**", "TAINT*", "BYTES")
	for _, l := range rows {
		t.Row(cli.Printable(l.Key), l.Store, l.State, cli.Age(cli.Now().Sub(l.At)), cli.Printable(l.Agent), strings.Join(l.Taint, " "),
			strconv.Itoa(l.Bytes))
	}
	return t
}

type memoryShow struct {
	Key  string `arg:"" help:"The fact's key; behind it \" of AGENT\" where it is not shared." placeholder:"KEY"`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run shows what is kept under a key.
func (c *memoryShow) Run(p *cli.Program) error {
	kept, _, err := facts(p)
	if err != nil {
		return err
	}
	lines := []factLine{}
	for _, k := range kept {
		if k.Target == c.Key || k.Key == c.Key {
			l := lineOf(k)
			if l.Value = k.Shows.Value; len(k.Shows.Personal) > 0 {
				l.Value = "" // whose it is agreed that it is kept, and not that it is printed
			}
			lines = append(lines, l)
		}
	}
	switch {
	case len(lines) == 0:
		return interlock.Errorf(interlock.CodeNotFound, "KEY", "nothing is kept under this key; `interlock memory list` lists what is")
	case c.JSON:
		return cli.WriteLine(p.Stdout, lines)
	}
	for _, l := range lines {
		rows := [][2]string{{"fact", l.Key}, {"store", l.Store}, {"state", l.State}, {"id", l.ID}, {"value", l.Value}, {"by", l.Agent},
			{"run", l.Run}, {"source", l.Source}, {"derives", strings.Join(l.Derives, " ")}, {"taint", strings.Join(l.Taint, " ")},
			{"written", l.At.Local().Format(time.RFC3339)}, {"request", l.Request}}
		if !l.Until.IsZero() {
			rows = append(rows, [2]string{"until", l.Until.Local().Format(time.RFC3339)})
		}
		for _, row := range rows {
			if row[1] == "" {
				continue
			}
			if _, err := fmt.Fprintf(p.Stdout, "%-8s %s\n", row[0], cli.Printable(row[1])); err != nil {
				return err
			}
		}
	}
	return nil
}

type memoryHash struct{}

// Run prints the hash.
func (memoryHash) Run(p *cli.Program) error {
	_, hash, err := facts(p)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.Stdout, hash)
	return err
}

// A MemorySource is what facts derive from.
type MemorySource struct {
	cli.OrderFlags
	Source string `arg:"" help:"agent:NAME, run:ID or source:NAME." placeholder:"SOURCE"`
}

// held is the name of the hold on a source.
func (s MemorySource) held() string { return ledger.HoldName(ledger.HoldMemory, s.Source) }

type memoryQuarantine struct {
	MemorySource
	Reason string `required:"" help:"What happened, for the record." placeholder:"TEXT"`
}

// Help is what `interlock memory quarantine --help` adds.
func (memoryQuarantine) Help() string {
	return "An admin's signed order, recorded as SECURITY_INCIDENT. From then on no fact is answered that the source wrote or that was made of\n" +
		"such a fact; what was written under its key before is answered again. A quarantined agent has nothing kept."
}

// Run hides what derives from a source.
func (c *memoryQuarantine) Run(p *cli.Program) error {
	return p.PlainOrder(c.OrderFlags, interlock.VerbHold, c.held(), c.Reason, false)
}

type memoryRelease struct {
	MemorySource
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
}

// Help is what `interlock memory release --help` adds.
func (memoryRelease) Help() string {
	return "A signed order of an admin or of one of the council; where a council sits it uses up an approved request force_halt_clear on\n" +
		"memory:SOURCE. What was taken back meanwhile stays so."
}

// Run ends a quarantine.
func (c *memoryRelease) Run(p *cli.Program) error {
	return p.PlainOrder(c.OrderFlags, interlock.VerbClearHold, c.held(), c.Reason, false)
}

type memoryRollback struct {
	MemorySource
	Because string `required:"" help:"Why, for who votes." placeholder:"TEXT"`
}

// Help is what `interlock memory rollback --help` adds.
func (memoryRollback) Help() string {
	return "The same as interlock request create sem_delete --target memory:SOURCE: the council votes on it, and interlock request execute\n" +
		"carries it out, once and for good."
}

// Run asks for it.
func (c *memoryRollback) Run(p *cli.Program) error {
	detail, err := governance.Detail(governance.RequestTerms{Target: c.held()})
	if err != nil {
		return err
	}
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	_, done, err := p.OrderNew(backend, c.OrderFlags, interlock.VerbRequest, quorum.ActStableDelete, detail, c.Because)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s waits for the council until %s; recorded as event %s\n", done.Request.ID,
		done.Request.Ballot.Closes.Local().Format("2006-01-02 15:04"), done.Events[0])
	return err
}
