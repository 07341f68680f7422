package console

import (
	"encoding/json"
	"net/http"
	"time"

	"interlock"
	"interlock/internal/dataflow"
	"interlock/internal/rollback"
)

// planRollback says as JSON what has to be undone of a compromised agent since a time, or of one event, and of everything downstream:
// ?agent=NAME&since=2026-03-04T05:06:07Z or ?event=ID. It changes nothing; beginning one is an order on the command line.
func (c *Console) planRollback(w http.ResponseWriter, r *http.Request) {
	seed, err := seedOf(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	if !c.long.TryLock() {
		c.fail(w, r, errBusy)
		return
	}
	defer c.long.Unlock()
	plan, err := rollback.Read(func(visit func(interlock.Entry) error) error { return c.config.Log.Walk(r.Context(), visit) }, 0, seed,
		c.config.Facts.Rules())
	var text []byte
	if err == nil {
		text, err = json.Marshal(plan)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	patient(w).extend() // reading took its own time
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n')) // a browser that went away has lost nothing
}

func seedOf(r *http.Request) (seed dataflow.Seed, err error) {
	q := r.URL.Query()
	seed.Agent, seed.Event = q.Get("agent"), q.Get("event")
	if since := q.Get("since"); since != "" {
		if seed.Since, err = time.Parse(time.RFC3339, since); err != nil {
			return seed, interlock.Errorf(interlock.CodeInvalid, "since", "is a time such as 2026-03-04T05:06:07Z")
		}
	}
	seed.Since = seed.Since.UTC()
	return seed, rollback.Check(seed)
}
