package conform

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// teamRules are the types of agents that delegate to each other.
const teamRules = `
runs: {depth: 2, turns: 10, retries: 3, resolver: the planner}
types:
  - {name: planner, accountable: ada, tools: ["*"], tier: 3}
  - {name: worker, accountable: ada, tools: ["ls *"], spawn: {open: 50, most: 5, within: 1h}}
  - {name: lead, accountable: ada, tools: ["*"], tier: 3}
  - {name: clerk, accountable: ada, tools: ["ls *", "git status"], tier: 2}
  - {name: builder, accountable: ada, tools: ["ls *", "go *", "make *", "git *"], tier: 2, alive: 30s}
  - {name: tester, accountable: ada, tools: ["ls *", "go test*"], runs: delegated}
  - {name: analyst, role: analyst, accountable: ada, tools: ["git log*"]}
  - {name: executor, role: executor, accountable: ada, tools: ["touch *"]}
  - {name: critic, role: critic, accountable: ada, tools: ["wc *"]}
`

// team is a home with those types and an agent of each, which bears its type's name.
func team(ctx context.Context, d *Driver, agents ...string) (*House, error) {
	h, err := d.House(ctx, Plan{Name: "team", Rules: teamRules, Clocked: true})
	if err != nil {
		return nil, err
	}
	for _, name := range agents {
		if err := h.Agent(ctx, name, "--type", name, "--principal", "dana"); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func runChecks() []Check {
	return []Check{
		{IDs: []string{"EC-1.5", "EC-T1.5"}, Drives: "HTTP API, log", Do: turnCap},
		{IDs: []string{"EC-1.5a"}, Drives: "HTTP API from 16 callers, log", Do: spawnCap},
		{IDs: []string{"EC-1.7", "EC-T1.9"}, Drives: "HTTP API, clock", Do: liveness},
		{IDs: []string{"EC-1.8", "EC-T1.10"}, Drives: "HTTP API", Do: outputFormat},
		{IDs: []string{"EC-1.10", "EC-T1.12"}, Drives: "HTTP API, a restart", Do: retryCap},
		{IDs: []string{"EC-T1.6"}, Drives: "HTTP API", Do: roleMatrix},
		{IDs: []string{"EC-RT-02"}, Drives: "HTTP API, log", Do: transitivePermission},
		{IDs: []string{"EC-RT-09"}, Drives: "HTTP API", Do: laundering},
	}
}

// begin registers a run and returns its id.
func (h *House) begin(ctx context.Context, agent string, run map[string]any) (id string, err error) {
	reply := h.Call(ctx, agent, "POST", "/v1/runs", run)
	return reply.Member("id"), Unless(reply.Status == 200, "%s can't register a run: %d %s", agent, reply.Status, reply.Text)
}

func (h *House) beat(ctx context.Context, agent string) error {
	reply := h.Call(ctx, agent, "POST", "/v1/heartbeat", map[string]any{})
	return Unless(reply.Status == 200, "a heartbeat is refused: %d %s", reply.Status, reply.Text)
}

func (h *House) end(ctx context.Context, agent, run string, how map[string]any) Reply {
	return h.Call(ctx, agent, "POST", "/v1/runs/"+run+"/end", how)
}

func turnCap(ctx context.Context, d *Driver) (string, error) {
	h, err := team(ctx, d, "lead", "clerk")
	if err != nil {
		return "", err
	}
	root, err := h.begin(ctx, "lead", map[string]any{"task": "agree on a price"})
	if err != nil {
		return "", err
	}
	given, err := h.begin(ctx, "lead", map[string]any{"parent": root, "agent": "clerk"})
	if err != nil {
		return "", err
	}
	defer h.end(ctx, "lead", root, map[string]any{"status": "cancelled"})
	taken := 0
	var last Reply
	for n := range 12 { // each in its own run of the orchestration
		who, run := "lead", root
		if n%2 == 1 {
			who, run = "clerk", given
		}
		if last = h.Call(ctx, who, "POST", "/v1/runs/"+run+"/turns", map[string]any{"conversation": "price"}); last.Status != 200 {
			break
		}
		taken++
	}
	return fmt.Sprintf("two agents that talk in a circle stop after %d turns, and are told who decides: %s", taken, last.Member("error.message")),
		First(Unless(taken == 10 && last.Status == 429, "%d turns were taken, then %d %s", taken, last.Status, last.Text),
			Unless(strings.Contains(last.Text, "the planner"), "nobody is named who decides: %s", last.Text),
			Unless(strings.Contains(h.Events(ctx, "ALERT"), "turn"), "no alert was recorded"))
}

func spawnCap(ctx context.Context, d *Driver) (string, error) {
	h, err := team(ctx, d, "planner", "worker")
	if err != nil {
		return "", err
	}
	root, err := h.begin(ctx, "planner", map[string]any{"task": "fan out"})
	if err != nil {
		return "", err
	}
	defer h.end(ctx, "planner", root, map[string]any{"status": "cancelled"})
	const callers, most = 16, 5
	statuses := make([]int, callers)
	var all sync.WaitGroup
	for n := range callers {
		all.Go(func() {
			statuses[n] = h.Call(ctx, "planner", "POST", "/v1/runs", map[string]any{"parent": root, "agent": "worker", "task": fmt.Sprint("part ", n)}).Status
		})
	}
	all.Wait()
	made, refused := 0, 0
	for _, status := range statuses {
		switch status {
		case http.StatusOK:
			made++
		case http.StatusTooManyRequests:
			refused++
		}
	}
	return fmt.Sprintf("of %d registered at once %d are made and %d refused, with an alert", callers, made, refused), First(
		Unless(made == most && refused == callers-most, "%d were made and %d refused, of room for %d", made, refused, most),
		Unless(strings.Contains(h.Events(ctx, "ALERT"), "spawn") || strings.Contains(h.Events(ctx, "ALERT"), "runs"), "no alert was recorded"))
}

func liveness(ctx context.Context, d *Driver) (string, error) {
	h, err := team(ctx, d, "lead", "builder", "clerk")
	if err != nil {
		return "", err
	}
	root, err := h.begin(ctx, "lead", map[string]any{"task": "build"})
	if err != nil {
		return "", err
	}
	defer h.end(ctx, "lead", root, map[string]any{"status": "cancelled"})
	give := func(to string) Reply {
		return h.Call(ctx, "lead", "POST", "/v1/runs", map[string]any{"parent": root, "agent": to})
	}
	silent := give("builder")
	beaten := h.beat(ctx, "builder")
	there := give("builder")
	h.Pass(31 * time.Second)
	gone := give("builder")
	other := give("clerk")
	return "work for an agent that was not heard for 30 s is refused with 503 and can be given to another; heard, it gets it", First(beaten,
		Unless(silent.Status == 503, "an agent that was never heard is given work: %d", silent.Status),
		Unless(there.Status == 200, "an agent that is there is given none: %d %s", there.Status, there.Text),
		Unless(gone.Status == 503, "31 s later it still is: %d", gone.Status),
		Unless(other.Status == 200, "another one is given none: %d %s", other.Status, other.Text))
}

func outputFormat(ctx context.Context, d *Driver) (string, error) {
	h, err := team(ctx, d, "lead")
	if err != nil {
		return "", err
	}
	run, err := h.begin(ctx, "lead", map[string]any{"task": "sum up", "output": map[string]any{"kind": "object", "fields": []string{"sum"}}})
	if err != nil {
		return "", err
	}
	refused := 0
	for _, result := range []any{[]int{1}, map[string]any{}, map[string]any{"other": 1}, map[string]any{"sum": nil}, nil} {
		how := map[string]any{"status": "completed"}
		if result != nil {
			how["result"] = result
		}
		if reply := h.end(ctx, "lead", run, how); reply.Status == 200 {
			return "", fmt.Errorf("the result %v is taken", result)
		}
		refused++
	}
	torn := h.Raw(ctx, "lead", "POST", "/v1/runs/"+run+"/end", `{"status":"completed","result":{"sum":1`)
	open := h.Decide(ctx, "lead", Shell("ls /srv").In(run))
	good := h.end(ctx, "lead", run, map[string]any{"status": "completed", "result": map[string]any{"sum": 1}})
	return fmt.Sprintf("%d results that do not parse, lack a field, have it as null or are empty are refused, and the run stays open; a "+
			"good one ends it",
			refused+1), First(Unless(torn.Status == 400, "JSON that ends too early is answered %d", torn.Status),
			Unless(open.Answer == "allow", "the run did not stay open: %s", open.Reason),
			Unless(good.Status == 200, "a good result is refused: %s", good.Text))
}

func retryCap(ctx context.Context, d *Driver) (string, error) {
	h, err := team(ctx, d, "lead")
	if err != nil {
		return "", err
	}
	for n := range 4 {
		run, err := h.begin(ctx, "lead", map[string]any{"task": "deploy"})
		if err != nil {
			return "", fmt.Errorf("attempt %d: %w", n+1, err)
		}
		if reply := h.end(ctx, "lead", run, map[string]any{"status": "failed", "why": "it broke"}); reply.Status != 200 {
			return "", fmt.Errorf("a failure can't be reported: %s", reply.Text)
		}
	}
	h.Down()
	if err := h.Up(ctx); err != nil {
		return "", err
	}
	more := h.Call(ctx, "lead", "POST", "/v1/runs", map[string]any{"task": "deploy"})
	return "after the first try and three more the task is refused, also by a server that was started anew: " + more.Member("error.message"),
		Unless(more.Status == 429, "a fifth attempt is answered %d", more.Status)
}

func roleMatrix(ctx context.Context, d *Driver) (string, error) {
	h, err := team(ctx, d, "analyst", "executor", "critic")
	if err != nil {
		return "", err
	}
	tools := map[string]string{"analyst": "git log", "executor": "touch result.txt", "critic": "wc -l result.txt"}
	refused := 0
	for role := range tools {
		for owner, tool := range tools {
			want := "deny"
			if owner == role {
				want = "allow"
			}
			if _, err := h.Expect(ctx, role, Shell(tool), want); err != nil {
				return "", fmt.Errorf("as %s: %w", role, err)
			}
			if owner != role {
				refused++
			}
		}
	}
	return fmt.Sprintf("each of three roles uses its own tool, and all %d others are denied", refused), nil
}

// delegated is a run that the clerk has delegated to the builder.
func delegated(ctx context.Context, h *House) (root, given string, err error) {
	if err := h.beat(ctx, "builder"); err != nil {
		return "", "", err
	}
	if root, err = h.begin(ctx, "clerk", map[string]any{"task": "look"}); err != nil {
		return "", "", err
	}
	given, err = h.begin(ctx, "clerk", map[string]any{"parent": root, "agent": "builder"})
	return root, given, err
}

func transitivePermission(ctx context.Context, d *Driver) (string, error) {
	h, err := team(ctx, d, "clerk", "builder")
	if err != nil {
		return "", err
	}
	root, given, err := delegated(ctx, h)
	if err != nil {
		return "", err
	}
	defer h.end(ctx, "clerk", root, map[string]any{"status": "cancelled"})
	_, both := h.Expect(ctx, "builder", Shell("git status").In(given), "allow")
	one, denied := h.Expect(ctx, "builder", Shell("go test ./...").In(given), "deny")
	event := h.Event(ctx, one.Event)
	return "what only the delegate may is denied in a run that was delegated to it, what both may passes, and the event names the chain",
		First(both, denied, Unless(strings.Contains(event, `"delegation":`) && strings.Contains(event, `"agent":"clerk"`),
			"the chain is not in the log: %s", event))
}

func laundering(ctx context.Context, d *Driver) (string, error) {
	h, err := team(ctx, d, "clerk", "builder", "tester", "lead")
	if err != nil {
		return "", err
	}
	root, given, err := delegated(ctx, h)
	if err != nil {
		return "", err
	}
	third, err := h.begin(ctx, "builder", map[string]any{"parent": given, "agent": "tester"})
	if err != nil {
		return "", err
	}
	_, outside := h.Expect(ctx, "builder", Shell("go test ./..."), "deny")
	_, foreign := h.Expect(ctx, "builder", Shell("go test ./...").In(root), "deny")
	_, deep := h.Expect(ctx, "tester", Shell("go test ./...").In(third), "deny")
	fresh := h.Call(ctx, "builder", "POST", "/v1/runs", map[string]any{"task": "fresh"})
	circle := h.Call(ctx, "builder", "POST", "/v1/runs", map[string]any{"parent": given, "agent": "clerk"})
	deeper := h.Call(ctx, "tester", "POST", "/v1/runs", map[string]any{"parent": third, "agent": "lead"})
	ended := h.end(ctx, "clerk", root, map[string]any{"status": "completed"})
	_, over := h.Expect(ctx, "tester", Shell("ls /srv").In(third), "deny")
	return "no run, another's run, a fresh one, a circle and one step too deep are refused, and all ends with the run it began in",
		First(outside, foreign, deep, over,
			Unless(fresh.Status == 403, "a fresh chain is answered %d", fresh.Status),
			Unless(circle.Status == 409, "a circle is answered %d", circle.Status),
			Unless(deeper.Status == 429, "a fourth step is answered %d %s", deeper.Status, deeper.Text),
			Unless(ended.Status == 200, "the first run can't be ended: %s", ended.Text))
}
