package conform

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

func asaOperateChecks() []Check {
	return []Check{
		{IDs: []string{"ASA-16.1-2", "ASA-19.1-1"}, Drives: "HTTP API, two judges, of which one is a program of the check's own " +
			"where a sandbox works", Do: furtherGate},
		{IDs: []string{"ASA-19.1-2"}, Drives: "HTTP API, a judge of the check's own, an operator's commands", Do: peopleLast},
		{IDs: []string{"ASA-16.5-1", "ASA-16.5-3"}, Drives: "HTTP API, log", Do: toldAgain},
		{IDs: []string{"ASA-16.5-2"}, Drives: "HTTP API, log, an operator's commands", Do: suspended},
		{IDs: []string{"ASA-17.3-1"}, Drives: "HTTP API, metrics, interlock judge what-if", Do: refined},
		{IDs: []string{"ASA-20-9"}, Drives: "interlock mcp", Do: versionStated},
	}
}

// secondJudges are two judges of different models. Where much depends on an action both are heard.
func secondJudges(ctx context.Context, d *Driver, name string) (*House, []*judgeServer, error) {
	var servers []*judgeServer
	var list []string
	for n := range 2 {
		key := fmt.Sprint(name, "-", n)
		if d.judges[key] == nil {
			judge, err := serveJudge()
			if err != nil {
				return nil, nil, err
			}
			d.judges[key] = judge
		}
		servers = append(servers, d.judges[key])
		list = append(list, fmt.Sprintf("{name: judge-%d, wire: openai-chat, url: %q, model: throw-away-%d, answers_as: throw-away-1, timeout: 5s}",
			n+1, d.judges[key].address(), n+1))
	}
	h, err := d.House(ctx, Plan{Name: name, Profile: "asa", Settings: "judge:\n  judges: [" + strings.Join(list, ", ") + "]\n"})
	if err != nil {
		return nil, nil, err
	}
	return h, servers, h.Agent(ctx, "worker")
}

// ownProgram is a judge that a program on this machine is: it denies what holds gate-three.
const ownProgram = `{name: own, wire: command, command: [sh, -c, 'case "$(cat)" in *gate-three*|*attacker.example*) echo ` +
	`''{"decision":"DENY","layer":1,"rule_id":"L1.integrity","reason":"it is about gate three","confidence":1}'';; *) echo ` +
	`''{"decision":"ALLOW","layer":null,"rule_id":null,"reason":"fine","confidence":1}'';; esac']}`

func furtherGate(ctx context.Context, d *Driver) (string, error) {
	h, judges, err := secondJudges(ctx, d, "asa-two-judges")
	if err != nil {
		return "", err
	}
	_, little := h.Expect(ctx, "worker", Shell("cat little"), "allow")
	second := len(judges[1].sent("cat little"))
	const much = "git push --force origin "
	_, both := h.Expect(ctx, "worker", Shell(much+"both"), "allow", "ask")
	heard := []int{len(judges[0].sent("origin both")), len(judges[1].sent("origin both"))}
	judges[1].answersIf("origin third-gate")
	byThird, third := h.Expect(ctx, "worker", Shell(much+"third-gate"), "deny")
	judges[1].answersIf()
	judges[0].answersIf("origin second-gate")
	bySecond, kept := h.Expect(ctx, "worker", Shell(much+"second-gate"), "deny")
	_, first := h.Expect(ctx, "worker", Shell("rm -rf / # third"), "deny", "halt")
	seen := "a second judge of another model is heard of what has consequences: its denial denies, its allow lifts nothing, and " +
		"what gate 1 denies it never sees"
	if err := First(little, both, third, kept, first, Unless(second == 0, "of little it is asked %d times", second),
		Unless(heard[0] == 1 && heard[1] == 1, "they were asked %v times", heard),
		Unless(byThird.Rule == "judge.L1.integrity" && bySecond.Rule == "judge.L1.integrity", "it is denied by %s and %s", byThird.Rule, bySecond.Rule),
		Unless(len(judges[1].sent("# third")) == 0, "it was shown what gate 1 denies")); err != nil {
		return "", err
	}
	if _, why, err := boxed(ctx, d, "echo done"); err != nil || why != "" {
		return seen, err
	}
	return seen + "; a program of the operator's own stands there as well", ownGate(ctx, d)
}

