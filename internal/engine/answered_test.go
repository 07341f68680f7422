package engine

import (
	"slices"
	"testing"
	"time"

	"interlock"
)

// granting is an action with a standing yes to its command, as an agent of the team's proposes it.
func granting(t *testing.T, command string, words ...string) question {
	t.Helper()
	snapshot := interlock.Snapshot{Version: 1, Mode: interlock.Enforcing, Profile: "guard", Attended: true,
		Agent: interlock.AgentRecord{ID: "claude", Principal: "pat"}, View: interlock.View{Home: "/home/dev", Workspace: "/repo"},
		Grants: []interlock.Grant{{ID: "grt_1", Agent: "claude", Principal: "pat", Kind: interlock.KindShell, Rules: []string{"t.ask", "t.deny"},
			Created: noon.Add(-time.Hour), Expires: noon.Add(time.Hour), Scope: &interlock.Scope{Dir: "/repo", Words: words}}}}
	q := question{rules: teamRules(t), snapshot: snapshot, now: noon,
		action: interlock.Action{Kind: interlock.KindShell, Input: command, Dir: "/repo"}}
	q.analysis = analyser(t).Analyse(snapshot.View, q.action)
	return q
}

// TestAGrantAnswersOnlyAQuestion: a standing yes is used where something is asked, verdicts are enforced and nobody has answered yet.
// Where it isn't needed it is not used up.
func TestAGrantAnswersOnlyAQuestion(t *testing.T) {
	asked := granting(t, "touch a", "touch", "a")
	for name, test := range map[string]struct {
		q      question
		edit   func(*question)
		answer interlock.Verdict
		grant  string
	}{
		"asked":          {asked, func(*question) {}, interlock.Allow, "grt_1"},
		"nobody is here": {asked, func(q *question) { q.snapshot.Attended = false }, interlock.Allow, "grt_1"},
		"only watched":   {asked, func(q *question) { q.snapshot.Mode = interlock.Monitoring }, interlock.Allow, ""},
		"answered": {asked, func(q *question) {
			r := approvalFor(*q)
			r.ID, r.Expires, r.Approval = "apr_1", noon.Add(time.Hour), &interlock.Approval{Request: "apr_1", Verdict: interlock.Allow}
			q.approvals = []interlock.ApprovalRequest{r}
		}, interlock.Allow, ""},
		"allowed": {granting(t, "ls", "ls"), func(*question) {}, interlock.Allow, ""},
		"denied":  {granting(t, "touch --hard a", "touch", "--hard", "a"), func(*question) {}, interlock.Deny, ""},
	} {
		q := test.q
		test.edit(&q)
		d := q.decide()
		if d.Answer != test.answer || d.Grant != test.grant || (name == "answered") != (d.Approval == "apr_1") {
			t.Errorf("%s: %v, answered %v by grant %q and approval %q", name, d.Verdict, d.Answer, d.Grant, d.Approval)
		}
	}
}

// TestAFindingOfNoLayerIsOfTheFirst: what comes from outside with a layer that there is not is taken for the strictest.
func TestAFindingOfNoLayerIsOfTheFirst(t *testing.T) {
	for layer, want := range map[int]int{-1: 1, 0: 1, 1: 1, 2: 2, 4: 4, 5: 1} {
		q := granting(t, "ls", "ls")
		q.findings = []interlock.Finding{{Gate: "judge", Rule: "j", Layer: layer, Verdict: interlock.Deny, Reason: "x"}}
		if d := q.decide(); len(d.Findings) != 1 || d.Findings[0].Layer != want {
			t.Errorf("layer %d became %+v", layer, d.Findings)
		}
	}
}

// TestAnOrderForAPlaceIsAboutWhereTextsRun: a finding about a text, and no impact of it, lies where the action is run.
func TestAnOrderForAPlaceIsAboutWhereTextsRun(t *testing.T) {
	for dir, silenced := range map[string]bool{"/repo": true, "/repo/sub": true, "/elsewhere": false, "": false} {
		q := granting(t, "touch --text /repo/a")
		q.snapshot.Suppressions, q.action.Dir = []interlock.Suppression{order("t.text")}, dir
		q.analysis = analyser(t).Analyse(q.snapshot.View, q.action)
		asks := slices.ContainsFunc(q.decide().Findings, func(f interlock.Finding) bool {
			return f.Rule == "t.text" && f.Verdict == interlock.Ask
		})
		if asks == silenced {
			t.Errorf("in %q the rule asks: %v", dir, asks)
		}
	}
}
