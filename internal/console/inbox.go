package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/console/render"
	"interlock/internal/console/stats"
	"interlock/internal/ledger"
)

// The bounds of one page of the inbox. What it shows it shows whole, so that a person who ticks several has read them.
const (
	inboxCards = 25
	inboxBytes = 40 << 10 // of the actions' own words; one that is longer by itself is read and answered on its own page
	inboxReads = 300      // events that are looked at for the risk of what waits
	doneLooked = 40       // newest requests that are looked at for what became of them
	doneListed = 8
)

// An inboxFilter says which requests the inbox shows. Empty fields say nothing.
type inboxFilter struct {
	Agent   string
	Project string
	Rule    string
	Text    string // part of the action, the reason, the agent or the id
	Age     string // name of an ageBand
	Page    int    // from 0
}

func inboxFilterOf(query url.Values) (inboxFilter, error) {
	f := inboxFilter{Agent: query.Get("agent"), Project: query.Get("project"), Rule: query.Get("rule"), Text: query.Get("q"),
		Age: query.Get("age")}
	for _, field := range [][2]string{{"agent", f.Agent}, {"project", f.Project}, {"rule", f.Rule}, {"q", f.Text}} {
		if len(field[1]) > render.MaxFilter {
			return f, interlock.Errorf(interlock.CodeInvalid, field[0], "is longer than %d bytes", render.MaxFilter)
		}
	}
	if f.Age != "" && !slices.ContainsFunc(ageBands(), func(b ageBand) bool { return b.Name == f.Age }) {
		return f, interlock.Errorf(interlock.CodeInvalid, "age", "%.40q is no age that questions are told by", f.Age)
	}
	var page int64
	err := indexed(query, "page", &page)
	f.Page = int(min(page, maxWaiting))
	return f, err
}

func (f inboxFilter) query() url.Values {
	values := url.Values{}
	for _, field := range [][2]string{{"agent", f.Agent}, {"project", f.Project}, {"rule", f.Rule}, {"q", f.Text}, {"age", f.Age}} {
		if field[1] != "" {
			values.Set(field[0], field[1])
		}
	}
	return values
}

// Any reports whether the filter leaves anything out.
func (f inboxFilter) Any() bool { return len(f.query()) > 0 }

// A card is one request in the inbox, and those that are like it.
type card struct {
	asking
	render.Proposed
	Words  []render.Word
	Risk   int
	Known  bool   // what the decision behind it says is known
	Event  string // of that decision
	Long   bool   // it is shown in part here, and answered on its own page
	Same   bool   // it says word for word what the first of its group says
	Others []card
}

// An inbox is what waits for people.
type inbox struct {
	signing
	Filter   inboxFilter
	Cards    []card
	Agents   []string // to choose from
	Projects []string
	Waiting  int    // in all, as far as was looked
	Passed   int    // by the filter
	Newer    string // addresses of the pages beside this one
	Older    string
	// Harnessed are put to the users before their harnesses: nobody waits for an operator.
	Harnessed []interlock.ApprovalRequest
	Answered  []interlock.ApprovalRequest // yes, and not used yet
	Done      []interlock.ApprovalRequest // what became of others lately
	More      int
	Tickable  bool
}

// waitsHere reports whether a request waits for an operator: not one that a harness has put to its own user.
func waitsHere(r *interlock.ApprovalRequest) bool {
	return r.Status == interlock.RequestPending && !r.Harness
}

// pendingPage is the inbox: what waits, newest first, whole, so that it can be answered there.
func (c *Console) pendingPage(w http.ResponseWriter, r *http.Request) {
	f, err := inboxFilterOf(r.URL.Query())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	requests, err := c.config.Backend.Requests(r.Context(), maxWaiting)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	page := inbox{signing: c.signing(r, nil), Filter: f, More: requests.More()}
	groups := page.sorted(requests.Rows, c.may(r, reading), c.config.Now())
	if err := c.fillInbox(r, &page, groups); err != nil {
		c.fail(w, r, err)
		return
	}
	if page.Done, err = c.done(r.Context()); err != nil {
		c.fail(w, r, err)
		return
	}
	if !c.may(r, reading) {
		for _, rows := range [][]interlock.ApprovalRequest{page.Harnessed, page.Answered, page.Done} {
			unread(rows)
		}
	}
	c.render(w, r, http.StatusOK, "pending.html", "Inbox", page)
}

// An alike is requests of one agent that ask for the same sort of thing, newest first.
type alike []*card

// sorted puts what waits in order, newest first, leaves out what the filter does not pass, and groups what is alike.
func (p *inbox) sorted(rows []interlock.ApprovalRequest, reading bool, now time.Time) (groups []alike) {
	sort.Slice(rows, func(i, j int) bool {
		return rows[i].Created.After(rows[j].Created) || rows[i].Created.Equal(rows[j].Created) && rows[i].ID < rows[j].ID
	})
	agents, projects, place := map[string]bool{}, map[string]bool{}, map[string]int{}
	for i := range rows {
		one := &card{asking: asking{ApprovalRequest: rows[i]}}
		switch {
		case rows[i].Status == interlock.RequestApproved:
			p.Answered = append(p.Answered, rows[i])
		case rows[i].Status == interlock.RequestPending && rows[i].Harness:
			p.Harnessed = append(p.Harnessed, rows[i])
		}
		if !waitsHere(&rows[i]) {
			continue
		}
		if reading {
			one.Proposed = render.TakeApart(rows[i].Display)
		}
		p.Waiting++
		agents[rows[i].Requester.Agent], projects[one.Project()] = true, true
		if !p.Filter.holds(one, now) {
			continue
		}
		p.Passed++
		key := strings.Join([]string{rows[i].Requester.Agent, rows[i].Rule, one.Dir, one.Like()}, "\x00")
		if !reading {
			key = rows[i].ID
		}
		at, known := place[key]
		if !known {
			at = len(groups)
			place[key] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], one)
	}
	delete(projects, "")
	p.Agents, p.Projects = names(agents), names(projects)
	return groups
}

