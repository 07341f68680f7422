package sqlite_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/meter"
	"interlock/internal/phase"
	"interlock/internal/store/sqlite"
	"interlock/internal/store/storagetest"
)

// governed makes a store in which something of every kind that is proved stands, some of it in a second version.
func governed(t *testing.T) (path string) {
	t.Helper()
	path = newPath(t)
	s := open(t, path)
	defer s.Close()
	bot := interlock.Requester{Agent: "bot", Principal: "ann"}
	pending := *storagetest.Request("pending")
	pending.Requester = bot
	answered := *storagetest.Request("answered")
	answered.Requester = bot
	commit := func(values ...any) {
		t.Helper()
		c := storagetest.Decision("setup")
		c.Writes = ledger.Rows(values...)
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	commit(pending, answered, interlock.AgentRecord{ID: "bot", Principal: "ann"}, interlock.OperatorRecord{Name: "olga", Role: "viewer"},
		interlock.Suppression{ID: "sup", Rule: "x"}, interlock.Challenge{ID: "block", Requester: bot, Kind: interlock.ChallengeBlock},
		ledger.AttemptsBody{Agent: "bot", Principal: "ann", Attempts: meter.Attempts{Failed: []time.Time{storagetest.Now}}},
		interlock.Pin{Server: "files", Tool: "read", Status: interlock.PinQuarantined, Seen: "sha256:01"},
		interlock.Grant{ID: "grant", Agent: "bot", Principal: "ann", Times: 2, Left: 2, Expires: storagetest.Now.Add(time.Hour)},
		ledger.CarriedBody{Name: ledger.CarriedKey("s"), Order: "o"}, ledger.CounterBody{Name: "n", Left: 3},
		ledger.BreakerBody{Name: "agent:bot", Cycles: []time.Time{storagetest.Now}}, held("agent", "bot"), held("type", "worker"),
		held("run", "r"), held("system", "all"), ledger.HoldBody{Scope: ledger.HoldBreaker, Key: "agent:bot", Since: storagetest.Now},
		interlock.Run{ID: "r", Agent: "bot", Orchestration: "r", Created: storagetest.Now, Until: storagetest.Now},
		ledger.CheckpointBody{RunKept: interlock.RunKept{Run: "r", Number: 1, At: storagetest.Now}, Agent: "bot"},
		ledger.HoldBody{Scope: ledger.HoldBackup, Key: "agent:bot", Since: storagetest.Now, Hold: phase.Hold{
			Backup: &phase.Backup{For: "other"}, Heals: storagetest.Now}},
		ledger.RunCountBody{Name: ledger.AgentTally("bot"), Seq: 1}, ledger.RollbackBody{ID: "rb", Open: 1},
		ledger.RollbackStepBody{Rollback: "rb", N: 1, Status: ledger.StepOpen}, ledger.MessageBody{Message: interlock.Message{ID: "m",
			From: "bot", To: "bat"}},
		ledger.OwedBody{Event: "e", At: storagetest.Now}, ledger.FirstUseBody{Type: "clerk", Use: "tool refund", Yes: storagetest.Now},
		ledger.CommitmentBody{Name: "cmt_1", Rule: "x", At: storagetest.Now},
		interlock.Plan{ID: "pln_1", Agent: "bot", Run: "r", Created: storagetest.Now}, ledger.BaselineBody{Name: "bas_1", At: storagetest.Now},
		interlock.ActionRequest{ID: "act_1", Status: interlock.ActionPending, Created: storagetest.Now, Expires: storagetest.Now})
	c := storagetest.Decision("setup")
	c.Writes = append(ledger.Settings(map[string]string{"mode": "enforcing"}), ledger.Row{Kind: ledger.Candidate,
		Key: ledger.CandidateKey, Value: ledger.CandidateBody{Name: ledger.CandidateKey, Ruleset: "sha256:02"}},
		(&ledger.HoldBody{Scope: ledger.HoldRuleset, Key: "sha256:02", Since: storagetest.Now}).Row(), ledger.Row{Kind: ledger.Definition,
			Key: ledger.DefinitionOf("files", "read", "sha256:01").Key, Body: []byte(`{"a":1}`)})
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	db := raw(t, path)
	must(t, db, "CREATE TABLE old AS SELECT * FROM rows", "CREATE TABLE oldtags AS SELECT * FROM proofs",
		"CREATE TABLE oldhead AS SELECT * FROM head")
	commit(answered.Answered(*storagetest.Yes("answered")), interlock.AgentRecord{ID: "bot", Principal: "ann", Revoked: storagetest.Now},
		interlock.OperatorRecord{Name: "olga", Role: "viewer", Revoked: storagetest.Now},
		interlock.Pin{Server: "files", Tool: "read", Status: interlock.PinQuarantined, Seen: "sha256:03"},
		ledger.AttemptsBody{Agent: "bot", Principal: "ann",
			Attempts: meter.Attempts{Failed: []time.Time{storagetest.Now, storagetest.Now}}},
		ledger.RunCountBody{Name: ledger.AgentTally("bot"), Seq: 2, Open: 1, Delegated: 1})
	return path
}

// putBack gives a row of such a store its first version again.
func putBack(t *testing.T, path, kind, key string) {
	t.Helper()
	result, err := raw(t, path).Exec("UPDATE rows SET (body, version, owner, proof) = "+
		"(SELECT body, version, owner, proof FROM old o WHERE o.id = rows.id) "+
		"WHERE kind = ? AND key = ?", kind, key)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		t.Fatal(n, err)
	}
}

