package conform

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

func oversightChecks() []Check {
	return []Check{
		{IDs: []string{"EC-2.9"}, Drives: "HTTP API, operators' commands, clock, log", Do: reviewTimes},
		{IDs: []string{"EC-T2.10"}, Drives: "HTTP API, clock, log", Do: latencyTarget},
		{IDs: []string{"EC-AC-1"}, Drives: "HTTP API, operators' commands of two teams", Do: withoutHuman},
		{IDs: []string{"EC-AC-2"}, Drives: "HTTP API, an operator's commands", Do: withHuman},
		{IDs: []string{"EC-T1.7"}, Drives: "operators' commands, log", Do: seededErrors},
	}
}

// lookTime bounds how long something may take that a server does by itself, every five seconds.
const lookTime = 15 * time.Second

// soon waits until something holds that a server does by itself, and reports whether it did in time.
func soon(ctx context.Context, holds func() bool) bool {
	ctx, stop := context.WithTimeout(ctx, lookTime)
	defer stop()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			return false
		case <-look.C:
		}
	}
	return true
}

// alerted counts the alerts of a code that the log holds.
func (h *House) alerted(ctx context.Context, code string) int {
	return strings.Count(h.Events(ctx, "ALERT"), `"code":"`+code+`"`)
}

func reviewTimes(ctx context.Context, d *Driver) (string, error) {
	h, err := phased(ctx, d, "review", 2, "builder")
	if err != nil {
		return "", err
	}
	asked, err := h.Expect(ctx, "builder", Shell(productionWrite), "ask")
	if err != nil {
		return "", err
	}
	within, level, err := h.waits(ctx, asked.Request)
	if err != nil {
		return "", err
	}
	h.Pass(within / 100 * 81)
	late := soon(ctx, func() bool { return h.alerted(ctx, "review-late") == 1 })
	waiting := h.Open(ctx)
	h.Pass(within / 5)
	yes := h.CLI(ctx, "", "approve", asked.Request, "--key", h.keys["ada"])
	after := h.Decide(ctx, "builder", Shell(productionWrite))
	twin, err := h.Expect(ctx, "builder", Shell(productionWrite+"-2"), "ask")
	if err != nil {
		return "", err
	}
	_, answered := h.Order(ctx, "ada", "approve", twin.Request)
	inTime := h.Decide(ctx, "builder", Shell(productionWrite+"-2"))
	expired := soon(ctx, func() bool { return strings.Contains(h.Events(ctx, "APPROVAL_EXPIRED"), asked.Request) })
	return fmt.Sprintf("a question of %s risk waits %s; people are told after four fifths of it, then it is denied, and a "+
			"yes that comes later counts for "+
			"nothing; one in time does", level, within), First(answered, Unless(late, "after four fifths of the time nobody is told"),
			Unless(waiting == 1, "before its time is over %d questions wait", waiting),
			Unless(expired, "the log does not say that it expired"),
			Unless(yes.Code != 0 && after.Answer != "allow", "a late yes: exit %d, then %s", yes.Code, after.Answer),
			Unless(inTime.Answer == "allow", "after a yes in time it is answered %s", inTime.Answer))
}

// waits is how long a question waits, which has to be what its risk is given.
func (h *House) waits(ctx context.Context, request string) (within time.Duration, level string, err error) {
	shown := Reply{Text: h.CLI(ctx, "", "pending", request, "--json").Out}
	level = strings.ToLower(shown.Member("request.review"))
	created, createdErr := time.Parse(time.RFC3339, shown.Member("request.created"))
	expires, expiresErr := time.Parse(time.RFC3339, shown.Member("request.expires"))
	within = expires.Sub(created)
	want := map[string]time.Duration{"low": 72 * time.Hour, "medium": 24 * time.Hour, "high": 4 * time.Hour,
		"critical": time.Hour}[level]
	return within, level, First(createdErr, expiresErr, Unless(want > 0 && within == want, "a question of %q risk waits %s",
		level, within))
}