func names(of map[string]bool) []string {
	list := make([]string, 0, len(of))
	for name := range of {
		list = append(list, name)
	}
	sort.Strings(list)
	return list
}

// holds reports whether a request passes. It looks only at what the person who asks is shown.
func (f inboxFilter) holds(one *card, now time.Time) bool {
	within := func(texts ...string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(f.Text)) })
	}
	switch {
	case f.Agent != "" && f.Agent != one.Requester.Agent, f.Project != "" && f.Project != one.Project(),
		f.Rule != "" && f.Rule != one.Rule:
		return false
	case f.Age != "" && ageBands()[bandOf(now.Sub(one.Created))].Name != f.Age:
		return false
	case f.Text != "" && !within(one.Body, one.Tool, one.Dir, one.Hint, one.Requester.Agent, one.Rule, one.ID):
		return false
	}
	return true
}

// fillInbox puts as many groups on the page as it holds, with everything that is signed.
func (c *Console) fillInbox(r *http.Request, page *inbox, groups []alike) error {
	pages := split(groups)
	at := min(page.Filter.Page, max(len(pages)-1, 0))
	beside := func(n int) string {
		query := page.Filter.query()
		if n > 0 {
			query.Set("page", strconv.Itoa(n))
		}
		return address("/pending", query)
	}
	if at > 0 {
		page.Newer = beside(at - 1)
	}
	if at+1 < len(pages) {
		page.Older = beside(at + 1)
	}
	if len(pages) == 0 {
		return nil
	}
	var all []*card
	for _, group := range pages[at] {
		all = append(all, group...)
	}
	standing, err := agentsOf(r.Context(), c, all, func(one *card) string { return one.Requester.Agent })
	if err != nil {
		return err
	}
	behind, err := c.behind(r, all)
	if err != nil {
		return err
	}
	for _, one := range all {
		one.asking = c.shown(r, one.ApprovalRequest, standing)
		if one.Body == "" {
			one.Body = one.Display
		}
		if one.Long = len(one.Body) > inboxBytes; one.Long {
			one.Body = render.Shorten(one.Body, inboxBytes/8)
		}
		one.Words = render.Marked(one.Body)
		if d, known := behind[one.ID]; known {
			one.Known, one.Risk, one.Event = true, d.Decision.Risk, d.Event.ID
		}
		page.Tickable = page.Tickable || one.Refused == "" && !one.Long
	}
	for _, group := range pages[at] {
		first := *group[0]
		for _, other := range group[1:] {
			other.Same = other.Display == first.Display
			first.Others = append(first.Others, *other)
		}
		page.Cards = append(page.Cards, first)
	}
	return nil
}

// split deals groups out to pages. A group that is too long for one goes on on the next.
func split(groups []alike) (pages [][]alike) {
	cards, bytes := inboxCards, 0
	for _, group := range groups {
		fresh := true
		for _, one := range group {
			size := min(len(one.Display), inboxBytes/8) + 1
			if cards++; cards > inboxCards || bytes+size > inboxBytes {
				pages, cards, bytes, fresh = append(pages, nil), 1, 0, true
			}
			bytes += size
			last := &pages[len(pages)-1]
			if fresh {
				*last, fresh = append(*last, nil), false
			}
			(*last)[len(*last)-1] = append((*last)[len(*last)-1], one)
		}
	}
	return pages
}

// behind finds the decisions that left requests, among the newest of such decisions.
func (c *Console) behind(r *http.Request, list []*card) (map[string]auditlog.Decided, error) {
	wanted := map[string]bool{}
	for _, one := range list {
		wanted[one.ID] = true
	}
	found := map[string]auditlog.Decided{}
	entries, err := c.config.Log.Entries(r.Context(), interlock.EventReviewRequest, ledger.Before(-1, inboxReads))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if len(found) == len(wanted) {
			break
		}
		if auditlog.Released(&e) || !wanted[requestOf(e)] {
			continue
		}
		if d, err := c.opened(r, e); err == nil { // the audit pages name damaged entries
			found[d.Request] = d
		}
	}
	return found, nil
}

// requestOf is the request that a decision's event says it left, without reading the rest.
func requestOf(e interlock.Entry) (id string) {
	stats.Members(e.Body, func(name, value []byte) bool {
		if string(name) != "payload" {
			return true
		}
		stats.Members(value, func(name, value []byte) bool {
			if string(name) == "request" {
				id = stats.TextOf(value)
			}
			return id == ""
		})
		return false
	})
	return id
}

// done lists what became of requests lately, so that nobody who comes too late is left to wonder.
func (c *Console) done(ctx context.Context) ([]interlock.ApprovalRequest, error) {
	newest, err := core.RequestsWith(ctx, c.config.Backend, "", doneLooked)
	if err != nil {
		return nil, err
	}
	done := slices.DeleteFunc(newest, func(r interlock.ApprovalRequest) bool {
		return r.Status == interlock.RequestPending || r.Status == interlock.RequestApproved
	})
	sort.SliceStable(done, func(i, j int) bool { return ended(&done[i]).After(ended(&done[j])) })
	return done[:min(len(done), doneListed)], nil
}

// unread takes from requests what exactly was proposed, for who may not read it.
func unread(rows []interlock.ApprovalRequest) {
	for i := range rows {
		rows[i].Display = ""
	}
}

// ended is when a request was answered, or when its time was up.
func ended(r *interlock.ApprovalRequest) time.Time {
	if r.Approval != nil {
		return r.Approval.At
	}
	return r.Expires
}
