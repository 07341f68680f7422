package conform

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func planChecks() []Check {
	return []Check{
		{IDs: []string{"EC-2.6", "EC-T2.7"}, Drives: "HTTP API, an operator's commands, log", Do: reversals},
		{IDs: []string{"EC-T2.6"}, Drives: "HTTP API from both sides", Do: resolved},
		{IDs: []string{"EC-2.7a"}, Drives: "gateway before a server of the check's own that counts, an operator's commands",
			Do: triedFirst},
		{IDs: []string{"EC-2.8", "EC-T2.9"}, Drives: "HTTP API, interlock exec", Do: requiredCalls},
		{IDs: []string{"EC-2.11", "EC-T2.12"}, Drives: "HTTP API, an operator's commands", Do: wholePlan},
	}
}

// claimRules are those under which calls of tools decide claims, which two agents of one person do.
const claimRules = `
runs: {depth: 2, turns: 4, resolver: the planner}
policy: {autoApprove: ["claims.*"]}
commitments:
  - {id: verdict, tools: ["claims.decide"], key: [claim], choice: [verdict], input: [evidence]}
  - {id: route, tools: ["claims.route"], key: [claim], choice: [to], tie_break: keep}
types:
  - {name: planner, accountable: ada, tools: ["*"], tier: 2}
  - {name: clerk, accountable: ada, tools: ["*"], tier: 2}
`

// claimsDesk is a home with those rules and an agent of each type, both of one person.
func claimsDesk(ctx context.Context, d *Driver) (*House, error) {
	h, err := d.House(ctx, Plan{Name: "claims", Rules: claimRules, Clocked: true})
	if err != nil {
		return nil, err
	}
	return h, First(h.Agent(ctx, "planner", "--type", "planner", "--principal", "dana"), h.Agent(ctx, "clerk", "--type", "clerk",
		"--principal", "dana"))
}

// decidedBy is a fault unless what an agent asks for is answered so, by that rule; no rule means whichever it is.
func (h *House) decidedBy(ctx context.Context, agent string, a Action, answer, rule string) error {
	got := h.Decide(ctx, agent, a)
	text, err := json.Marshal(a)
	return First(err, Unless(got.Answer == answer && (rule == "" || got.Rule == rule),
		"%s, asked for by %s, is answered %s by %s (%s, status %d), not %s by %s", text, agent, got.Answer,
		got.Rule, got.Reason, got.Status, answer, rule))
}

func claim(number int, verdict, evidence string) Action {
	return Tool("claims.decide", map[string]any{"claim": number, "verdict": verdict, "evidence": evidence})
}

