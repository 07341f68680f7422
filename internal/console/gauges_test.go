package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/ruleset"
)

const bounded = `
limits:
  - {id: team.calls, per: agent, measure: actions, most: 8, within: 1h}
  - {id: team.run, per: run, measure: actions, most: 1000}
  - {id: team.never, per: type, measure: recipients, most: 5, within: 24h}
budgets:
  - {id: team.tokens, per: agent, measure: tokens, most: 1000, within: 24h}
  - {id: team.day, per: everything, measure: money, currency: USD, most: 2000, within: 24h}
`

// bar is the bar of a limit for somebody, as a screen reader is told of it.
func bar(page answer, label string) (now, says, class string) {
	match := regexp.MustCompile(`role="meter" aria-label="` + regexp.QuoteMeta(label) +
		`" aria-valuemin="0" aria-valuemax="100" aria-valuenow="(\d+)" ` +
		`aria-valuetext="([^"]*)"><svg [^>]*aria-hidden="true"[^>]*><rect class="fill-track"[^>]*/><rect class="fill-([a-z-]+)" width="(\d+)"`).
		FindStringSubmatch(page.body)
	if match == nil || match[1] != match[4] {
		return "", "", ""
	}
	return match[1], match[2], match[3]
}

// uses has tokens and money reported of an agent.
func (h *house) uses(agent string, tokens, micros int64) {
	h.t.Helper()
	err := h.backend.ReportUsage(h.t.Context(), interlock.Requester{Agent: agent, Principal: "dana"}, []admission.Report{
		{Measure: ruleset.MeasureTokens, Source: "metrics", Service: "test", Readings: []ledger.Reading{{ID: 1, Value: tokens}},
			Harness: true},
		{Measure: ruleset.MeasureMoney, Currency: "USD", Source: "metrics", Service: "test", Readings: []ledger.Reading{{ID: 2, Value: micros}},
			Harness: true}})
	if err != nil {
		h.t.Fatal(err)
	}
}

// TestBarsSayHowMuchIsUsed: how much of each limit and budget is used stands as a bar with its text, for each one it is counted for, the
// fullest first, coloured by the step of the ladder; a name that an agent chose is no markup.
func TestBarsSayHowMuchIsUsed(t *testing.T) {
	h := open(t, bounded)
	vera := h.in("vera", quorum.RoleViewer)
	h.want("nothing is used", vera.get("/system/limits"), http.StatusOK, "Nobody has used anything")
	h.want("what there is", vera.get("/system/limits"), http.StatusOK, "8 actions")
	for n := range 8 {
		h.act("claude", "r1", shell(fmt.Sprint("ls ", n)))
	}
	h.act("codex", "r2", shell("ls"))
	hostileAgent := "eve" + strings.ReplaceAll(hostile, "\x00", "")[:60]
	h.act(hostileAgent, "r3", shell("ls"))
	h.uses("claude", 960, 16_000_000)
	h.uses("codex", 0, 5_000_000)
	page := vera.get("/system/limits")
	clean(t, "limits", page)
	for label, want := range map[string][3]string{
		"team.calls for agent claude":     {"100", "8 of 8 actions, 100 %", "step-stop"},
		"team.calls for agent codex":      {"12", "1 of 8 actions, 12 %", "step-free"},
		"team.tokens for agent claude":    {"96", "960 of 1,000 tokens, 96 %", "step-degrade"},
		"team.day for everything":         {"100", "21.00 USD of 20.00 USD, 105 %", "step-stop"},
		"team.run for run claude r1":      {"0", "8 of 1,000 actions, 0 %", "step-free"},
		"team.calls for agent nobody":     {"", "", ""},
		"team.never for type claude":      {"", "", ""},
		"team.tokens for agent codex":     {"", "", ""},
		"team.calls for agent claude r1 ": {"", "", ""},
	} {
		if now, says, class := bar(page, label); [3]string{now, says, class} != want {
			t.Errorf("%s: %q %q %q, want %q", label, now, says, class, want)
		}
	}
	said := text(page.body)
	if strings.Index(said, "team.day") > strings.Index(said, "team.calls") || !strings.Contains(said, "stop: everything is denied") ||
		!strings.Contains(said, "degrade: changes are denied") {
		t.Errorf("the fullest is not first, or its step is not told:\n%s", said)
	}
	for _, path := range []string{"/system", "/agents/timeline?on=agent:claude", "/system/limits?on=agent:claude"} {
		page := vera.get(path)
		clean(t, path, page)
		if now, _, _ := bar(page, "team.tokens for agent claude"); now != "96" {
			t.Errorf("%s has no bar: %d %q\n%s", path, page.status, now, text(page.body))
		}
	}
	one := vera.get("/system/limits?on=agent:codex")
	if now, says, _ := bar(one, "team.tokens for agent codex"); now != "0" || says != "0 of 1,000 tokens, 0 %" {
		t.Errorf("what codex has left to use: %q %q", now, says)
	}
	if _, says, _ := bar(vera.get("/system/limits?on="+url.QueryEscape("run:r1")), "team.run for run r1"); says != "" {
		t.Errorf("a run that only its agent names is found without its agent: %q", says)
	}
	h.want("nobody named", vera.get("/system/limits?on=claude"), http.StatusBadRequest, "such as agent:builder")
	h.want("a full limit", page, http.StatusOK, "no room: more is denied, room again")
}
