package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/console/render"
	"interlock/internal/console/stats"
	"interlock/internal/ledger"
)

// back visits entries before an index, newest first, until visit has enough or pageReads were looked at. It returns the
// index before which a next page goes on; 0 is the beginning of the log.
func (c *Console) back(ctx context.Context, before int64, visit func(interlock.Entry) bool) (next int64, err error) {
	for read, chunk := 0, render.PageRows+14; read < render.PageReads; chunk = min(chunk*2, 500) {
		entries, err := c.config.Log.Entries(ctx, "", ledger.Before(before, chunk))
		if err != nil {
			return 0, fmt.Errorf("reading the log: %w", err)
		}
		for _, e := range entries {
			before = e.Index
			if !visit(e) {
				return before, nil
			}
		}
		if read += len(entries); len(entries) < chunk {
			return 0, nil
		}
	}
	return before, nil
}

// A filter says which decisions a page shows. Empty fields say nothing.
type filter struct {
	Verdict string // as the agent was answered
	Agent   string // part of its name
	Kind    string
	Rule    string // part of the id of any rule that objected
	Text    string // part of the action, the reason, the agent or the run
	dated
	Before int64 // index; negative is the end of the log
}

// feedFilter reads a filter from a query.
func feedFilter(query url.Values) (filter, error) {
	f := filter{Verdict: query.Get("verdict"), Agent: query.Get("agent"), Kind: query.Get("kind"), Rule: query.Get("rule"),
		Text: query.Get("q"), Before: -1}
	// any order: each is refused alike
	for name, value := range map[string]string{"agent": f.Agent, "rule": f.Rule, "q": f.Text} {
		if len(value) > render.MaxFilter {
			return f, interlock.Errorf(interlock.CodeInvalid, name, "is longer than %d bytes", render.MaxFilter)
		}
	}
	if f.Verdict != "" {
		var v interlock.Verdict
		if err := v.UnmarshalText([]byte(f.Verdict)); err != nil {
			return f, interlock.Errorf(interlock.CodeInvalid, "verdict", "%v", err)
		}
	}
	if f.Kind != "" && !interlock.Kind(f.Kind).Valid() {
		return f, interlock.Errorf(interlock.CodeInvalid, "kind", "%.40q is not one of %v", f.Kind, interlock.Kinds())
	}
	var err error
	if f.dated, err = datedOf(query); err != nil {
		return f, err
	}
	return f, indexed(query, "before", &f.Before)
}

// indexed reads an index from a query, if it is there.
func indexed(query url.Values, name string, into *int64) error {
	text := query.Get(name)
	if text == "" {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return interlock.Errorf(interlock.CodeInvalid, name, "is not an index of the log")
	}
	*into = n
	return nil
}

// query writes the filter as feedFilter reads it, without where it begins.
func (f filter) query() url.Values {
	values := url.Values{}
	for _, field := range [][2]string{{"verdict", f.Verdict}, {"agent", f.Agent}, {"kind", f.Kind},
		{"rule", f.Rule}, {"q", f.Text}, {"since", f.Since}, {"until", f.Until}} {
		if field[1] != "" {
			values.Set(field[0], field[1])
		}
	}
	return values
}

// possible is a cheap look at an entry's bytes that rules most of them out: what it rejects, holds would reject.
func (f filter) possible(e interlock.Entry) bool {
	if !auditlog.IsDecision(e.Type) {
		return false
	}
	for _, part := range [...]string{f.Agent, f.Rule, f.Text} {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
			continue // it may be spelled in another way in the event
		}
		if !containsFold(e.Body, part) {
			return false
		}
	}
	return true
}

// containsFold reports whether a text of printable ASCII is in data in any case. Most of what it is asked of it is not in.
func containsFold(data []byte, text string) bool {
	lower, upper := strings.ToLower(text[:1])[0], strings.ToUpper(text[:1])[0]
	for at := 0; at+len(text) <= len(data); at++ {
		if data[at] != lower && data[at] != upper {
			continue
		}
		if strings.EqualFold(string(data[at:at+len(text)]), text) {
			return true
		}
	}
	return false
}