func latencyTarget(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "latency", Clocked: true, Rules: `
maso: {tier: 2, first_use: noted, latency: [{types: ["quick*"], within: 1m}, {types: ["slow*"], within: 10m}]}
`})
	if err != nil {
		return "", err
	}
	if err := First(h.Agent(ctx, "planner", "--type", "quick-planner"), h.Agent(ctx, "patient", "--type",
		"slow-planner")); err != nil {
		return "", err
	}
	run, err := h.begin(ctx, "planner", map[string]any{"task": "count"})
	if err != nil {
		return "", err
	}
	if _, err := h.begin(ctx, "patient", map[string]any{"task": "count slowly"}); err != nil {
		return "", err
	}
	h.Pass(50 * time.Second)
	_, before := h.Expect(ctx, "planner", Shell("ls").In(run), "allow")
	early := h.alerted(ctx, "latency")
	h.Pass(12 * time.Second) // one minute and two seconds: over the target, and far from twice of it
	told := soon(ctx, func() bool { return h.alerted(ctx, "latency") == 1 })
	alert := h.Events(ctx, "ALERT")
	h.Pass(3 * time.Minute)
	_, later := h.Expect(ctx, "planner", Shell("ls").In(run), "allow")
	times := h.alerted(ctx, "latency")
	return "an orchestration that may take a minute is told of two seconds after that, once, and by a server that nobody " +
			"asks; before that, and " +
			"of one that may take longer, nothing is said", First(before, later, Unless(early == 0, "%d alerts came too early", early),
			Unless(told, "62 s after it began nothing is said"),
			Unless(strings.Contains(alert, run), "the alert names no orchestration: %s", alert),
			Unless(times == 1, "it is told of %d times", times))
}

// classified is a home of tier 2 with two agents of a type, a staging area, and people of two teams.
func classified(ctx context.Context, d *Driver) (*House, error) {
	h, err := d.House(ctx, Plan{Name: "classified", Clocked: true, Rules: `
maso: {tier: 2, staging: ["*.stage.example.com", "stage-*"]}
limits:
  - {id: team.records, per: agent, measure: records, unknown: 1, most: 4, match: {kind: [read]}}
`})
	if err != nil || h.tokens["one"] != "" {
		return h, err
	}
	for _, name := range []string{"one", "two", "counter"} {
		if err := h.Agent(ctx, name, "--type", "clerk", "--trust", "validated", "--principal", "dana"); err != nil {
			return nil, err
		}
	}
	if err := h.Operator(ctx, "olga", "operator"); err != nil {
		return nil, err
	}
	_, ours := h.Order(ctx, "ada", "operator", "change", "ada", "--team", "platform")
	_, theirs := h.Order(ctx, "ada", "operator", "change", "olga", "--team", "risk")
	return h, First(ours, theirs)
}

// refund is a call that a range can answer in advance.
func refund(amount int, currency string) Action {
	return Tool("refund", map[string]any{"amount": amount, "currency": currency, "order": "o1"})
}

// productionWrite changes what nobody declared to be staging.
const productionWrite = "ssh deploy@db1.example.com touch /srv/app/flag"

// stagingWrite changes what is declared to be staging, and can be undone.
const stagingWrite = "ssh deploy@db1.stage.example.com touch /srv/app/flag"

// used has agents of the type use something for the first time, which takes a yes.
func (h *House) used(ctx context.Context, a Action) error {
	asked, err := h.Expect(ctx, "one", a, "ask")
	if err != nil {
		return err
	}
	_, err = h.Order(ctx, "ada", "approve", asked.Request)
	return err
}

var ofRange = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`sha256:[0-9a-f]{64}`)
})

// preApproved has two teams sign a range.
func (h *House) preApproved(ctx context.Context) error {
	grant := []string{"grant", "range", "--type", "clerk", "--tool", "refund", "--where", "amount <= 50", "--where",
		`currency in ["EUR"]`, "--free",
		"order", "--money", "EUR 50", "--for", "30d", "--reason", "routine"}
	digest := ofRange().FindString(h.CLI(ctx, "", append(grant, "--show")...).Out)
	if _, err := h.Order(ctx, "ada", grant...); err == nil {
		return fmt.Errorf("one team signs a range by itself")
	}
	if _, err := h.Order(ctx, "olga", "operator", "second", digest, "--reason", "small refunds are routine"); err != nil {
		return err
	}
	_, err := h.Order(ctx, "ada", grant...)
	return err
}

