package conform

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

func breakerChecks() []Check {
	return []Check{
		{IDs: []string{"EC-2.4", "EC-T2.4"}, Drives: "HTTP API, control door, operators' commands, clock", Do: breaker},
		{IDs: []string{"EC-I-2"}, Drives: "control door, HTTP API", Do: quality},
	}
}

func phaseChecks() []Check {
	return []Check{
		{IDs: []string{"EC-P-1"}, Drives: "HTTP API, operators' commands", Do: scopesOfPhases},
		{IDs: []string{"EC-P-2", "EC-P-3"}, Drives: "control door, operators' commands", Do: upAndDown},
		{IDs: []string{"EC-P-4", "EC-P-5"}, Drives: "HTTP API, operators' commands", Do: alternate},
		{IDs: []string{"EC-P-6"}, Drives: "HTTP API, operators' commands, clock", Do: emergency},
		{IDs: []string{"EC-P-7"}, Drives: "operators' commands, clock, a restart", Do: unresolved},
		{IDs: []string{"EC-P-8"}, Drives: "operators' commands, log", Do: phaseEvents},
		{IDs: []string{"EC-P-9"}, Drives: "HTTP API from 8 callers while the phase changes, log", Do: phaseRace},
		{IDs: []string{"EC-T3.3"}, Drives: "control door, operators' commands, clock", Do: selfHeal},
	}
}

// phased is a home of its own of a tier, with agents and operators of each role.
func phased(ctx context.Context, d *Driver, name string, tier int, agents ...string) (*House, error) {
	h, err := d.House(ctx, Plan{Name: name, Clocked: true, Rules: fmt.Sprintf("maso: {tier: %d, first_use: noted}\n", tier)})
	if err != nil {
		return nil, err
	}
	return h, h.Agents(ctx, agents...)
}

// refusals has an agent refused something so often.
func refusals(ctx context.Context, h *House, agent string, times int) error {
	for n := range times {
		if _, err := h.Expect(ctx, agent, Shell([]string{"rm -rf /", "rm -rf /etc", "rm -rf /usr", "rm -rf /boot"}[n%4]), "deny"); err != nil {
			return err
		}
	}
	return nil
}

func breaker(ctx context.Context, d *Driver) (string, error) {
	h, err := phased(ctx, d, "breaker", 1, "builder", "slow", "other")
	if err != nil {
		return "", err
	}
	if err := refusals(ctx, h, "slow", 2); err != nil {
		return "", err
	}
	h.Pass(11 * time.Minute)
	if err := First(refusals(ctx, h, "slow", 1), refusals(ctx, h, "builder", 2)); err != nil {
		return "", err
	}
	_, slow := h.Expect(ctx, "slow", Shell("ls"), "allow")
	_, before := h.Expect(ctx, "builder", Shell("ls"), "allow")
	third := refusals(ctx, h, "builder", 1)
	began := d.env.Now()
	fourth, after := h.Expect(ctx, "builder", Shell("ls"), "deny")
	took := d.env.Now().Sub(began)
	_, other := h.Expect(ctx, "other", Shell("ls"), "allow")
	tripped := h.Events(ctx, "BREAKER_TRIPPED")
	early := h.CLI(ctx, "", "breaker", "reset", "agent:builder", "--reason", "mended", "--key", h.keys["ada"])
	h.Pass(11 * time.Minute)
	_, still := h.Expect(ctx, "builder", Shell("ls"), "deny")
	_, reset := h.Order(ctx, "ada", "breaker", "reset", "agent:builder", "--reason", "mended")
	one := h.Decide(ctx, "builder", Shell("ls one"))
	two := h.Decide(ctx, "builder", Shell("ls two"))
	return fmt.Sprintf("the third block within ten minutes pauses the agent (the next action is refused, %d ms later), it never goes on by "+
			"itself, and half-open lets one action run; two blocks, or three in a longer time, stop nobody", took.Milliseconds()),
		First(slow, before, third, after, other, still, reset,
			Unless(fourth.Rule == "breaker.open" && took < 30*time.Second, "the fourth action is refused by %s after %s", fourth.Rule, took),
			Unless(strings.Contains(tripped, `"to":"open"`), "the log does not say so"),
			Unless(early.Code != 0, "it can be reset at once"),
			Unless(one.Answer == "allow" && two.Answer == "deny", "half-open answers %s, then %s", one.Answer, two.Answer))
}