func reversals(ctx context.Context, d *Driver) (string, error) {
	h, err := claimsDesk(ctx, d)
	if err != nil {
		return "", err
	}
	allowed := func(agent string, a Action) error { return h.decidedBy(ctx, agent, a, "allow", "") }
	refused := func(agent, rule string, a Action) error { return h.decidedBy(ctx, agent, a, "deny", rule) }
	// A person's word reverses a decision, the same evidence does not.
	if err := First(allowed("clerk", claim(1, "pay", "a")), allowed("planner", claim(1, "pay", "a")),
		allowed("clerk", claim(2, "refuse", "a"))); err != nil {
		return "", fmt.Errorf("what reverses nothing: %w", err)
	}
	asked := h.Decide(ctx, "planner", claim(1, "refuse", "a"))
	if asked.Rule != "commit.reversal" || asked.Verdict != "ask" {
		return "", fmt.Errorf("another choice from the same evidence is %s by %s", asked.Verdict, asked.Rule)
	}
	if _, err := h.Order(ctx, "ada", "approve", asked.Request); err != nil {
		return "", err
	}
	// Other evidence does, twice, and then it is locked: for everybody, whatever they bring.
	if err := First(allowed("planner", claim(1, "refuse", "a")), allowed("clerk", claim(3, "pay", "a")),
		allowed("planner", claim(3, "refuse", "b")),
		allowed("clerk", claim(3, "pay", "c"))); err != nil {
		return "", fmt.Errorf("a yes, or other evidence: %w", err)
	}
	locked := First(refused("planner", "commit.oscillation", claim(3, "refuse", "d")),
		refused("planner", "commit.locked", claim(3, "refuse", "e")),
		refused("clerk", "commit.locked", claim(3, "refuse", "e")), allowed("clerk", claim(3, "pay", "c")),
		allowed("clerk", claim(2, "refuse", "a")))
	list := h.CLI(ctx, "", "commitments", "--locked").Out
	name := regexp.MustCompile(`cmt_[0-9a-f]{24}`).FindString(list)
	alerts, byAgent := h.Events(ctx, "ALERT"), h.Decide(ctx, "clerk", Shell("interlock commitments unlock "+name))
	if _, err := h.Order(ctx, "ada", "commitments", "unlock", name, "--reason", "looked at the claim"); err != nil {
		return "", First(locked, err)
	}
	return "another choice from the same evidence takes a person, from other evidence it passes; the third reversal is " +
			"refused, and the decision stands for every agent until a person unlocks it", First(locked,
			allowed("planner", claim(3, "refuse", "e")),
			Unless(strings.Count(list, "cmt_") == 1, "locked are: %s", list),
			Unless(strings.Contains(alerts, "went to and fro"), "nobody was told: %s", alerts),
			Unless(byAgent.Answer == "deny", "an agent may unlock it: %s", byAgent.Answer))
}

func resolved(ctx context.Context, d *Driver) (string, error) {
	h, err := claimsDesk(ctx, d)
	if err != nil {
		return "", err
	}
	root, err := h.begin(ctx, "planner", map[string]any{"task": "route a claim"})
	if err != nil {
		return "", err
	}
	defer h.end(ctx, "planner", root, map[string]any{"status": "cancelled"})
	given, err := h.begin(ctx, "planner", map[string]any{"parent": root, "agent": "clerk"})
	if err != nil {
		return "", err
	}
	route := func(to, run string) Action {
		return Tool("claims.route", map[string]any{"claim": 17, "to": to}).In(run)
	}
	taken, said := 0, map[string]bool{}
	for range 5 { // they go on although they are told
		for _, side := range [][2]string{{"planner", root}, {"clerk", given}} {
			turn := h.Call(ctx, side[0], "POST", "/v1/runs/"+side[1]+"/turns", map[string]any{"conversation": "route of 17"})
			if turn.Status == 200 {
				taken++
				continue
			}
			said[fmt.Sprint(turn.Status, " ", turn.Member("error.message"))] = true
		}
	}
	told := ""
	for one := range said { // it is one
		told = one
	}
	return fmt.Sprintf("after %d turns both are told the same each time (%s), and what the resolver then decides holds for both",
			taken, told), First(
			Unless(taken == 4 && len(said) == 1 && strings.HasPrefix(told, "429 ") && strings.Contains(told, "the planner decides"),
				"%d turns were taken, then the answers are %v", taken, said),
			h.decidedBy(ctx, "planner", route("fraud", root), "allow", ""),
			h.decidedBy(ctx, "clerk", route("pay desk", given), "deny", "commit.kept"),
			h.decidedBy(ctx, "planner", route("pay desk", root), "deny", "commit.kept"),
			h.decidedBy(ctx, "clerk", route("fraud", given), "allow", ""))
}