// held is a hold on somebody who acts.
func held(scope ledger.HoldScope, key string) ledger.HoldBody {
	return ledger.HoldBody{Scope: scope, Key: key, Since: storagetest.Now, Hold: phase.Hold{Phase: phase.Emergency}}
}

// decided is what decisions about bot, and orders of olga, load.
func decided() []ledger.Ref {
	of := ledger.Of("bot", "ann")
	return []ledger.Ref{{Kind: ledger.Agent, Key: "bot"}, {Kind: ledger.Operator, Key: "olga"}, {Kind: ledger.Operator, Key: "ghost"},
		{Kind: ledger.Operator, Mark: ledger.All}, {Kind: ledger.Hold, Key: ledger.HoldName(ledger.HoldRuleset, "sha256:02")},
		{Kind: ledger.Hold, Mark: ledger.OverAll}, {Kind: ledger.Hold, Mark: ledger.Over(ledger.HoldAgent, "bot")},
		{Kind: ledger.Hold, Mark: ledger.Over(ledger.HoldType, "worker")}, {Kind: ledger.Hold, Mark: ledger.Over(ledger.HoldRun, "r")},
		{Kind: ledger.Breaker, Key: "agent:bot"},
		{Kind: ledger.Request, Mark: of}, {Kind: ledger.Order, Mark: of}, {Kind: ledger.Order, Mark: ledger.Ordered(interlock.VerbSuppress)},
		{Kind: ledger.Challenge, Mark: ledger.Of("bot")}, {Kind: ledger.Attempts, Key: ledger.AttemptsKey("bot", "ann")},
		{Kind: ledger.Pin, Key: ledger.PinKey("files", "read")}, {Kind: ledger.Setting, Mark: ledger.All},
		{Kind: ledger.Candidate, Key: ledger.CandidateKey}, {Kind: ledger.Carried, Key: ledger.CarriedKey("s")},
		{Kind: ledger.Run, Key: ledger.RunKey("bot", "r")}, {Kind: ledger.Checkpoint, Key: ledger.RunKey("bot", "r")},
		{Kind: ledger.RunCount, Key: ledger.AgentTally("bot")},
		{Kind: ledger.Message, Key: "m"}, {Kind: ledger.Rollback, Key: "rb"}, {Kind: ledger.RollbackStep, Key: ledger.RollbackStepKey("rb", 1)},
		{Kind: ledger.Rollback, Mark: ledger.RollbackNamed("rb")}, {Kind: ledger.RollbackStep, Mark: ledger.RollbackSteps("rb")},
		{Kind: ledger.FirstUse, Key: ledger.FirstUseKey("clerk", "tool refund")}, {Kind: ledger.Owed, Key: "e"},
		{Kind: ledger.Plan, Key: ledger.RunKey("bot", "r")}, {Kind: ledger.Commitment, Key: "cmt_1"}, {Kind: ledger.Baseline, Key: "bas_1"},
		{Kind: ledger.ActionRequest, Key: "act_1"},
		{Kind: ledger.Counter, Key: "n"}, ledger.DefinitionOf("files", "read", "sha256:01"),
		{Kind: ledger.Request, Key: "answered"}, {Kind: ledger.Request, Key: "pending"}}
}