func quality(ctx context.Context, d *Driver) (string, error) {
	h, err := phased(ctx, d, "quality", 1, "sloppy")
	if err != nil {
		return "", err
	}
	if err := h.Agent(ctx, "meter", "--observer"); err != nil {
		return "", err
	}
	_, before := h.Expect(ctx, "sloppy", Shell("ls"), "allow")
	h.signal(ctx, "meter", "quality", "sloppy", 41)
	_, fair := h.Expect(ctx, "sloppy", Shell("ls"), "allow")
	told := h.signal(ctx, "meter", "quality", "sloppy", 40)
	got, after := h.Expect(ctx, "sloppy", Shell("ls"), "deny")
	return "without one error, a quality of 40 opens the breaker of whoever puts it out", First(before, fair, after,
		Unless(told.Status == 200, "the signal is answered %d %s", told.Status, told.Text),
		Unless(got.Rule == "breaker.open", "it is refused by %s", got.Rule))
}

func scopesOfPhases(ctx context.Context, d *Driver) (string, error) {
	h, err := phased(ctx, d, "scopes", 1, "alone")
	if err != nil {
		return "", err
	}
	if err := First(h.Agent(ctx, "one", "--type", "clerk"), h.Agent(ctx, "two", "--type", "clerk")); err != nil {
		return "", err
	}
	set := func(on, phase string) error {
		_, err := h.Order(ctx, "ada", "phase", "set", on, phase, "--reason", "drill")
		return err
	}
	expect := func(agent, command, verdict string) error {
		_, err := h.Expect(ctx, agent, Shell(command), verdict)
		return err
	}
	return "a phase on an agent, a type and the system binds whom it is over and nobody else, and the strictest over one rules", First(
		set("agent:one", "A"), expect("one", "ls", "deny"), expect("two", "ls", "allow"), expect("two", "touch a", "allow"),
		set("type:clerk", "A"), expect("two", "ls", "allow"), expect("two", "touch a", "ask"), expect("alone", "touch a", "allow"),
		expect("one", "ls", "deny"),
		set("system", "A"), expect("alone", "ls", "allow"), expect("alone", "touch a", "ask"),
		set("type:clerk", "E"), Unless(h.Decide(ctx, "two", Shell("ls")).Answer != "allow", "a type in emergency goes on"),
		expect("alone", "ls", "allow"))
}

func upAndDown(ctx context.Context, d *Driver) (string, error) {
	h, err := phased(ctx, d, "updown", 2, "builder")
	if err != nil {
		return "", err
	}
	if err := First(h.Operator(ctx, "olga", "operator"), h.Operator(ctx, "bob", "admin"), h.Agent(ctx, "meter", "--observer")); err != nil {
		return "", err
	}
	h.signal(ctx, "meter", "drift", "builder", 70)
	_, machine := h.Expect(ctx, "builder", Shell("ls"), "deny")
	h.signal(ctx, "meter", "drift", "builder", 0)
	h.Pass(time.Hour)
	_, stays := h.Expect(ctx, "builder", Shell("ls"), "deny")
	refused := func(operator, on, phase, says string, flags ...string) error {
		said := h.CLI(ctx, "", append([]string{"phase", "set", on, phase, "--reason", "all is well", "--key", h.keys[operator]}, flags...)...)
		return Unless(said.Code != 0 && strings.Contains(said.Err, says), "%s to %s by %s: exit %d %s", on, phase, operator, said.Code, said.Err)
	}
	ordered := func(operator string, args ...string) error {
		_, err := h.Order(ctx, operator, append(args, "--reason", "all is well")...)
		return err
	}
	return "a machine isolates and never lets go; P to E goes at once, E to P not, and each refusal names the role that may", First(
		machine, stays,
		refused("olga", "agent:builder", "P", "admin or superadmin", "--proof", "INC-1"),
		refused("bob", "agent:builder", "P", "--proof"),
		ordered("bob", "phase", "set", "agent:builder", "P", "--proof", "INC-1"),
		ordered("bob", "phase", "set", "system", "P", "--proof", "INC-1"),
		ordered("olga", "phase", "set", "system", "E"),
		refused("ada", "system", "P", "the one step back is to C", "--proof", "INC-1"),
		refused("bob", "system", "C", "superadmin or council"),
		refused("ada", "system", "C", "phase cause"),
		ordered("bob", "phase", "cause", "system"),
		ordered("ada", "phase", "set", "system", "C"),
		refused("ada", "system", "P", "the one step back is to A", "--proof", "INC-1"))
}

