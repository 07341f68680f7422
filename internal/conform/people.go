package conform

import (
	"context"
	"strings"
	"time"
)

func peopleChecks() []Check {
	return []Check{
		{IDs: []string{"EC-H-1"}, Drives: "HTTP API, operators' commands", Do: notOneself},
		{IDs: []string{"EC-H-2"}, Drives: "HTTP API, operators' commands, clock", Do: approvalsExpire},
		{IDs: []string{"EC-H-3"}, Drives: "HTTP API, an operator's commands", Do: evidenceShown},
	}
}

func notOneself(ctx context.Context, d *Driver) (string, error) {
	h, err := supervised(ctx, d)
	if err != nil {
		return "", err
	}
	if err := First(h.Operator(ctx, "olga", "operator"), h.Agent(ctx, "hers", "--principal", "olga")); err != nil {
		return "", err
	}
	asked, err := h.Expect(ctx, "hers", Shell("touch mine"), "ask")
	if err != nil {
		return "", err
	}
	own := h.CLI(ctx, "", "approve", asked.Request, "--key", h.keys["olga"])
	self := h.Call(ctx, "hers", "POST", "/v1/requests/"+asked.Request+"/approve", map[string]any{})
	still := h.Decide(ctx, "hers", Shell("touch mine"))
	_, other := h.Order(ctx, "ada", "approve", asked.Request)
	return "neither the agent nor the person for whom it acts approves what it asked; another person does", First(other,
		Unless(own.Code != 0, "whoever it acts for can approve"), Unless(self.Status >= 400, "the agent can answer: %d", self.Status),
		Unless(still.Answer == "deny", "it is answered %s", still.Answer))
}

func approvalsExpire(ctx context.Context, d *Driver) (string, error) {
	h, err := supervised(ctx, d)
	if err != nil {
		return "", err
	}
	asked, err := h.Expect(ctx, "builder", Shell("touch late"), "ask")
	if err != nil {
		return "", err
	}
	h.Pass(30 * 24 * time.Hour)
	late := h.CLI(ctx, "", "approve", asked.Request, "--key", h.keys["ada"])
	after := h.Decide(ctx, "builder", Shell("touch late"))
	given, err := h.Expect(ctx, "builder", Shell("touch now"), "ask")
	if err != nil {
		return "", err
	}
	_, yes := h.Order(ctx, "ada", "approve", given.Request)
	other := h.Decide(ctx, "builder", Shell("touch something-else"))
	h.Pass(30 * 24 * time.Hour)
	unused := h.Decide(ctx, "builder", Shell("touch now"))
	return "an answer that comes after the request's time counts for nothing, a yes that is not used in time is over, and it is for one action",
		First(yes, Unless(late.Code != 0 && after.Answer == "deny", "a late yes: exit %d, then %s", late.Code, after.Answer),
			Unless(other.Answer == "deny" && unused.Answer == "deny", "another action is answered %s, the one that was approved long ago %s",
				other.Answer, unused.Answer))
}

func evidenceShown(ctx context.Context, d *Driver) (string, error) {
	h, err := supervised(ctx, d)
	if err != nil {
		return "", err
	}
	action := Shell("touch --date=tomorrow ledger.csv")
	action["hint"] = "tidying up"
	asked, err := h.Expect(ctx, "builder", action, "ask")
	if err != nil {
		return "", err
	}
	shown := h.CLI(ctx, "", "pending", asked.Request).Out
	return "whoever answers sees the command itself, where it acts and what it would do, with what the agent says beside it",
		Unless(strings.Contains(shown, "touch --date=tomorrow ledger.csv") && strings.Contains(shown, "/srv/project") &&
			strings.Contains(shown, "tidying up"), "shown is %s", shown)
}