// ownGate is a home whose operator has added a program of their own as the second judge.
func ownGate(ctx context.Context, d *Driver) error {
	const name = "asa-own-gate"
	judge, err := serveJudge()
	if err != nil {
		return err
	}
	d.judges[name] = judge
	h, err := d.House(ctx, Plan{Name: name, Profile: "asa", Settings: strings.Replace(judge.settings(), "}]\n", "}, "+ownProgram+"]\n", 1)})
	if err != nil {
		return err
	}
	if err := h.Agent(ctx, "worker"); err != nil {
		return err
	}
	denied, no := h.Expect(ctx, "worker", Shell("git push --force origin gate-three"), "deny")
	_, passes := h.Expect(ctx, "worker", Shell("git push --force origin gate-four"), "ask", "allow")
	return First(no, passes, Unless(strings.Contains(denied.Reason, "it is about gate three"), "it is denied by %s: %s", denied.Rule, denied.Reason),
		Unless(len(judge.sent("gate-three")) == 1, "the first judge was asked %d times", len(judge.sent("gate-three"))))
}

func peopleLast(ctx context.Context, d *Driver) (string, error) {
	h, judge, err := asaRules(ctx, d, "asa-people", "", "")
	if err != nil {
		return "", err
	}
	bulk := func(table string) Action {
		return Action{"kind": "sql", "input": "DELETE FROM " + table + " WHERE created < '2026-01-01'", "dir": "/srv/project"}
	}
	asked, err := h.Expect(ctx, "worker", bulk("people_last"), "ask")
	if err != nil {
		return "", err
	}
	before := len(judge.sent("people_last"))
	shown := h.CLI(ctx, "", "pending", asked.Request).Out
	judge.answersIf("people_never")
	never := h.Decide(ctx, "worker", bulk("people_never"))
	open := h.Open(ctx)
	judge.answersIf()
	_, yes := h.Order(ctx, "ada", "approve", asked.Request)
	once := h.Decide(ctx, "worker", bulk("people_last"))
	judge.answersIf("people_turned")
	turned := h.Decide(ctx, "worker", bulk("people_turned"))
	return "a person is asked after the judge was heard, and shown what it said; what the judge denies reaches no person, and " +
			"nobody's yes stands in " +
			"its place", First(yes,
			Unless(before == 1, "when the person is asked the judge was heard %d times", before),
			Unless(strings.Contains(shown, "main: objects to nothing"), "the person is shown %s", shown),
			Unless(never.Verdict == "deny" && never.Rule == "judge.L1.integrity" && never.Request == "", "what the judge denies is %s by %s, request %q",
				never.Verdict, never.Rule, never.Request),
			Unless(open == 1, "%d requests wait", open),
			Unless(once.Answer == "allow", "with both it is answered %s by %s", once.Answer, once.Rule),
			Unless(turned.Answer == "deny" && turned.Request == "", "another is answered %s, request %q", turned.Answer, turned.Request))
}

func toldAgain(ctx context.Context, d *Driver) (string, error) {
	h, _, err := asaHouse(ctx, d, "asa-again")
	if err != nil {
		return "", err
	}
	const tell = "tell the user that it can't be achieved within the present safety constraints"
	told := 0
	for n, command := range []string{"rm -rf build", "sh -c 'rm -r ./build'", `python3 -c "import shutil; shutil.rmtree('build')"`} {
		got, err := h.Expect(ctx, "worker", Shell(command).In("run-again"), "deny")
		if err != nil {
			return "", err
		}
		if strings.Contains(got.Member("findings.0.suggestion"), tell) {
			told = n + 1
			break
		}
	}
	alerts := h.Events(ctx, "ALERT")
	return "at the third denial of one thing, in three spellings, the agent is told to tell its user that it can't be done, and " +
			"the operators are alerted once",
		First(Unless(told == 3, "it is told at denial %d", told),
			Unless(strings.Count(alerts, `"repeated-denials"`) == 1, "operators are told %d times", strings.Count(alerts, `"repeated-denials"`)))
}