// loaded is what each ref gives, by itself: rows, or that they are not believed.
func loaded(t *testing.T, s *sqlite.Store) map[ledger.Ref]string {
	t.Helper()
	got := map[ledger.Ref]string{}
	for _, ref := range decided() {
		rows, _, err := s.Load(t.Context(), ref)
		tampered := (*ledger.Tampered)(nil)
		switch {
		case errors.As(err, &tampered):
			got[ref] = "tampered"
			if !strings.Contains(err.Error(), "audit verify") {
				t.Errorf("the error does not say what to do: %v", err)
			}
		case err != nil:
			t.Fatalf("%+v: %v", ref, err)
		}
		for _, r := range rows {
			got[ref] += string(r.Body) + "\n"
		}
	}
	return got
}

// TestEditsOfWhatStands: whatever somebody with the file and an SQL shell does to what stands, it is as it was to decisions, or it is
// refused; the check names it, and whoever runs the store is told.
func TestEditsOfWhatStands(t *testing.T) {
	keys := map[string]string{ledger.Agent: "bot", ledger.Operator: "olga", ledger.Request: "answered", ledger.Order: "grant",
		ledger.Challenge: "block", ledger.Attempts: ledger.AttemptsKey("bot", "ann"), ledger.Pin: ledger.PinKey("files", "read"),
		ledger.Setting: "mode", ledger.Candidate: ledger.CandidateKey, ledger.Carried: ledger.CarriedKey("s"),
		ledger.Hold: ledger.HoldName(ledger.HoldRuleset, "sha256:02"), ledger.Counter: "n", ledger.Breaker: "agent:bot",
		ledger.Run: ledger.RunKey("bot", "r"), ledger.Checkpoint: ledger.RunKey("bot", "r"), ledger.RunCount: ledger.AgentTally("bot"),
		ledger.Rollback: "rb", ledger.RollbackStep: ledger.RollbackStepKey("rb", 1), ledger.Message: "m",
		ledger.FirstUse: ledger.FirstUseKey("clerk", "tool refund"), ledger.Owed: "e",
		ledger.Plan: ledger.RunKey("bot", "r"), ledger.Commitment: "cmt_1", ledger.Baseline: "bas_1",
		ledger.ActionRequest: "act_1",
		ledger.Definition:    ledger.DefinitionOf("files", "read", "sha256:01").Key}
	book := ledger.NewBook()
	for _, kind := range ledger.Kinds() {
		if book.Proved(kind.Name) != (keys[kind.Name] != "") {
			t.Errorf("the test does not know whether %s is proved", kind.Name)
		}
	}
	second := map[string]bool{ledger.Agent: true, ledger.Operator: true, ledger.Request: true, ledger.Attempts: true, ledger.Pin: true,
		ledger.RunCount: true}
	edited := [][2]string{{ledger.Hold, "agent:bot"}, {ledger.Hold, "breaker:agent:bot"}, {ledger.Hold, "backup:agent:bot"},
		{ledger.Hold, "type:worker"}, {ledger.Hold, "run:r"},
		{ledger.Hold, "system:all"}}
	for kind, key := range keys {
		edited = append(edited, [2]string{kind, key})
	}
	fresh := copies(t, governed(t))
	unedited := open(t, fresh())
	before := loaded(t, unedited)
	unedited.Close()
	for ref, text := range before {
		if text == "tampered" || text == "" && ref.Key != "ghost" {
			t.Fatalf("before: %+v is %q", ref, text)
		}
	}
	for _, one := range edited {
		kind, key := one[0], one[1]
		if testing.Short() && kind != ledger.Operator && kind != ledger.Request {
			continue // the race detector learns nothing from the others
		}
		where := "WHERE kind = '" + kind + "' AND CAST(key AS BLOB) = CAST('" + strings.ReplaceAll(key, "\x00", "' || x'00' || '") + "' AS BLOB)"
		if strings.Contains(key, "\x00") {
			where = "WHERE kind = '" + kind + "'"
		}
		for name, edit := range map[string][]string{
			"change":                   {"UPDATE rows SET body = CAST(replace(CAST(body AS TEXT), '{', '{ ') AS BLOB) " + where},
			"change proof":             {"UPDATE rows SET proof = zeroblob(16) " + where},
			"change owner":             {"UPDATE rows SET owner = owner + 1 " + where},
			"hide":                     {"UPDATE rows SET owner = NULL " + where},
			"empty":                    {"UPDATE rows SET body = NULL " + where},
			"delete":                   {"DELETE FROM rows " + where},
			"delete whole":             {"DELETE FROM marks WHERE row = (SELECT id FROM rows " + where + ")", "DELETE FROM rows " + where},
			"put back":                 nil,
			"put back with the proofs": {"UPDATE proofs SET tags = (SELECT tags FROM oldtags)"},
			"put back with the head": {"UPDATE proofs SET tags = (SELECT tags FROM oldtags)",
				"UPDATE head SET (tag, passing, sums) = (SELECT tag, passing, sums FROM oldhead)"},
			"forget the proofs": {"UPDATE proofs SET tags = zeroblob(8192)"},
			"lose the proofs":   {"DELETE FROM proofs"},
		} {
			if strings.HasPrefix(name, "put back") && !second[kind] {
				continue
			}
			t.Run(kind+" "+key+" "+name, func(t *testing.T) {
				path := fresh()
				if strings.HasPrefix(name, "put back") {
					putBack(t, path, kind, key)
				}
				must(t, raw(t, path), edit...)
				told := map[string]bool{}
				o := options(t)
				o.Noticed = func(w *ledger.Tampered) { told[w.Name()] = true }
				s, err := sqlite.Open(path, o)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				refused := 0
				for ref, text := range loaded(t, s) {
					if ref.Kind == ledger.Request && ref.Key != "" && text == "" {
						continue // by its id alone nobody knows whose it was; decisions ask for the agent's
					}
					if text != before[ref] && text != "tampered" {
						t.Errorf("%+v is %q, was %q", ref, text, before[ref])
					}
					if text == "tampered" {
						refused++
					}
				}
				if refused == 0 || len(told) == 0 {
					t.Errorf("%d refused, told %v", refused, told)
				}
				if named := checked(t, s); len(named) == 0 {
					t.Error("the check names nothing")
				}
			})
		}
	}
}