func triedFirst(ctx context.Context, d *Driver) (string, error) {
	t, err := serveTools()
	if err != nil {
		return "", err
	}
	defer t.close()
	h, err := d.House(ctx, Plan{Name: "first", Settings: "gateway: {patience: 50ms, trust_on_first_use: true, " +
		"servers: [{name: pages, url: \"" + t.url() + "\"}]}\n",
		Rules: `
maso: {tier: 2, first_use: noted}
danger: [{name: "*wipe", level: dangerous}]
dry_runs: [{tool: "*wipe", set: {what: staging}}]
`})
	if err != nil {
		return "", err
	}
	wipe := func(what string) string { return h.through(ctx, hello, toolCall(2, "wipe", what))["2"].Text }
	question := func(text string) string { return regexp.MustCompile(`apr_[0-9a-f]{12}`).FindString(text) }
	look := h.through(ctx, hello, toolCall(2, "read_page", "heron"))["2"].Text
	asked := wipe("production")
	request := question(asked)
	blind := h.CLI(ctx, "", "approve", request, "--key", h.keys["ada"])
	wipe("production") // again, though nobody has seen anything
	before := t.reached("wipe")
	if form := question(wipe("staging")); form != "" { // its form is asked about itself
		if _, err := h.Order(ctx, "ada", "approve", form); err != nil {
			return "", err
		}
		wipe("staging")
	}
	tried := t.reached("wipe")
	wipe("production") // tried, and not answered yet
	waits := t.reached("wipe")
	if _, err := h.Order(ctx, "ada", "approve", request); err != nil {
		return "", err
	}
	done := wipe("production")
	return "a first call that destroys reaches its server neither by itself nor by a yes until it was tried in the form " +
			"that the rules name and a person has said yes to what came of it", First(
			Unless(strings.Contains(look, "done read_page"), "what is harmless does not pass: %s", look),
			Unless(request != "", "a first call is answered %s", asked),
			Unless(blind.Code != 0 && strings.Contains(blind.Err, "dry run"), "a yes without a dry run is taken: exit %d %s%s",
				blind.Code, blind.Out, blind.Err),
			Unless(before == 0, "it reached its server %d times before it was tried", before),
			Unless(tried == 1 && waits == 1, "its form reached the server %d times; before a yes %d calls had", tried, waits),
			Unless(strings.Contains(h.Events(ctx, "DRY_RUN"), "DRY_RUN"), "no dry run was recorded"),
			Unless(strings.Contains(done, "done wipe") && t.reached("wipe") == 2, "seen and answered, it is answered %s", done))
}

func requiredCalls(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "required", Rules: `
types:
  - {name: clerk, accountable: ada, tools: ["wc *"], tier: 2}
`})
	if err != nil {
		return "", err
	}
	if err := First(h.Agent(ctx, "clerk", "--type", "clerk", "--principal", "dana"), workFile(h, "notes.txt")); err != nil {
		return "", err
	}
	if report := h.CLI(ctx, "", "exec", "--", "true"); report.Code == 1 {
		return "", NotHere("the sandbox can't run on this machine: %s", report.Err)
	}
	ran := func(run string, command ...string) int {
		return h.CLI(ctx, "", append([]string{"exec", "--agent", "clerk", "--run", run, "--"}, command...)...).Code
	}
	status, fault := map[string]string{}, error(nil)
	for task, do := range map[string]func(run string) bool{
		"dropped": func(string) bool { return true },
		"failed":  func(run string) bool { return ran(run, "wc", "-l", "missing.txt") != 0 },
		"only told of": func(run string) bool {
			got := h.Decide(ctx, "clerk", Shell("wc -l notes.txt").In(run))
			told := h.Call(ctx, "clerk", "POST", "/v1/outcome", map[string]any{"event_id": got.Event, "outcome": "success", "run": run})
			return got.Answer == "allow" && told.Status == 200
		},
		"carried out": func(run string) bool { return ran(run, "wc", "-l", "notes.txt") == 0 },
	} {
		run, err := h.begin(ctx, "clerk", map[string]any{"task": task, "tools": []string{"wc *"}})
		if err != nil {
			return "", err
		}
		arranged := Unless(do(run), "%s: this could not be arranged", task)
		ended := h.end(ctx, "clerk", run, map[string]any{"status": "completed", "result": map[string]any{"lines": 1}})
		status[task] = ended.Member("status")
		fault = First(fault, arranged, Unless(status[task] == "completed" || ended.Member("missing") == `["wc *"]`, "%s: %s",
			task, ended.Text))
	}
	for _, task := range []string{"dropped", "failed", "only told of"} {
		fault = First(fault, Unless(status[task] == "incomplete", "a required call that was %s ends its run as %s", task,
			status[task]))
	}
	return "a run whose required call was dropped, failed or only told of ends as incomplete, though its agent says " +
			"completed; carried out, it completes", First(fault,
			Unless(status["carried out"] == "completed", "carried out, it ends as %q", status["carried out"]))
}

