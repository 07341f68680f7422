package answer

import (
	"fmt"
	"io"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/auditlog"
	"interlock/internal/quorum"
)

// healthWindow is how far back answers are looked at.
const healthWindow = 7 * 24 * time.Hour

// health prints whether the people in charge still decide.
func (c *PendingCommand) health(p *cli.Program, backend *embedded.Backend) error {
	var answers []quorum.Answered
	since := cli.Now().Add(-healthWindow)
	err := backend.Store.Walk(p.Ctx, func(e interlock.Entry) error {
		if e.Type != interlock.EventApproval {
			return nil
		}
		request, approval, err := auditlog.ApprovalOf(e)
		if err != nil {
			return err
		}
		if approval.At.After(since) {
			answers = append(answers, quorum.AnsweredFrom(request, approval))
		}
		return nil
	})
	if err != nil {
		return err
	}
	h := quorum.HealthOf(answers)
	if c.JSON {
		return cli.WriteLine(p.Stdout, h)
	}
	return printHealth(p.Stdout, h)
}

func printHealth(w io.Writer, h quorum.Health) error {
	fmt.Fprintf(w, "%d answers in 7 days\n", h.Answers)
	if h.Answers > 0 {
		fmt.Fprintf(w, "median time to decide  %s\napproved               %.0f %%\nunder 3 seconds        %.0f "+
			"%%\nbusiest hour           %d by one operator\n",
			h.Median.Round(100*time.Millisecond), 100*h.Approved, 100*h.Hasty, h.Busiest)
	}
	for _, alarm := range h.Alarms {
		fmt.Fprintln(w, "ALARM", alarm)
	}
	return nil
}