// holds reports whether a decision passes. It looks only at what the person who asks is shown, so that a search tells no more.
func (f filter) holds(d auditlog.Decided) bool {
	within := func(part string, texts ...string) bool {
		for _, text := range texts {
			if strings.Contains(strings.ToLower(text), strings.ToLower(part)) {
				return true
			}
		}
		return false
	}
	p := d.Proposal
	switch {
	case d.Canary && f.Text == "": // doctor's: nobody wanted that
		return false
	case f.Verdict != "" && f.Verdict != answerOf(d).String():
		return false
	case !f.from.IsZero() && d.Event.Recorded.Before(f.from), !f.to.IsZero() && !d.Event.Recorded.Before(f.to):
		return false
	case f.Kind != "" && f.Kind != string(p.Action.Kind):
		return false
	case f.Agent != "" && !within(f.Agent, p.Requester.Agent):
		return false
	}
	texts := []string{p.Action.Tool, p.Action.Input, string(p.Action.Arguments), p.Action.Dir, p.Action.Hint, p.Requester.Agent,
		p.Requester.Principal, p.Requester.Run, d.Request}
	var rules []string
	for i := range d.Decision.Findings {
		rules = append(rules, d.Decision.Findings[i].Rule)
		texts = append(texts, d.Decision.Findings[i].Reason)
	}
	for i := range d.Decision.Impacts {
		texts = append(texts, d.Decision.Impacts[i].Target)
	}
	return (f.Rule == "" || within(f.Rule, rules...)) && (f.Text == "" || within(f.Text, append(texts, rules...)...))
}

// A row is one decision in a list.
type row struct {
	Index   int64
	ID      string
	At      time.Time
	Answer  interlock.Verdict
	Verdict interlock.Verdict
	Kind    interlock.Kind
	Agent   string
	Run     string
	Summary string // of the action; empty if it is not shown
	Rule    string
	Reason  string
	Risk    int
	Request string
	Loop    *interlock.Loop
	Tier    interlock.Tier
}

// answerOf is what lists call a decision's answer.
func answerOf(d auditlog.Decided) interlock.Verdict {
	return stats.ShownAnswer(d.Decision.Answer, d.Decision.Verdict, d.Request)
}

// opened reads a decision as this request's operator may see it.
func (c *Console) opened(r *http.Request, e interlock.Entry) (auditlog.Decided, error) {
	d, err := auditlog.ReadDecision(e)
	if err == nil && !c.may(r, reading) {
		veil(&d)
	}
	return d, err
}

// veil takes an action's own words out of a decision.
func veil(d *auditlog.Decided) {
	a := &d.Proposal.Action
	a.Input, a.Arguments, a.Dir, a.Hint = "", nil, "", ""
	d.Proposal.View.Workspace = ""
	impacts := make([]interlock.Impact, len(d.Decision.Impacts))
	for i, impact := range d.Decision.Impacts {
		impact.Target, impact.Via = "", ""
		impacts[i] = impact
	}
	d.Decision.Impacts = impacts
	findings := slices.Clone(d.Decision.Findings)
	for i := range findings {
		findings[i].Reason = interlock.GeneralReason(findings[i].Reason)
	}
	d.Decision.Findings = findings
	d.Recent, d.Judgments = nil, nil
}

func rowOf(index int64, d auditlog.Decided) row {
	out := row{Index: index, ID: d.Event.ID, At: d.Event.Recorded, Answer: answerOf(d), Verdict: d.Decision.Verdict,
		Kind: d.Proposal.Action.Kind, Agent: d.Proposal.Requester.Agent, Run: d.Proposal.Requester.Run,
		Summary: summary(d.Proposal.Action), Risk: d.Decision.Risk, Request: d.Request, Loop: d.Loop,
		Tier: d.Decision.Tier}
	if f := d.Decision.Decisive(); f != nil {
		out.Rule, out.Reason = f.Rule, f.Reason
	}
	return out
}

// summary is an action on one line.
func summary(a interlock.Action) string {
	return render.Shorten(auditlog.ActionLine(a), render.MaxSummary)
}

// feed is what the first page shows.
type feed struct {
	Filter   filter
	Rows     []row
	Live     string // address of the stream that goes on where the rows end; empty if the page looks back
	Newest   string // address of the newest page with this filter
	Always   string // the same for any time
	Older    string // address of the next page back
	Searched bool   // the page ends because enough was looked at, not because enough was found
	Empty    bool   // there is no decision in the log at all
	Kinds    []interlock.Kind
	Verdicts []interlock.Verdict
	Size     int64
	Waiting  counts
}