// workFile makes a file of one line in the workspace.
func workFile(h *House, name string) error {
	if err := os.WriteFile(filepath.Join(h.Work, name), []byte("one\n"), 0o600); err != nil {
		return fmt.Errorf("writing a file: %w", err)
	}
	return nil
}

// aStep is one step of a plan, with what makes it good if anything does.
func aStep(command, good string) Action {
	a := Shell(command)
	if good != "" {
		a["compensation"] = Shell(good)
	}
	return a
}

func wholePlan(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "plans", Clocked: true, Rules: `
maso: {tier: 2, first_use: noted}
plans: {required: true, uncompensated: deny}
types:
  - {name: builder, accountable: ada, tools: ["*"], tier: 2}
`})
	if err != nil {
		return "", err
	}
	if err := h.Agent(ctx, "builder", "--type", "builder", "--principal", "dana"); err != nil {
		return "", err
	}
	run, err := h.begin(ctx, "builder", map[string]any{"task": "release"})
	if err != nil {
		return "", err
	}
	submit := func(steps ...Action) Reply {
		return h.Call(ctx, "builder", "POST", "/v1/plans", map[string]any{"run": run, "steps": steps})
	}
	does := func(command, answer, rule string) error {
		return h.decidedBy(ctx, "builder", Shell(command).In(run), answer, rule)
	}
	const push = "git push --force origin main"
	missing := does("touch a", "deny", "plan.missing")
	harmless := submit(aStep("ls", ""), aStep("touch a", ""))
	bare := submit(aStep("touch a", ""), aStep(push, ""))
	steps := []Action{aStep("ls", ""), aStep("touch a", ""), aStep(push, "git push --force origin old:main"),
		aStep("touch b", ""), aStep("touch c", "")}
	plan := submit(steps...)
	before := does("touch a", "deny", "plan.waiting")
	shown := h.CLI(ctx, "", "pending", plan.Member("request")).Out
	if _, err := h.Order(ctx, "ada", "approve", plan.Member("request")); err != nil {
		return "", err
	}
	accepted := submit(steps...)
	return "of five steps the third is named before the first, with what makes it good, and nothing is changed before a " +
			"person has said yes; then the steps go in their order, and the third is asked about once more; a plan that can't be " +
			"made good is refused",
		First(missing, before,
			Unless(harmless.Member("status") == "accepted" && harmless.Member("request") == "", "a harmless plan is answered %s",
				harmless.Text),
			Unless(bare.Member("status") == "refused" && bare.Member("uncompensated") == "[2]",
				"one that can't be made good is answered %s", bare.Text),
			Unless(plan.Member("status") == "waiting" && plan.Member("first_irreversible") == "3", "the plan is answered %s", plan.Text),
			Unless(strings.Contains(shown, "step 3: can't be undone") && strings.Contains(shown, "origin old:main"),
				"a person is shown %s", shown),
			Unless(accepted.Member("status") == "accepted" && accepted.Member("accepted_by") == "ada", "after a yes it is %s",
				accepted.Text),
			does("ls", "allow", ""), does("touch b", "deny", "plan.deviation"), does("touch a", "allow", ""), does(push, "deny", ""),
			does("touch b", "deny", "plan.deviation"))
}
