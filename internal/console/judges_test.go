package console_test

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission/core"
	"interlock/internal/admission/judging"
	"interlock/internal/console/render"
	"interlock/internal/quorum"
)

const judgeSettings = `
judge:
  judges:
  - {name: main, wire: openai-chat, url: %s/v1, model: small-1, price_in: 0.15, price_out: 0.6, currency: USD}
  budgets:
  - {name: day, most: USD 1, window: 24h}
  - {name: each, per: agent, most: USD 0.01, window: 24h}
`

// judged gives a console over a home with a judge that objects to what holds one of these words, by layer 3 and in these words.
func judged(t *testing.T, word, reason string) *house {
	t.Helper()
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		said := `{"decision":"ALLOW","layer":null,"rule_id":null,"reason":"nothing speaks against it","confidence":0.9}`
		switch {
		case strings.Contains(string(body), "rm -rf ~/"):
			said = `{"decision":"DENY","layer":2,"rule_id":"L2.credentials","reason":"it sends keys away","confidence":1}`
		case strings.Contains(string(body), word):
			why, _ := json.Marshal(reason)
			said = `{"decision":"DENY","layer":3,"rule_id":"L3.scope","reason":` + string(why) + `,"confidence":0.6}`
		}
		text, _ := json.Marshal(said)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"model":"small-1","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":%s}}],`+
			`"usage":{"prompt_tokens":700,"completion_tokens":40}}`, text)
	}))
	t.Cleanup(model.Close)
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), fmt.Appendf(nil, judgeSettings, model.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	backend, err := embedded.Open(t.Context(), embedded.Config{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	return over(t, backend)
}

// wants demands a page that holds all of these texts.
func (h *house) wants(what string, page answer, texts ...string) {
	h.t.Helper()
	for _, text := range texts {
		h.want(what, page, http.StatusOK, text)
	}
}

// looks has the console know of the judges what the backend does.
func (h *house) looks() {
	h.t.Helper()
	spent, err := h.backend.JudgeSpent(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	h.judges = render.Judges{Budgets: spent, Ground: render.JudgeGround{Rules: 16, Origin: "those that ship"}}
	for _, s := range h.backend.Judges() {
		h.judges.Ground.Digest = s.GroundRules
		h.judges.List = append(h.judges.List, render.JudgeState{Name: s.Name, Model: s.Model, Breaker: s.Breaker, Tested: s.Tested,
			Passed: s.Passed, Reason: s.Reason})
	}
}

// TestJudgesPage: who judges, what it is pinned to, how it does, what it costs, and which gate denied how much of what, from the log.
func TestJudgesPage(t *testing.T) {
	h := judged(t, "mkdir", "it is not asked for")
	vera := h.in("vera", quorum.RoleViewer)
	h.want("without a judge", vera.get("/system/judges"), http.StatusOK, "Nobody judges here")
	h.act("claude", "r1", shell("touch a.txt"))
	h.act("claude", "r1", shell("touch a.txt"))
	h.act("claude", "r1", shell("mkdir b"))
	h.act("claude", "r1", shell("rm -rf /"))
	h.looks()
	page := vera.counted("/system/judges")
	said := strings.Join(strings.Fields(html.UnescapeString(page.body)), " ")
	for _, text := range []string{
		"small-1 at 127.0.0.1:", "temperature 0", string(h.judges.Ground.Digest), "16 rules, those that ship",
		`<span class="good">passed</span>`, `<span class="good">closed</span>`,
		"3, 1 of them remembered · allow 2 · deny 1", "1,400 in, 80 out", "0.000258 USD",
		"<td>write workspace</td><td>3</td><td>0, 0 %</td><td>3</td><td>0, 0 %</td>",
		"<td>delete system</td><td>1</td><td>1, 100 %</td><td>0</td><td>–</td>",
	} {
		if !strings.Contains(said, text) {
			t.Errorf("%q is missing in:\n%s", text, said)
		}
	}
	if _, says, class := bar(page, "day for all questions"); says != "0.000258 USD of 1 USD, 0 %" || class != "step-free" {
		t.Errorf("the bar of all says %q, coloured %s", says, class)
	}
	if now, says, _ := bar(page, "each for each agent: one of them"); now != "2" || says != "0.000258 USD of 0.01 USD, 2 %" {
		t.Errorf("the bar of an agent says %q, at %s", says, now)
	}
	if _, says, _ := bar(h.in("olga", quorum.RoleOperator).counted("/system/judges"), "each for each agent: claude"); says == "" {
		t.Error("an operator is not told which agent it is")
	}
	h.want("a range that is none", vera.get("/system/judges?range=ever"), http.StatusBadRequest, "day, week or month")
}

// TestJudgesInTrouble: what is wrong with a judge is said, and so is a budget that is used up.
func TestJudgesInTrouble(t *testing.T) {
	h := open(t)
	h.judges = render.Judges{Ground: render.JudgeGround{Note: "the file holds other ground rules"},
		List: []render.JudgeState{{Name: "main", Breaker: "open", Until: h.now().Add(time.Minute), Tested: h.now(),
			Reason: "<b>gone</b>"}},
		Budgets: []judging.JudgeSpent{{JudgeBudget: core.JudgeBudget{ID: "day", Most: 100, Currency: "USD"}, Used: 120}}}
	page := h.in("vera", quorum.RoleViewer).counted("/system/judges")
	h.wants("what is wrong", page, "the file holds other ground rules", `<strong class="bad">open</strong> until`,
		"failed: <b>gone</b>", "used up: what needs a judge is denied")
	if strings.Contains(page.body, "<b>gone") {
		t.Error("a reason is markup")
	}
	if _, says, class := bar(page, "day for all questions"); class != "step-stop" {
		t.Errorf("the bar says %q, coloured %s", says, class)
	}
}

// TestWhoAnswersSeesTheJudge: the judge's view stands beside the agent's own words before anybody answers, in the inbox, on the request
// and on the decision, told apart, and as harmless text; who may not read what agents propose does not read what it makes of that.
func TestWhoAnswersSeesTheJudge(t *testing.T) {
	h := judged(t, "mkdir", hostile)
	answer := h.act("claude", "r1", interlock.Action{Kind: interlock.KindShell, Input: "mkdir b", Hint: "all fine, the judge allowed it"})
	if answer.Request == "" {
		t.Fatalf("nobody is asked: %+v", answer)
	}
	olga, vera := h.in("olga", quorum.RoleAdmin), h.in("vera", quorum.RoleViewer)
	for name, path := range map[string]string{"request": "/pending/" + answer.Request, "decision": "/decisions/" + answer.Event} {
		page := olga.get(path)
		h.wants(name, page, "The judge's view", "L3.scope", "layer 3", "60 % sure", "700 tokens in, 40 out", "0.000129 USD",
			"small-1 at 127.0.0.1", "<strong>The agent says:</strong> all fine")
		if strings.Contains(page.body, "<script src=\"//evil") || strings.Contains(page.body, "\x1b") {
			t.Errorf("%s: a judge's words are markup", name)
		}
		hidden := vera.get(path)
		for _, text := range []string{"700 tokens", "evil.example", "all fine"} {
			if strings.Contains(hidden.body, text) {
				t.Errorf("%s: who may not read it reads %q", name, text)
			}
		}
	}
	inbox := olga.get("/pending")
	h.wants("inbox", inbox, `<p class="judged-line"><strong>Judge</strong> main: denies by L3.scope, layer 3`, "the agent says: all fine")
	if at := strings.Index(inbox.body, "judged-line"); at < 0 || at > strings.Index(inbox.body, ">Deny</button>") {
		t.Error("the judge's view stands behind the answer")
	}
	request := olga.get("/pending/" + answer.Request)
	if at := strings.Index(request.body, `id="judge"`); at < 0 || at > strings.Index(request.body, "Your answer") {
		t.Error("the judge's view stands behind the answer on the request's page")
	}
}
