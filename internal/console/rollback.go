package console

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/runs"
	"interlock/internal/console/render"
	"interlock/internal/dataflow"
	"interlock/internal/ledger"
	"interlock/internal/rollback"
)

// planRollback says as JSON what has to be undone of a compromised agent since a time, or of one event, and of everything
// downstream: ?agent=NAME&since=2026-03-04T05:06:07Z or ?event=ID. It changes nothing.
func (c *Console) planRollback(w http.ResponseWriter, r *http.Request) {
	seed, err := seedOf(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	plan, err := c.undoing(r, seed, 0)
	var text []byte
	if err == nil {
		text, err = json.Marshal(plan)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	render.Patient(w).Extend() // reading took its own time
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n')) // a browser that went away has lost nothing
}

// undoing works a plan out from so many entries of the log; from all, if none are named.
func (c *Console) undoing(r *http.Request, seed dataflow.Seed, size int64) (plan rollback.Plan, err error) {
	if !c.long.TryLock() {
		return plan, errBusy
	}
	defer c.long.Unlock()
	return rollback.Read(func(visit func(interlock.Entry) error) error { return c.config.Log.Walk(r.Context(), visit) }, size, seed,
		c.config.Facts.Rules())
}

func seedOf(r *http.Request) (seed dataflow.Seed, err error) {
	q := r.URL.Query()
	seed.Agent, seed.Event = strings.TrimSpace(q.Get("agent")), strings.TrimSpace(q.Get("event"))
	if since := q.Get("since"); since != "" {
		if err := render.Instant("since", since, &seed.Since); err != nil {
			return seed, interlock.Errorf(interlock.CodeInvalid, "since", "is a time such as 2026-03-04T05:06:07Z")
		}
	}
	seed.Since = seed.Since.UTC()
	return seed, rollback.Check(seed)
}

// maxUndone is how many steps of a plan a page shows.
const maxUndone = 200

// rollbackPlanPage shows what would have to be undone, and lets an admin begin it as it is shown.
func (c *Console) rollbackPlanPage(w http.ResponseWriter, r *http.Request) {
	seed, err := seedOf(r)
	page := struct {
		Plan    rollback.Plan
		Open    int // steps that people carry out
		Steps   []rollback.Step
		More    int
		Subject string
		Digest  interlock.Digest
		JSON    string
	}{Subject: runs.RollbackSubject(seed)}
	if err == nil {
		page.Plan, err = c.undoing(r, seed, 0)
	}
	if err == nil {
		page.Digest, err = page.Plan.Digest()
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	page.Steps = page.Plan.Steps[:min(len(page.Plan.Steps), maxUndone)]
	page.More, page.Open = len(page.Plan.Steps)-len(page.Steps), page.Plan.Open()
	query := url.Values{"event": {seed.Event}}
	if seed.Event == "" {
		query = url.Values{"agent": {seed.Agent}, "since": {seed.Since.Format(time.RFC3339Nano)}}
	}
	page.JSON = address("/rollback/plan", query)
	render.Patient(w).Extend() // reading took its own time
	c.render(w, r, http.StatusOK, "undo.html", "What would have to be undone", page)
}

// rollbacksPage lists the rollbacks that are under way, and those that have ended.
func (c *Console) rollbacksPage(w http.ResponseWriter, r *http.Request) {
	page := struct {
		Open, Ended core.List[ledger.RollbackBody]
		Agent       string // that the form is filled with
	}{Agent: render.Shorten(r.URL.Query().Get("agent"), render.MaxFilter)}
	var err error
	if page.Open, err = runs.Rollbacks(r.Context(), c.config.Backend, false, maxListed); err == nil {
		page.Ended, err = runs.Rollbacks(r.Context(), c.config.Backend, true, maxListed)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "rollbacks.html", "Rollbacks", page)
}

// rollbackPage shows how far one has come, with the steps that people carry out.
func (c *Console) rollbackPage(w http.ResponseWriter, r *http.Request) {
	body, steps, err := runs.RollbackNamed(r.Context(), c.config.Backend, r.PathValue("id"))
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "rollback.html", "Rollback "+body.ID, struct {
		ledger.RollbackBody
		Each   []ledger.RollbackStepBody
		Veiled bool // the actions' own words are not shown
	}{body, steps, !c.may(r, reading)})
}

// takeStep reads an order to tell how a step of a rollback ended.
func takeStep(d *drafting) (string, interlock.Requester, error) {
	detail := runs.StepDetail{Status: d.query.Get("status"), Stays: strings.TrimSpace(d.query.Get("stays"))}
	if detail.Status != ledger.StepDone && detail.Status != ledger.StepFailed {
		return "", interlock.Requester{}, interlock.Errorf(interlock.CodeInvalid, "status", "say %s or %s", ledger.StepDone,
			ledger.StepFailed)
	}
	return detail.String(), interlock.Requester{}, nil
}

// takePlan reads an order to begin a rollback: the plan that was shown.
func takePlan(d *drafting) (detail string, about interlock.Requester, err error) {
	seed, err := runs.SeedOf(d.subject)
	var size int64
	if err == nil {
		err = indexed(d.query, "size", &size)
	}
	var plan rollback.Plan
	if err == nil {
		plan, err = d.c.undoing(d.r, seed, size)
	}
	if err != nil {
		return "", about, err
	}
	shown := runs.RollbackDetail{Size: plan.Size, Hold: []string{}}
	if shown.Plan, err = plan.Digest(); err != nil {
		return "", about, err
	}
	if string(shown.Plan) != d.query.Get("plan") || size == 0 {
		return "", about, interlock.Errorf(interlock.CodeConflict, "plan", "this is not the plan that was shown; look at it again")
	}
	for _, a := range plan.Agents {
		if d.query.Get("hold") != "certain" || a.Sure == dataflow.Certain {
			shown.Hold = append(shown.Hold, a.Agent)
		}
	}
	if seed.Agent != "" {
		standing, err := d.c.config.Backend.Ground(d.r.Context(), ref(ledger.Agent, seed.Agent))
		if err != nil {
			return "", about, err
		}
		about = interlock.Requester{Agent: seed.Agent, Principal: standing.Agents[seed.Agent].Principal}
	}
	return shown.String(), about, nil
}
