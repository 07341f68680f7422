package audit

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/account"
	"interlock/internal/admission/containment"
	"interlock/internal/auditlog"
	"interlock/internal/fileio"
	"interlock/internal/ledger"
	"interlock/internal/store"
)

type ReportCommand struct {
	New    reportNew    `cmd:"" help:"Record what somebody reports to be wrong."`
	List   reportList   `cmd:"" default:"withargs" help:"List reports and what became of them, newest first."`
	Triage reportTriage `cmd:"" help:"Say what becomes of a report."`
}

type reportNew struct {
	File     string `help:"The report: its first line is the title, the rest how it is seen. - is standard input." required:"" placeholder:"FILE"`
	Severity string `help:"low, medium, high or critical." default:"medium" placeholder:"LEVEL"`
	From     string `help:"Whom it came from." placeholder:"NAME"`
}

// Help is what `interlock report new --help` adds.
func (reportNew) Help() string {
	return "Recorded as INCIDENT_CREATED, with secrets taken out; people are told. The id that is printed is what triage takes."
}

// Run records a report.
func (c *reportNew) Run(p *cli.Program) error {
	text, err := c.read(p)
	if err != nil {
		return err
	}
	title, body, _ := strings.Cut(strings.TrimSpace(text), "\n")
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	if strings.TrimSpace(body) == "" {
		body = title
	}
	event, err := backend.ReportIncident(p.Ctx, interlock.Requester{Principal: account.Name(), Agent: "cli"},
		containment.IncidentReport{Title: strings.TrimSpace(title), Severity: c.Severity, Text: strings.TrimSpace(body), From: c.From})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "recorded as %s\n", event)
	return err
}

// maxReportFile bounds the file of a report.
const maxReportFile = 64 << 10

func (c *reportNew) read(p *cli.Program) (string, error) {
	if c.File != "-" {
		opened, err := fileio.Open(c.File)
		if err != nil {
			return "", interlock.Errorf(interlock.CodeNotFound, "--file", "%s can't be read: %s", c.File, fileio.Reason(err))
		}
		defer opened.Close()
		return readReport(opened)
	}
	return readReport(p.Stdin)
}

func readReport(from io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(from, maxReportFile+1))
	if err != nil {
		return "", fmt.Errorf("reading the report: %w", err)
	}
	if len(text) > maxReportFile {
		return "", interlock.Errorf(interlock.CodeLimited, "--file", "is longer than %d bytes", maxReportFile)
	}
	return string(text), nil
}

type reportList struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// maxReports is how many of each are read.
const maxReports = 500

// Run lists reports.
func (c *reportList) Run(p *cli.Program) error {
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	list, err := reports(p, opened)
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, cli.OrEmpty(list))
	}
	if len(list) == 0 {
		_, err = fmt.Fprintln(p.Stdout, "nothing was reported")
		return err
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "REPORT\tSINCE\tSEVERITY\tSTATE\tTITLE")
	for _, r := range list {
		fmt.Fprintf(table, "%.12s\t%s\t%s\t%s\t%s\n", r.Event, r.At.Local().Format("2006-01-02 15:04"), r.Severity, r.State, cli.Brief(r.Title))
	}
	return table.Flush()
}

// reports reads the reports and, of each, what was said of it last.
func reports(p *cli.Program, opened *store.Store) (list []auditlog.Reported, err error) {
	states := map[string]string{}
	for _, kind := range []interlock.EventType{interlock.EventTriage, interlock.EventReport} {
		entries, err := opened.Entries(p.Ctx, kind, ledger.Before(-1, maxReports))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			r, err := auditlog.ReportOf(e)
			if err != nil {
				return nil, err
			}
			if kind == interlock.EventReport {
				if r.State = states[r.Event]; r.State == "" {
					r.State = "open"
				}
				list = append(list, r)
			} else if states[r.Event] == "" { // the newest comes first
				states[r.Event] = r.State
			}
		}
	}
	return list, nil
}

type reportTriage struct {
	cli.OrderFlags
	Report string   `arg:"" help:"The report's id, or as much of it as names no other." placeholder:"ID"`
	State  string   `name:"state" required:"" help:"confirmed, duplicate, declined or mended." placeholder:"STATE"`
	On     []string `name:"on" help:"What a confirmed report touches: ruleset:DIGEST, manifest:DIGEST or event:ID." placeholder:"NAME"`
	Reason string   `required:"" help:"Why, for the record." placeholder:"TEXT"`
}

// Help is what `interlock report triage --help` adds.
func (reportTriage) Help() string {
	return "An operator's signed order, recorded as INCIDENT_ACK. One that is confirmed is recorded as SECURITY_INCIDENT as well, and nothing is\n" +
		"decided or made again under what it touches until the hold is cleared: what --on names, else, where the report is of severity high\n" +
		"or critical, the snapshots in force, so that everything is refused."
}

// Run says what becomes of a report.
func (c *reportTriage) Run(p *cli.Program) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	list, err := reports(p, backend.Store)
	if err != nil {
		return err
	}
	var found []auditlog.Reported
	for _, r := range list {
		if len(c.Report) >= 6 && strings.HasPrefix(r.Event, c.Report) {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		return interlock.Errorf(interlock.CodeNotFound, "ID",
			"names %d reports; `interlock report list` lists them, give 6 characters or more", len(found))
	}
	given, done, err := p.OrderNew(backend, c.OrderFlags, interlock.VerbTriage, found[0].Event,
		strings.Join(append([]string{c.State}, c.On...), " "), c.Reason)
	if err != nil {
		return err
	}
	return p.Done(done, "%s is %s, by order of %s", cli.Brief(found[0].Title), c.State, given.Operator)
}
