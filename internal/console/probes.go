package console

import (
	"net/http"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/quorum"
)

// probesWithin is how far back seeded errors are counted, as the command line counts them.
const probesWithin = 90 * 24 * time.Hour

// A seeding is one time that questions with errors were put to operators. Which of the questions that wait they are is not said: whoever
// sees that answers them knowingly.
type seeding struct {
	At      time.Time
	Event   string
	Put     int
	Found   int // answered with a no
	Missed  int // with a yes
	Waiting int // or not answered in time
}

// A probed is what became of seeded errors.
type probed struct {
	quorum.Probed
	Seedings []*seeding
	Counted  bool
	Share    int // in percent, of those answered
}

// probesPage says what seeded errors are for, and offers to count what became of them.
func (c *Console) probesPage(w http.ResponseWriter, r *http.Request) {
	c.render(w, r, http.StatusOK, "probes.html", "Seeded errors", probed{})
}

// countProbes reads the whole log and says how many of the seeded errors were found.
func (c *Console) countProbes(w http.ResponseWriter, r *http.Request) {
	if !c.long.TryLock() {
		c.fail(w, r, errBusy)
		return
	}
	defer c.long.Unlock()
	page := probed{Counted: true}
	since, put := c.config.Now().Add(-probesWithin), map[string]*seeding{} // by request
	var answers []interlock.ApprovalRequest
	err := c.config.Log.Walk(r.Context(), func(e interlock.Entry) error {
		switch {
		case auditlog.Released(&e):
		case e.Type == interlock.EventProbe:
			requests, at, err := auditlog.ProbesOf(e)
			if err != nil || !at.After(since) {
				return err
			}
			one := &seeding{At: at, Event: e.ID, Put: len(requests), Waiting: len(requests)}
			page.Seedings = append(page.Seedings, one)
			for _, id := range requests {
				put[id] = one
			}
		case e.Type == interlock.EventApproval:
			request, approval, err := auditlog.ApprovalOf(e)
			if err != nil {
				return err
			}
			if one := put[request.ID]; one != nil {
				one.answered(approval)
				request.Approval = &approval
				answers = append(answers, request)
			}
		}
		return nil
	})
	if err != nil {
		c.fail(w, r, err)
		return
	}
	seeded := 0
	for _, one := range page.Seedings {
		seeded += one.Put
	}
	page.Probed = quorum.ProbedOf(seeded, answers)
	page.Share = int(page.Probed.Share*100 + .5)
	patient(w).extend() // reading took its own time
	c.render(w, r, http.StatusOK, "probes.html", "Seeded errors", page)
}

func (s *seeding) answered(approval interlock.Approval) {
	s.Waiting--
	if approval.Verdict == interlock.Allow {
		s.Missed++
	} else {
		s.Found++
	}
}