func suspended(ctx context.Context, d *Driver) (string, error) {
	h, judge, err := asaRules(ctx, d, "asa-suspended", "maso: {tier: 1}\n", "")
	if err != nil {
		return "", err
	}
	_, before := h.Expect(ctx, "worker", Shell("cat before-breaker"), "allow")
	for n := range 3 {
		if _, err := h.Expect(ctx, "worker", Shell(fmt.Sprint("rm -rf / # breaker-", n)), "deny", "halt"); err != nil {
			return "", err
		}
	}
	stopped, after := h.Expect(ctx, "worker", Shell("cat after-breaker"), "deny")
	return "after three denials the agent's breaker is open: what passed before is denied, the judge is not asked, and the log " +
			"says it", First(before, after,
			Unless(stopped.Rule == "breaker.open", "it is denied by %s", stopped.Rule),
			Unless(len(judge.sent("after-breaker")) == 0, "the judge was asked"),
			Unless(strings.Contains(h.Events(ctx, "BREAKER_TRIPPED"), "worker"), "no event says that it tripped: %s", h.Events(ctx, "BREAKER_TRIPPED")))
}

func refined(ctx context.Context, d *Driver) (string, error) {
	h, judge, err := asaHouse(ctx, d, "asa-refined")
	if err != nil {
		return "", err
	}
	one, err := h.Expect(ctx, "worker", Shell("rm -rf / # refined"), "deny", "halt")
	if err != nil {
		return "", err
	}
	judge.allowsOnly("It is in scope")
	defer judge.allowsOnly("")
	two, err := h.Expect(ctx, "worker", Shell("cat refined"), "deny")
	if err != nil {
		return "", err
	}
	metrics := h.send(ctx, "", "", h.API, http.MethodGet, "/metrics", "")
	const rules = "# Ours\n\n## Layer 3: Operational\n\n### L3.own-refined It is in scope\n\nReading this is part of the work.\n\nAllowed:\n- " +
		"`cat refined`\n\nDisallowed:\n- `cat other`\n"
	file := h.Home + "/../refined.md"
	if err := writeSettings(file, rules); err != nil {
		return "", err
	}
	whatIf := h.CLI(ctx, "", "judge", "what-if", "--rules", file, "--json")
	return "denials are counted by class and gate, and their reasons say which of the two it was; what other ground rules would " +
			"make of the same actions " +
			"is asked before they are in force", First(
			Unless(strings.HasPrefix(two.Rule, "judge.") && !strings.HasPrefix(one.Rule, "judge.") && one.Reason != "" && two.Reason != "",
				"they are denied by %s and %s", one.Rule, two.Rule),
			Unless(strings.Contains(metrics.Text, `interlock_denials_total{gate="1",kind="shell"} 1`) &&
				strings.Contains(metrics.Text, `interlock_denials_total{gate="2",kind="shell"} 1`), "denials are not counted by gate and class"),
			Unless(whatIf.Code == 0 && strings.Contains(whatIf.Out, "cat refined"), "what-if is answered %d: %s", whatIf.Code, whatIf.Out+whatIf.Err))
}

func versionStated(ctx context.Context, d *Driver) (string, error) {
	h, _, err := asaHouse(ctx, d, "asa")
	if err != nil {
		return "", err
	}
	const ask = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"mcp_aql_read","arguments":{"operation":"introspect",` +
		`"params":{"query":"operations"}}}}`
	stated := h.throughDoor(ctx, []string{"mcp", "--agent", "introspector"}, hello, ask)["2"]
	plain, err := d.House(ctx, Plan{Name: "box"})
	if err != nil {
		return "", err
	}
	guard := plain.throughDoor(ctx, []string{"mcp", "--agent", "introspector"}, hello, ask)["2"]
	said := Reply{Text: stated.Member("result.content.0.text")}.Member("data._protocol.conformsTo")
	other := Reply{Text: guard.Member("result.content.0.text")}
	return "introspection states " + Draft + " where the profile goes by it", First(Unless(said == Draft,
		"introspection states %q: %.300s", said, stated.Text),
		Unless(other.Member("data._protocol.version") != "" && other.Member("data._protocol.conformsTo") == "", "under another profile it states %q",
			other.Member("data._protocol.conformsTo")))
}
