package aql

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"interlock/internal/conform"
)

func dangerChecks() []conform.Check {
	named := func(level string, names ...string) func(context.Context, *conform.Driver) (string, error) {
		return func(ctx context.Context, d *conform.Driver) (string, error) { return namedLevels(ctx, d, level, names) }
	}
	return []conform.Check{
		{IDs: []string{"AQL-D-2.1"}, Drives: "HTTP API with operations of every level", Do: fiveLevels},
		{IDs: []string{"AQL-D-3.3"}, Drives: "HTTP API, log", Do: categoryLevels},
		{IDs: []string{"AQL-D-5.1"}, Drives: "HTTP API, log", Do: highestPattern},
		{IDs: []string{"AQL-D-5.2"}, Drives: "HTTP API, an operator's yes, log", Do: patternTagged},
		{IDs: []string{"AQL-D-5.3"}, Drives: "HTTP API in homes with and without a declaration, log", Do: declarationBeats},
		{IDs: []string{"AQL-D-6.1"}, Drives: "HTTP API, log", Do: named("dangerous", "force_push", "bulk_delete_users",
			"override_validation", "bypass_approval",
			"purge_logs", "remove_permanently", "delete_without_backup")},
		{IDs: []string{"AQL-D-6.2"}, Drives: "HTTP API, log", Do: named("forbidden", "drop_table", "delete_all_users",
			"truncate_table", "reset_database",
			"destroy_environment", "wipe_data", "deploy_production")},
		{IDs: []string{"AQL-D-6.3"}, Drives: "HTTP API, log", Do: named("safe", "get_user", "list_repos", "search_issues",
			"count_records", "check_status",
			"introspect_types")},
		{IDs: []string{"AQL-D-7.1-1"}, Drives: "HTTP API, log", Do: unlabelled},
		{IDs: []string{"AQL-D-7.1-2"}, Drives: "HTTP API as a validated agent", Do: confirmedFromDestructive},
		{IDs: []string{"AQL-D-7.1-3", "AQL-D-7.4"}, Drives: "HTTP API, an operator's yes, log", Do: dangerAudited},
		{IDs: []string{"AQL-D-8.1"}, Drives: "HTTP API with declared levels, log", Do: baselineScores},
	}
}

// levelOf is how dangerous an operation is, by what is recorded of a call of it.
func levelOf(ctx context.Context, h *conform.House, agent, tool string, arguments params) (level string, got conform.Decided) {
	if arguments == nil {
		arguments = params{}
	}
	got = h.Decide(ctx, agent, conform.Tool(tool, arguments))
	return recorded(ctx, h, got).Member("decision.danger"), got
}

// recorded is the payload of a decision's event.
func recorded(ctx context.Context, h *conform.House, got conform.Decided) conform.Reply {
	text := conform.Reply{Text: h.Event(ctx, got.Event)}
	if payload := text.Member("event.payload"); payload != "" {
		return conform.Reply{Text: payload}
	}
	return conform.Reply{Text: text.Member("payload")}
}

// judged is the plain home with an agent of the profile's own trust.
func judged(ctx context.Context, d *conform.Driver) (*conform.House, error) {
	h, err := clocked(ctx, d)
	if err != nil {
		return nil, err
	}
	if err := h.Agents(ctx, "judged"); err != nil {
		return nil, err
	}
	if err := h.Agent(ctx, "reviewed"); err != nil {
		return nil, err
	}
	if trustOf(ctx, h, "reviewed") == "validated" {
		_, err = h.Order(ctx, "ada", "trust", "promote", "reviewed", "--evidence", "looked at")
	}
	return h, err
}

// trustOf is how far an agent is trusted now.
func trustOf(ctx context.Context, h *conform.House, agent string) string {
	return conform.Reply{Text: h.CLI(ctx, "", "trust", "show", agent, "--json").Out}.Member("trust")
}

func namedLevels(ctx context.Context, d *conform.Driver, level string, names []string) (string, error) {
	h, err := judged(ctx, d)
	if err != nil {
		return "", err
	}
	var w wrong
	for _, name := range names {
		got, _ := levelOf(ctx, h, "judged", name, nil)
		w.unless(got == level, "%s is %s", name, got)
	}
	return strings.Join(names, ", ") + " are " + level, w.err()
}