func withoutHuman(ctx context.Context, d *Driver) (string, error) {
	h, err := classified(ctx, d)
	if err != nil {
		return "", err
	}
	if err := First(h.used(ctx, Shell(stagingWrite)), h.used(ctx, refund(20, "EUR"))); err != nil {
		return "", err
	}
	before, err := h.Expect(ctx, "two", refund(20, "EUR"), "ask")
	if err != nil {
		return "", err
	}
	if err := h.preApproved(ctx); err != nil {
		return "", err
	}
	waiting := h.Open(ctx)
	_, read := h.Expect(ctx, "two", Shell("cat notes.txt"), "allow")
	staging := h.Decide(ctx, "two", Shell(stagingWrite))
	within := h.Decide(ctx, "two", refund(50, "EUR"))
	asked := h.Open(ctx) - waiting
	beyond := h.Decide(ctx, "two", refund(51, "EUR"))
	other := h.Decide(ctx, "two", refund(20, "USD"))
	return "a read, a write to staging that can be undone, and a call within bounds that two teams signed pass and ask " +
			"nobody; one beyond the bounds " +
			"is asked about, as all were before", First(read,
			Unless(before.Member("grant") == "", "a range answers before there is one"),
			Unless(staging.Answer == "allow", "a write to staging: %s by %s, %s", staging.Answer, staging.Rule, staging.Reason),
			Unless(within.Answer == "allow" && strings.HasPrefix(within.Member("grant"), "grt_"), "within the bounds: %s", within.Text),
			Unless(asked == 0, "%d questions were asked", asked),
			Unless(beyond.Verdict == "ask" && other.Verdict == "ask", "beyond the bounds: %s, %s", beyond.Verdict, other.Verdict))
}

func withHuman(ctx context.Context, d *Driver) (string, error) {
	h, err := classified(ctx, d)
	if err != nil {
		return "", err
	}
	for rule, action := range map[string]Action{
		"class.production":   Shell(productionWrite),
		"class.external":     refund(900, "EUR"),
		"class.irreversible": Shell("rm -rf reports"),
		"first-use.tool":     Shell("mkdir drafts"),
	} {
		got, err := h.Expect(ctx, "one", action, "ask")
		if err != nil {
			return "", err
		}
		if !strings.Contains(got.Text, `"rule":"`+rule+`"`) || got.Answer == "allow" {
			return "", fmt.Errorf("%v is not asked about as %s: %s", action["input"], rule, got.Text)
		}
	}
	for n := range 2 {
		if _, err := h.Expect(ctx, "counter", Shell(fmt.Sprint("cat record-", n)), "allow"); err != nil {
			return "", err
		}
	}
	half, err := h.Expect(ctx, "counter", Shell("cat record-3"), "ask")
	if err != nil {
		return "", err
	}
	again := h.Decide(ctx, "two", Shell("mkdir drafts"))
	return "production, external parties, what can't be undone, a first use and the half of a cap are each asked about, " +
			"under their own names, " +
			"and while a first use is asked no other agent of the type goes on", First(
			Unless(half.Rule == "limit.team.records", "beyond half of the cap it is asked about by %s", half.Rule),
			Unless(again.Answer != "allow", "another agent of the type goes on: %s", again.Text))
}

func seededErrors(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "probes", Clocked: true, Rules: "maso: {tier: 1}\n"})
	if err != nil {
		return "", err
	}
	none := h.CLI(ctx, "", "operator", "probe", "--report")
	if said := h.CLI(ctx, "", "operator", "probe", "--count", "5", "--reason", "quarterly"); said.Code != 0 {
		return "", fmt.Errorf("no errors can be seeded: %s", said.Err)
	}
	waiting := h.CLI(ctx, "", "pending", "--json").Out
	ids := regexp.MustCompile(`"id":"(apr_[0-9a-f]{12})"`).FindAllStringSubmatch(waiting, -1)
	if len(ids) != 5 {
		return "", fmt.Errorf("%d of 5 wait: %s", len(ids), waiting)
	}
	for _, id := range ids[:4] {
		if _, err := h.Order(ctx, "ada", "deny", id[1], "--reason", "it says one thing and does another"); err != nil {
			return "", err
		}
	}
	good := h.CLI(ctx, "", "operator", "probe", "--report", "--json")
	_, yes := h.Order(ctx, "ada", "approve", ids[4][1])
	bad := h.CLI(ctx, "", "operator", "probe", "--report", "--json")
	log := h.Events(ctx, "REVIEW_PROBE")
	return "five questions with seeded errors wait among the others and look like them; with four found of four the report " +
			"passes, with four of five, " +
			"which is not more than 80 %, it fails and names the one that was missed", First(yes,
			Unless(none.Code != 0, "nothing was seeded, and the report passes"),
			Unless(!strings.Contains(strings.ToLower(waiting), "probe"), "they can be told from others: %s", waiting),
			Unless(good.Code == 0 && strings.Contains(good.Out, `"answered":4,"found":4,"missed":0`), "four of four: exit %d %s",
				good.Code, good.Out),
			Unless(bad.Code != 0 && strings.Contains(bad.Out, `"missed_ids":["`+ids[4][1]+`"]`), "four of five: exit %d %s", bad.Code,
				bad.Out),
			Unless(strings.Contains(log, "REVIEW_PROBE"), "the log does not say so"))
}