// counts is what waits for somebody.
type counts struct{ Pending, Challenges int }

func (c *Console) feedPage(w http.ResponseWriter, r *http.Request) {
	f, err := feedFilter(r.URL.Query())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	head, err := c.config.Log.Head(r.Context())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	page := feed{Filter: f, Kinds: interlock.Kinds(), Size: head.Size,
		Verdicts: []interlock.Verdict{interlock.Allow, interlock.Ask, interlock.Deny, interlock.Halt}}
	before := f.Before
	if before < 0 || before > head.Size {
		before = head.Size // what comes after it, the stream brings
	}
	var ended bool
	page.Rows, before, ended, err = c.decisions(r, f, before, render.PageRows)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	page.Newest = address("/feed", f.query())
	always := f.query()
	always.Del("since")
	always.Del("until")
	page.Always = address("/feed", always)
	if f.Before < 0 && f.to.IsZero() {
		live := f.query()
		live.Set("after", strconv.FormatInt(head.Size, 10))
		page.Live = address("/feed/stream", live)
	}
	if before > 0 && !ended {
		older := f.query()
		older.Set("before", strconv.FormatInt(before, 10))
		page.Older, page.Searched = address("/feed", older), len(page.Rows) < render.PageRows
	}
	page.Empty = len(page.Rows) == 0 && page.Older == "" && f.Before < 0 && len(f.query()) == 0
	if waiting, err := c.waiting(r.Context()); err == nil {
		page.Waiting = waiting
	}
	c.render(w, r, http.StatusOK, "feed.html", "Feed", page)
}

// decisions collects rows that pass a filter, newest first. ended says that everything before is older than what is looked for.
func (c *Console) decisions(r *http.Request, f filter, before int64, most int) (rows []row, next int64, ended bool, err error) {
	next, err = c.back(r.Context(), before, func(e interlock.Entry) bool {
		if !f.possible(e) {
			return true
		}
		d, err := c.opened(r, e)
		if err != nil {
			return true // a damaged entry is for the audit pages to name
		}
		if f.holds(d) {
			rows = append(rows, rowOf(e.Index, d))
		}
		ended = !f.from.IsZero() && d.Event.Recorded.Before(f.from.Add(-clockSlack))
		return len(rows) < most && !ended
	})
	return rows, next, ended, err
}

// clockSlack is how much later than the next an entry may say it was recorded: the log is in the order of commits.
const clockSlack = time.Minute

// address is a path with a query, if there is one.
func address(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// A line is one event in a list.
type line struct {
	Index   int64
	ID      string
	Type    interlock.EventType
	At      time.Time
	Actor   string
	Role    string
	Summary string
	Path    string             // of its page
	Answer  *interlock.Verdict // of a decision
	Damaged string             // why it can't be read; then it has an index only
}

// lineOf reads an entry for a list.
func lineOf(e interlock.Entry) line {
	if auditlog.Released(&e) {
		return line{Index: e.Index, ID: e.ID, Type: e.Type, Summary: "archived"}
	}
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		return line{Index: e.Index, ID: e.ID, Type: e.Type, Damaged: err.Error()}
	}
	l := line{Index: e.Index, ID: event.ID, Type: event.Type, At: event.Recorded, Actor: event.Actor, Role: event.Role,
		Path: "/events/" + event.ID, Summary: render.Shorten(auditlog.Telling(event), render.MaxSummary)}
	if d, err := auditlog.ReadDecision(e); err == nil {
		answer := answerOf(d)
		l.Path, l.Answer, l.Summary = "/decisions/"+event.ID, &answer, summary(d.Proposal.Action)
		if f := d.Decision.Decisive(); f != nil {
			l.Summary = f.Rule + ": " + l.Summary
		}
	}
	return l
}

// entry finds the entry that a path names by its event id or its index.
func (c *Console) entry(r *http.Request) (interlock.Entry, error) {
	e, err := auditlog.Named(r.Context(), c.config.Log, r.PathValue("id"))
	if err == nil && auditlog.Released(&e) {
		err = auditlog.ErrReleased(&e)
	}
	return e, err
}