func fiveLevels(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := judged(ctx, d)
	if err != nil {
		return "", err
	}
	var w wrong
	var risks []string
	last := -1
	for _, tc := range [][2]string{{"get_user", "safe"}, {"create_note", "reversible"}, {"delete_note", "destructive"},
		{"purge_logs", "dangerous"},
		{"drop_table", "forbidden"}} {
		level, got := levelOf(ctx, h, "judged", tc[0], nil)
		risk, err := strconv.Atoi(recorded(ctx, h, got).Member("decision.risk"))
		w.unless(level == tc[1] && err == nil && risk >= last, "%s is %s, with a score of %d after %d: %v", tc[0], level, risk, last,
			err)
		last = risk
		risks = append(risks, fmt.Sprintf("%s %d", level, risk))
	}
	return "levels with their scores, in order: " + strings.Join(risks, ", "), w.err()
}

func categoryLevels(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := judged(ctx, d)
	if err != nil {
		return "", err
	}
	var w wrong
	for _, tc := range [][2]string{{"read_note", "safe"}, {"create_note", "reversible"}, {"update_note", "reversible"}, {"run_job",
		"reversible"},
		{"delete_note", "destructive"}} {
		level, _ := levelOf(ctx, h, "judged", tc[0], nil)
		w.unless(level == tc[1], "%s is %s", tc[0], level)
	}
	return "undeclared, reading is safe, creating, updating and executing reversible, deleting destructive", w.err()
}

func highestPattern(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := judged(ctx, d)
	if err != nil {
		return "", err
	}
	var w wrong
	for _, tc := range [][2]string{{"purge_logs", "dangerous"}, {"drop_table", "forbidden"}, {"force_reset_production", "forbidden"},
		{"bypass_and_drop_production", "forbidden"}, {"list_forced_production", "forbidden"}, {"list_notes", "safe"}} {
		level, _ := levelOf(ctx, h, "judged", tc[0], nil)
		w.unless(level == tc[1], "%s is %s", tc[0], level)
	}
	return "names say it where nothing is declared, and of several patterns the highest level", w.err()
}

func patternTagged(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := judged(ctx, d)
	if err != nil {
		return "", err
	}
	var w wrong
	call := params{"which": "heron"}
	_, got := levelOf(ctx, h, "reviewed", "purge_herons", call)
	w.unless(got.Verdict == "ask" && got.Rule == "danger.dangerous" && strings.Contains(got.Reason, "dangerous"),
		"it is answered %s by %s: %s", got.Answer, got.Rule,
		got.Reason)
	w.unless(strings.Contains(recorded(ctx, h, got).Member("decision.impacts"), "named-dangerous"), "it is not tagged: %s",
		recorded(ctx, h, got).Text)
	_, denied := levelOf(ctx, h, "judged", "purge_herons", call)
	_, yes := h.Order(ctx, "ada", "approve", got.Request)
	w.error(yes)
	_, allowed := levelOf(ctx, h, "reviewed", "purge_herons", call)
	w.unless(denied.Answer == "deny" && allowed.Answer == "allow", "a less trusted agent is answered %s, after a yes %s",
		denied.Answer, allowed.Answer)
	for name, d := range map[string]conform.Decided{"asked": got, "denied": denied, "allowed": allowed} {
		w.unless(recorded(ctx, h, d).Member("danger_audit.danger_level") == "3", "%s, the log holds %s", name, recorded(ctx, h,
			d).Member("danger_audit"))
	}
	return "a call that a pattern matches is tagged, warned about and confirmed as dangerous, and logged whether asked, denied or allowed", w.err()
}

func declarationBeats(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := judged(ctx, d)
	if err != nil {
		return "", err
	}
	with, err := declared(ctx, d)
	if err != nil {
		return "", err
	}
	if err := with.Agents(ctx, "judged"); err != nil {
		return "", err
	}
	var w wrong
	by, _ := levelOf(ctx, h, "judged", "get_heron_plans", nil)
	declaredAs, _ := levelOf(ctx, with, "judged", "get_heron_plans", nil)
	w.unless(by == "safe" && declaredAs == "forbidden", "by its name it is %s, declared %s", by, declaredAs)
	return "get_… is safe by its name and forbidden by its declaration", w.err()
}

func unlabelled(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := judged(ctx, d)
	if err != nil {
		return "", err
	}
	var w wrong
	for _, name := range []string{"heron", "frobnicate", "do_it", "x"} {
		level, _ := levelOf(ctx, h, "judged", name, nil)
		w.unless(level != "safe" && level != "", "%s is %s", name, level)
	}
	return "names that say nothing are at least reversible", w.err()
}