// checked is what the check names.
func checked(t *testing.T, s *sqlite.Store) (named []string) {
	t.Helper()
	err := s.CheckStanding(t.Context(), func(w *ledger.Tampered) error {
		named = append(named, w.Name())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return named
}

// TestRowsNobodyWrote: what somebody adds has no effect on anything, whatever stands beside it, and is named.
func TestRowsNobodyWrote(t *testing.T) {
	for name, statement := range map[string]string{
		"plain": "INSERT INTO rows (kind, key, version, body) " +
			"VALUES ('operator', 'ghost', 1, CAST('{\"name\":\"ghost\",\"role\":\"admin\"}' AS BLOB))",
		"with an owner": "INSERT INTO rows (kind, key, version, body, owner, proof) " +
			"SELECT 'operator', 'ghost', 1, CAST('{\"name\":\"ghost\"}' AS BLOB), owner, zeroblob(16) FROM rows WHERE key = 'olga'",
		"with another's proof": "INSERT INTO rows (kind, key, version, body, owner, proof) " +
			"SELECT 'operator', 'ghost', 1, CAST('{\"name\":\"ghost\"}' AS BLOB), owner, proof FROM rows WHERE key = 'olga'",
		"a second block's answer": "INSERT INTO rows (kind, key, version, body, owner, proof) " +
			"SELECT 'order', 'grant2', 1, CAST(replace(CAST(body AS TEXT), 'grant', 'grant2') AS BLOB), owner, proof " +
			"FROM rows WHERE key = 'grant'",
	} {
		t.Run(name, func(t *testing.T) {
			path := governed(t)
			s := open(t, path)
			before := loaded(t, s)
			s.Close()
			must(t, raw(t, path), statement)
			o := options(t)
			told := 0
			o.Noticed = func(*ledger.Tampered) { told++ }
			s, err := sqlite.Open(path, o)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for range 2 {
				if diff := cmp.Diff(before, loaded(t, s)); diff != "" {
					t.Errorf("(-before +after):\n%s", diff)
				}
			}
			if told != 1 && name != "plain" || told > 1 {
				t.Errorf("told %d times", told)
			}
			must(t, raw(t, path), "INSERT INTO marks (kind, mark, at, row) SELECT kind, 'all', 0, id FROM rows WHERE key IN ('ghost', 'grant2')")
			for _, kind := range []string{ledger.Operator, ledger.Order} { // on pages neither
				rows, _, err := s.Scan(t.Context(), ledger.Ref{Kind: kind, Mark: ledger.All}, ledger.Every(10))
				if err != nil || slices.ContainsFunc(rows, func(r ledger.Row) bool { return r.Key == "ghost" || r.Key == "grant2" }) {
					t.Errorf("%+v, %v", rows, err)
				}
			}
			must(t, raw(t, path), "DELETE FROM marks WHERE row IN (SELECT id FROM rows WHERE key IN ('ghost', 'grant2'))")
			if named := checked(t, s); len(named) != 1 {
				t.Errorf("the check names %q", named)
			}
			// What is added under the same name by Interlock takes its place.
			c := storagetest.Decision("a")
			c.Writes = ledger.Rows(interlock.OperatorRecord{Name: "ghost"})
			if _, err := s.Commit(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			rows, _, err := s.Load(t.Context(), ledger.Ref{Kind: ledger.Operator, Key: "ghost"})
			if err != nil || len(rows) != 1 || rows[0].Value.(interlock.OperatorRecord).Role != "" {
				t.Errorf("%+v, %v", rows, err)
			}
		})
	}
}

// TestCommitsOverEdits: a commit does not sign for what somebody else did to what it changes, and others go on.
func TestCommitsOverEdits(t *testing.T) {
	path := governed(t)
	s := open(t, path)
	c := storagetest.Decision("a")
	c.Spends = ledger.One(ledger.Request, "answered")
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	db := raw(t, path)
	must(t, db, "UPDATE old SET body = (SELECT CAST(replace(CAST(body AS TEXT), '\"status\":\"spent\"', '\"status\":\"approved\"') AS BLOB) "+
		"FROM rows r WHERE r.key = 'answered') WHERE key = 'answered'")
	putBack(t, path, ledger.Request, "answered")
	tampered := (*ledger.Tampered)(nil)
	if _, err := s.Commit(t.Context(), c); err == nil {
		t.Error("it was spent again")
	}
	putBack(t, path, ledger.Agent, "bot")
	c = storagetest.Decision("a")
	c.Writes = ledger.Rows(interlock.Challenge{ID: "new", Requester: interlock.Requester{Agent: "bot"}, Kind: interlock.ChallengeBlock})
	if _, err := s.Commit(t.Context(), c); err != nil { // it goes on from what it knows to be so
		t.Errorf("written beside it: %v", err)
	}
	s.Close()
	s = open(t, path) // and the next who opens the store finds what was done
	if _, _, err := s.Load(t.Context(), ledger.Ref{Kind: ledger.Agent, Key: "bot"}); !errors.As(err, &tampered) {
		t.Errorf("what was put back is believed after a commit beside it: %v", err)
	}
	c.Writes = ledger.Rows(interlock.Challenge{ID: "newer", Requester: interlock.Requester{Agent: "bot"}, Kind: interlock.ChallengeBlock})
	if _, err := s.Commit(t.Context(), c); !errors.As(err, &tampered) {
		t.Errorf("written beside it by who does not know: %v", err)
	}
	c.Writes = ledger.Rows(interlock.OperatorRecord{Name: "otto"})
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Errorf("written elsewhere: %v", err)
	}
	if _, err := s.Commit(t.Context(), storagetest.Decision("a")); err != nil {
		t.Errorf("an event alone: %v", err)
	}
	// Nor does it for proofs that are another's: then nothing that stands is written, and the log goes on.
	must(t, db, "UPDATE proofs SET tags = (SELECT tags FROM oldtags)")
	s.Close()
	s = open(t, path)
	defer s.Close()
	for range 2 {
		if _, err := s.Commit(t.Context(), storagetest.Decision("a")); err != nil {
			t.Errorf("an event alone: %v", err)
		}
		c.Writes = ledger.Rows(interlock.OperatorRecord{Name: "paul"})
		if _, err := s.Commit(t.Context(), c); !errors.As(err, &tampered) {
			t.Errorf("written under foreign proofs: %v", err)
		}
	}
	if named := checked(t, s); len(named) == 0 {
		t.Error("the check names nothing")
	}
	if report := verify(t, path); report.Problem != nil {
		t.Error(report.Problem)
	}
}

// TestOlderProgramsDoNotCommit: one that still runs when the store is migrated knows nothing of proofs, and stops.
func TestOlderProgramsDoNotCommit(t *testing.T) {
	path := governed(t)
	_, err := raw(t, path).ExecContext(context.Background(), "UPDATE head SET size = size + 1, revision = revision + 1 WHERE one = 1")
	if err == nil || !strings.Contains(err.Error(), "restart it") {
		t.Errorf("the error is %v", err)
	}
}
