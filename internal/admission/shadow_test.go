package admission_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/ruleset"
	"interlock/rules"
	"interlock/test/wait"
)

// candidates makes rulesets of documents as the program does.
func candidates(c *admission.Config) {
	c.Candidate = func(documents map[string][]byte) (*ruleset.Ruleset, error) {
		return ruleset.LoadShipped(rules.Defaults(), rules.Sums(), documents)
	}
}

const noTouching = "rules: [{id: team.touch, layer: 3, verdict: deny, reason: no touching, match: {glob: [\"touch *\"]}}]"

// begin has documents decide in the shadow.
func (h *house) begin(text string) ledger.CandidateBody {
	h.t.Helper()
	body, err := h.BeginShadow(h.t.Context(), map[string][]byte{"team.yaml": []byte(text)}, h.now.Add(time.Hour))
	if err != nil {
		h.t.Fatal(err)
	}
	return body
}

// counted waits until a candidate has decided so much.
func (h *house) counted(candidate interlock.Digest, decisions int) (body ledger.ShadowBody) {
	h.t.Helper()
	wait.Until(h.t, "a candidate has decided", func() bool {
		var err error
		if body, err = h.Shadow(h.t.Context(), candidate); err != nil {
			h.t.Fatal(err)
		}
		return body.Decisions >= decisions
	})
	return body
}