func confirmedFromDestructive(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := declared(ctx, d)
	if err != nil {
		return "", err
	}
	if err := trusted(ctx, h); err != nil {
		return "", err
	}
	var w wrong
	for element, confirmed := range map[string]bool{"plain": false, "destructive": true} {
		r := begin(remote{ctx, h, "validated"}, element)
		w.unless(failsBy(r, "CONFIRMATION_REQUIRED") == confirmed && (r.Member("success") == "true") != confirmed,
			"%s by a validated agent: %s", element, r.Text)
	}
	for agent, element := range map[string]string{"community": "dangerous", "certified": "forbidden"} {
		r := begin(remote{ctx, h, agent}, element)
		w.unless(failsBy(r, "CONFIRMATION_REQUIRED"), "%s by one who is %s: %s", element, agent, r.Text)
	}
	other, err := judged(ctx, d)
	if err != nil {
		return "", err
	}
	for tool, want := range map[string]string{"create_note": "allow", "delete_notes_of_may": "ask"} {
		_, got := levelOf(ctx, other, "judged", tool, nil)
		w.unless(got.Verdict == want, "%s is %s by %s", tool, got.Verdict, got.Rule)
	}
	return "what is reversible passes, what is destructive, dangerous or forbidden is confirmed by whoever may do it at all", w.err()
}

func dangerAudited(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := judged(ctx, d)
	if err != nil {
		return "", err
	}
	var w wrong
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	call := params{"name": "egret", "note": "with " + secret}
	_, asked := levelOf(ctx, h, "reviewed", "purge_egrets", call)
	_, yes := h.Order(ctx, "ada", "approve", asked.Request)
	w.error(yes)
	_, allowed := levelOf(ctx, h, "reviewed", "purge_egrets", call)
	_, denied := levelOf(ctx, h, "judged", "drop_egrets", call)
	_, destructive := levelOf(ctx, h, "reviewed", "delete_egret", call)
	for _, tc := range []struct {
		got                     conform.Decided
		tool, level, trust, end string
	}{{asked, "purge_egrets", "3", "community_reviewed", "denied"}, {allowed, "purge_egrets", "3", "community_reviewed",
		"confirmed"},
		{denied, "drop_egrets", "4", "validated", "denied"}, {destructive, "delete_egret", "2", "community_reviewed", ""}} {
		event := recorded(ctx, h, tc.got)
		a := conform.Reply{Text: event.Member("danger_audit")}
		w.unless(a.Member("operation") == tc.tool && a.Member("danger_level") == tc.level && a.Member("adapter_trust") == tc.trust &&
			(tc.end == "" || a.Member("outcome") == tc.end), "%s, the audit entry is %s", tc.tool, a.Text)
		w.unless(a.Member("timestamp") != "" && a.Member("adapter_name") != "" && a.Member("parameters.name") == "egret",
			"the audit entry is %s", a.Text)
		w.unless(strings.Contains(a.Member("parameters.note"), "redacted") && !strings.Contains(event.Text, secret),
			"a secret is in the event of %s", tc.tool)
	}
	w.unless(recorded(ctx, h, allowed).Member("danger_audit.confirmation_token") == asked.Request && asked.Request != "",
		"the entry names no confirmation")
	_, plainly := levelOf(ctx, h, "judged", "create_egret", call)
	w.unless(recorded(ctx, h, plainly).Member("danger_audit") == "", "what is reversible has an audit entry")
	return "destructive, dangerous and forbidden attempts are each recorded with time, adapter, operation, level, trust, outcome, token and redacted parameters", w.err()
}

func baselineScores(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := declared(ctx, d)
	if err != nil {
		return "", err
	}
	if err := h.Agents(ctx, "judged"); err != nil {
		return "", err
	}
	var w wrong
	var seen []string
	for tool, want := range map[string][2]string{"scored_destructive": {"destructive", "confirm"}, "scored_dangerous": {"dangerous",
		"verify"},
		"scored_forbidden": {"forbidden", "danger_zone"}} {
		level, got := levelOf(ctx, h, "judged", tool, nil)
		event := recorded(ctx, h, got)
		risk, err := strconv.Atoi(event.Member("decision.risk"))
		w.unless(err == nil && level == want[0] && tierOf(risk) == want[1], "declared %s it is %s, and scores %s", want[0], level,
			event.Member("decision.risk"))
		seen = append(seen, fmt.Sprintf("%s %d", level, risk))
	}
	return "declared levels score " + strings.Join(seen, ", "), w.err()
}