func alternate(ctx context.Context, d *Driver) (string, error) {
	h, err := phased(ctx, d, "alternate", 2, "builder", "backup", "other")
	if err != nil {
		return "", err
	}
	if err := refusals(ctx, h, "builder", 3); err != nil {
		return "", err
	}
	expect := func(agent, command, verdict string) error {
		_, err := h.Expect(ctx, agent, Shell(command), verdict)
		return err
	}
	err = First(expect("builder", "ls", "deny"), expect("backup", "ls", "allow"), expect("backup", "touch a", "ask"))
	if err != nil {
		return "", fmt.Errorf("in alternate: %w", err)
	}
	if _, err := h.Order(ctx, "ada", "phase", "set", "system", "C", "--agent", "backup", "--reason", "it goes on alone"); err != nil {
		return "", err
	}
	asked, err := h.Expect(ctx, "backup", Shell("ls"), "ask")
	if err != nil {
		return "", fmt.Errorf("in contingency: %w", err)
	}
	_, yes := h.Order(ctx, "ada", "approve", asked.Request)
	approved := h.Decide(ctx, "backup", Shell("ls"))
	mail := h.Decide(ctx, "backup", Tool("send_message", map[string]any{"agent": "other", "text": "go on"}))
	return "in alternate the offender does nothing, others read and are asked about changes; in contingency one agent goes on, each of its " +
			"actions after a yes, and all others are denied", First(yes, expect("other", "ls", "deny"),
			Unless(approved.Answer == "allow", "after a yes it is answered %s: %s", approved.Answer, approved.Reason),
			Unless(mail.Verdict == "deny", "it may address another agent: %s", mail.Verdict))
}

func emergency(ctx context.Context, d *Driver) (string, error) {
	h, err := phased(ctx, d, "emergency", 2, "builder")
	if err != nil {
		return "", err
	}
	waiting := h.Decide(ctx, "builder", Shell("git push --force origin main"))
	if _, err := h.Order(ctx, "ada", "phase", "set", "system", "E", "--reason", "drill"); err != nil {
		return "", err
	}
	refused := h.Decide(ctx, "builder", Shell("ls"))
	hook, _ := h.Hook(ctx, "claude", "t1", "ls")
	yes := h.CLI(ctx, "", "approve", waiting.Request, "--key", h.keys["ada"])
	h.Pass(30 * 24 * time.Hour)
	h.Down()
	if err := h.Up(ctx); err != nil {
		return "", err
	}
	later := h.Decide(ctx, "builder", Shell("ls"))
	return "in emergency tokens are refused (401), hooks are denied, a request of before can't be approved, and thirty days and a restart " +
			"later it is the same", First(
			Unless(refused.Status == 401, "a token is answered %d", refused.Status), Unless(hook == "deny", "a hook is answered %s", hook),
			Unless(yes.Code != 0 || h.Decide(ctx, "builder", Shell("git push --force origin main")).Answer != "allow", "what was asked before passes"),
			Unless(later.Status == 401, "after thirty days a token is answered %d", later.Status))
}

func unresolved(ctx context.Context, d *Driver) (string, error) {
	h, err := phased(ctx, d, "unresolved", 2, "builder")
	if err != nil {
		return "", err
	}
	if _, err := h.Order(ctx, "ada", "phase", "set", "agent:builder", "A", "--reason", "it looks odd"); err != nil {
		return "", err
	}
	h.Pass(47 * time.Hour)
	before := h.CLI(ctx, "", "phase", "show", "--json").Out
	h.Down()
	h.Pass(2 * time.Hour)
	if err := h.Up(ctx); err != nil {
		return "", err
	}
	after := h.CLI(ctx, "", "phase", "show", "--json").Out
	return "after 47 hours it is alternate still, two hours and a restart later contingency", First(
		Unless(strings.Contains(before, `"name":"agent:builder","phase":"A"`), "after 47 hours: %s", before),
		Unless(strings.Contains(after, `"name":"agent:builder","phase":"C"`), "after 49 hours: %s", after))
}