// TestShadowAnswersNobody: what a candidate denies is allowed as before and stands nowhere in the log; how it parted is counted by
// agent and rule, with where to look, and with what it calls production being analysed anew.
func TestShadowAnswersNobody(t *testing.T) {
	before := newHouse(t).propose("touch a") // elsewhere: clocks stand still here, and what came before begins at the same time
	h := newHouse(t, candidates, keeping)
	body := h.begin(noTouching + "\nproduction: [\"acme-live\"]")
	at := len(h.entries())
	first := h.propose("touch b")
	h.propose("ls")
	h.propose("kubectl --context acme-live delete pod web-1")
	if before.Answer != interlock.Allow || first.Answer != interlock.Allow {
		t.Errorf("answered %v and then %v", before.Answer, first.Answer)
	}
	got := h.counted(body.Ruleset, 3)
	if got.Decisions != 3 || got.Dropped+got.Failed+got.Others != 0 || len(got.Parted) == 0 {
		t.Fatalf("%+v", got)
	}
	touch := ledger.Parted{}
	for _, p := range got.Parted {
		if p.Rule == "team.touch" {
			touch = p
		}
	}
	if touch.Agent != "claude" || touch.Was != interlock.Allow || touch.Now != interlock.Deny || touch.Count != 1 ||
		len(touch.Examples) != 1 || touch.Examples[0].Event != first.Event || touch.Examples[0].Reason != "no touching: touch b" {
		t.Errorf("%+v", touch)
	}
	if types := h.entries(); len(types) != at+3 {
		t.Errorf("%d events came of three decisions: %v", len(types)-at, types[at:])
	}
	for _, e := range h.entries()[at:] {
		if e == interlock.EventBlock {
			t.Errorf("the shadow stands in the log")
		}
	}
	if _, err := h.EndShadow(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.propose("touch c")
	if err := h.Close(); err != nil { // what waits is decided before it returns
		t.Fatal(err)
	}
	if now := h.counted(body.Ruleset, 0); now.Decisions != 3 {
		t.Errorf("after its end it decided on: %+v", now)
	}
}

// TestShadowSurvives: a candidate goes on in the next process, until its time is over.
func TestShadowSurvives(t *testing.T) {
	h := newHouse(t, candidates)
	body := h.begin(noTouching)
	for n, edit := range []func(*admission.Config){candidates,
		func(c *admission.Config) { candidates(c); c.Brief = true }, candidates} {
		next := newHouse(t, edit, func(c *admission.Config) { c.Store = kept{h.store} })
		next.now = h.now.Add(time.Duration(n) * 31 * time.Minute)
		next.propose("touch a")
		if err := next.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := h.counted(body.Ruleset, 2); got.Decisions != 2 || len(got.Parted) != 1 || got.Parted[0].Count != 2 {
		t.Errorf("two of three processes decided in its time: %+v", got)
	}
}

// kept is a store that outlives who closes it.
type kept struct{ admission.Store }

func (kept) Close() error { return nil }

// keeping has the store outlive the process that decides.
func keeping(c *admission.Config) { c.Store = kept{c.Store} }

// slow is a store whose notes take a while, or fail.
type slow struct {
	admission.Store
	hold chan struct{}
	held chan struct{} // closed when it stands still
	once sync.Once
}

func (s *slow) Note(ctx context.Context, row ledger.Ref, change func(any) (any, error)) error {
	s.once.Do(func() {
		close(s.held)
		<-s.hold
	})
	return s.Store.Note(ctx, row, change)
}

func (*slow) Close() error { return nil }

// TestShadowHoldsNobodyUp: while what it counted can't be noted, decisions go on as before; those there is no room for are left
// out, and counted.
func TestShadowHoldsNobodyUp(t *testing.T) {
	s := &slow{hold: make(chan struct{}), held: make(chan struct{})}
	h := newHouse(t, candidates, func(c *admission.Config) { s.Store, c.Store = c.Store, s })
	body := h.begin(noTouching)
	h.propose("touch first")
	<-s.held // it is noting what it has counted now, and stands still
	const more = 300
	for range more {
		if a := h.propose("touch a"); a.Answer != interlock.Allow {
			t.Fatalf("%+v", a)
		}
	}
	close(s.hold)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	rows, _, err := h.store.Load(t.Context(), ledger.Ref{Kind: ledger.Shadow, Key: string(body.Ruleset)})
	if err != nil || len(rows) != 1 {
		t.Fatal(err, len(rows))
	}
	got := rows[0].Value.(ledger.ShadowBody)
	if got.Dropped == 0 || got.Decisions+got.Dropped != more+1 {
		t.Errorf("%d decided and %d left out of %d", got.Decisions, got.Dropped, more+1)
	}
}

// TestPromote: only an admin's signature over exactly this candidate and these rules in force puts it there, and only what
// denies no less.
func TestPromote(t *testing.T) {
	documents := map[string][]byte{"team.yaml": []byte("rules: [{id: team.ls, layer: 3, verdict: deny, reason: r, match: {glob: [\"ls *\"]}}]")}
	h := newHouse(t, candidates, func(c *admission.Config) {
		set, err := c.Candidate(documents)
		if err != nil {
			t.Fatal(err)
		}
		c.Rules = set
	})
	h.operator("adam", "admin")
	h.operator("olga", "operator")
	body := h.begin(noTouching) // without what denies ls
	order := func(edit ...func(*interlock.Order)) interlock.Order {
		o := interlock.Order{ID: "ord_1", Verb: interlock.VerbPromoteRules, Subject: string(body.Ruleset), Detail: string(h.Rules().Digest()),
			Reason: "watched it", Operator: "adam", At: h.now, Expires: h.now.Add(5 * time.Minute), Method: interlock.MethodSSH,
			Key: "fingerprint of s", Signature: "s"}
		for _, e := range edit {
			e(&o)
		}
		o.Statement = quorum.OrderStatement(o)
		return o
	}
	refused := func(what string, o interlock.Order, want string) {
		t.Helper()
		_, _, err := h.PromoteRules(t.Context(), o)
		var e *interlock.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
		if c, _, err := h.Candidate(t.Context()); err != nil || c.Ruleset != body.Ruleset {
			t.Errorf("%s: the candidate is %q now, %v", what, c.Ruleset, err)
		}
	}
	refused("what denies less", order(), "denies less than the rules in force (rule team.ls)")
	body = h.begin(noTouching + "\npolicy: {deny: [\"frobnicate *\"]}")
	refused("without ls still", order(), "denies less")
	text := string(documents["team.yaml"])
	text = strings.TrimSuffix(text, "]") + ", {id: team.touch, layer: 3, verdict: deny, reason: no touching, match: {glob: [\"touch *\"]}}]"
	former := string(body.Ruleset)
	body = h.begin(text)
	refused("another candidate than was looked at", order(func(o *interlock.Order) { o.Subject = former }), "another ruleset decides")
	refused("other rules in force", order(func(o *interlock.Order) { o.Detail = former }), "another ruleset is in force")
	refused("an operator", order(func(o *interlock.Order) { o.Operator = "olga" }), "admin role")
	refused("nobody", order(func(o *interlock.Order) { o.Operator = "claude" }), "no such operator")
	refused("without a reason", order(func(o *interlock.Order) { o.Reason = " " }), "say why")
	refused("another verb", order(func(o *interlock.Order) { o.Verb = interlock.VerbPromote }), "promote-rules")
	unsigned := order()
	unsigned.Statement, unsigned.Signature = "", ""
	refused("unsigned", unsigned, "signed statement")
	h.verify = errors.New("no")
	refused("forged", order(), "does not verify")
	h.verify = nil
	done, receipt, err := h.PromoteRules(t.Context(), order())
	if err != nil || done.Ruleset != body.Ruleset || done.Documents["team.yaml"] != text {
		t.Fatalf("%+v, %v", done, err)
	}
	if types := h.entries(); types[receipt.First] != interlock.EventPromotion {
		t.Errorf("%v", types[receipt.First])
	}
	if _, _, err := h.PromoteRules(t.Context(), order()); err == nil {
		t.Error("the same order counted twice")
	}
}

// TestChangedCandidate: a candidate whose rules were changed in the store, or are others under this program, neither decides nor is
// put into force.
func TestChangedCandidate(t *testing.T) {
	h := newHouse(t, candidates, keeping)
	h.operator("adam", "admin")
	body := h.begin(noTouching)
	changed := body
	changed.Documents = map[string]string{"team.yaml": "policy: {deny: [\"something else\"]}"}
	h.replace(changed)
	o := interlock.Order{ID: "ord_1", Verb: interlock.VerbPromoteRules, Subject: string(body.Ruleset), Detail: string(h.Rules().Digest()),
		Reason: "watched it", Operator: "adam", At: h.now, Expires: h.now.Add(5 * time.Minute), Method: interlock.MethodSSH,
		Key: "fingerprint of s", Signature: "s"}
	o.Statement = quorum.OrderStatement(o)
	if _, _, err := h.PromoteRules(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another ruleset than it was") {
		t.Errorf("%v", err)
	}
	renamed := body
	renamed.Documents = map[string]string{"team.txt": noTouching} // the same digest, and no rules where only YAML is read
	h.replace(renamed)
	if _, _, err := h.PromoteRules(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no name of a file of rules") {
		t.Errorf("%v", err)
	}
	h.propose("touch a")
	for what, documents := range map[string]map[string][]byte{"nothing": nil, "garbage": {"a.yaml": []byte("rules: 7")},
		"too much": {"a.yaml": []byte("policy: {deny: [\"" + strings.Repeat("x", 2<<20) + "\"]}")}} {
		if _, err := h.BeginShadow(t.Context(), documents, h.now.Add(time.Hour)); err == nil {
			t.Errorf("%s decides in the shadow", what)
		}
	}
	for _, until := range []time.Time{h.now, h.now.Add(91 * 24 * time.Hour)} {
		if _, err := h.BeginShadow(t.Context(), map[string][]byte{"a.yaml": []byte(noTouching)}, until); err == nil {
			t.Errorf("until %v", until)
		}
	}
	if err := h.Close(); err != nil { // what waits is decided before it returns
		t.Fatal(err)
	}
	if got := h.counted(body.Ruleset, 0); got.Decisions != 0 {
		t.Errorf("it decided: %+v", got)
	}
}

// replace puts another candidate into the store, as whoever can write its file does.
func (h *house) replace(body ledger.CandidateBody) {
	h.t.Helper()
	_, err := h.store.Commit(h.t.Context(), ledger.Change{Events: []ledger.Draft{{Type: interlock.EventAlert, Run: "r", Seed: "s",
		Actor: "a", Role: "system", Recorded: h.now, Payload: []byte("{}")}},
		Writes: []ledger.Row{{Kind: ledger.Candidate, Key: ledger.CandidateKey, Value: body}}})
	if err != nil {
		h.t.Fatal(err)
	}
}