func phaseEvents(ctx context.Context, d *Driver) (string, error) {
	h, err := phased(ctx, d, "events", 2, "builder")
	if err != nil {
		return "", err
	}
	if err := refusals(ctx, h, "builder", 3); err != nil {
		return "", err
	}
	if _, err := h.Order(ctx, "ada", "phase", "set", "system", "C", "--reason", "drill"); err != nil {
		return "", err
	}
	events := h.Events(ctx, "PHASE_CHANGED")
	lines, complete := 0, 0
	for _, line := range strings.Split(strings.TrimSpace(events), "\n") {
		lines++
		if strings.Contains(line, `"authoriser":"`) && strings.Contains(line, `"trigger":"`) && strings.Contains(line, `"snapshot":"sha256:`) {
			complete++
		}
	}
	return fmt.Sprintf("%d changes, each an event with authoriser, trigger and the digest of what stood before", lines), First(
		Unless(lines >= 3 && complete == lines, "%d of %d changes are complete: %s", complete, lines, events),
		Unless(strings.Contains(events, `"authoriser":"ada"`) && strings.Contains(events, `"authoriser":"interlock"`), "by whom: %s", events))
}

func phaseRace(ctx context.Context, d *Driver) (string, error) {
	h, err := phased(ctx, d, "race", 1, "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8")
	if err != nil {
		return "", err
	}
	deciding, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	var mu sync.Mutex
	var allowed []string
	for n := range 8 {
		all.Go(func() {
			for i := 0; deciding.Err() == nil && i < 500; i++ {
				got := h.Decide(ctx, fmt.Sprintf("a%d", n+1), Shell(fmt.Sprintf("touch f%d", i)))
				if got.Answer != "allow" {
					return
				}
				mu.Lock()
				allowed = append(allowed, got.Member("index"))
				mu.Unlock()
			}
		})
	}
	set, setErr := h.Order(ctx, "ada", "phase", "set", "system", "E", "--reason", "drill", "--json")
	stop()
	all.Wait()
	changed := ""
	for _, line := range strings.Split(h.CLI(ctx, "", "audit", "show", Reply{Text: set.Out}.Member("event"), "--text").Out, "\n") {
		if words := strings.Fields(line); len(words) == 2 && words[0] == "index" {
			changed = words[1]
		}
	}
	d.take() // hundreds of the same
	d.note(Step{Door: "HTTP", Sent: fmt.Sprintf("%d writes by 8 agents while the phase went to E", len(allowed)),
		Answer: "the phase changed with entry " + changed})
	late := 0
	for _, index := range allowed {
		if number(index) > number(changed) {
			late++
		}
	}
	return fmt.Sprintf("%d writes of 8 agents were let through before entry %s, with which the phase changed, and none after it",
			len(allowed), changed),
		First(setErr, Unless(changed != "" && len(allowed) > 0, "the race did not happen: %d writes, entry %q", len(allowed), changed),
			Unless(late == 0, "%d writes were let through after the phase had changed", late))
}

func selfHeal(ctx context.Context, d *Driver) (string, error) {
	h, err := phased(ctx, d, "cycles", 3, "builder")
	if err != nil {
		return "", err
	}
	if err := h.Agent(ctx, "meter", "--observer"); err != nil {
		return "", err
	}
	var went []string
	for n := range 4 {
		h.signal(ctx, "meter", "drift", "builder", 0)
		h.signal(ctx, "meter", "drift", "builder", 70)
		shown := h.CLI(ctx, "", "phase", "show", "agent:builder", "--json").Out
		phase := "C"
		if strings.Contains(shown, `"name":"agent:builder","phase":"A"`) {
			phase = "A"
		} else if !strings.Contains(shown, `"name":"agent:builder","phase":"C"`) {
			phase = "none"
		}
		went = append(went, phase)
		if n == 3 {
			break
		}
		_, agent := h.Order(ctx, "ada", "phase", "set", "agent:builder", "P", "--reason", "it is stable", "--proof", "INC-1")
		if agent != nil {
			return "", agent
		}
		if strings.Contains(h.CLI(ctx, "", "phase", "show", "--json").Out, `"system:all"`) {
			if _, err := h.Order(ctx, "ada", "phase", "set", "system", "P", "--reason", "it is stable", "--proof", "INC-1"); err != nil {
				return "", err
			}
		}
		h.Pass(time.Hour)
	}
	return "within 24 hours the agent goes to A three times, and the fourth time to C",
		Unless(strings.Join(went, "") == "AAAC", "it went to %s", strings.Join(went, ", "))
}
