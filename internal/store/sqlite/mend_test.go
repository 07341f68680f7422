package sqlite_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/store/storagetest"
)

// TestMend: what can be mended is shown first, and is afterwards as it was; what can't be told stays, and takes a backup. Another plan
// than the one that was shown changes nothing.
func TestMend(t *testing.T) {
	olga, err := ledger.Put(ledger.Operator, "olga", interlock.OperatorRecord{Name: "olga", Role: "viewer", Revoked: storagetest.Now})
	if err != nil {
		t.Fatal(err)
	}
	counter, err := ledger.Put(ledger.Counter, "n", ledger.CounterBody{Name: "n", Left: 6})
	if err != nil {
		t.Fatal(err)
	}
	path, event := withAll(t)
	image := imageOf(t, path)
	const forgotten = "are forgotten" // by what the test expects of it, some of it is not as it was
	for name, test := range map[string]struct {
		edit string
		said []ledger.Row
		does string // in what is shown; empty: that it can't be mended
	}{
		"an operator put in": {edit: "INSERT INTO rows (kind, key, version, body, owner, proof) SELECT kind, 'ghost', version, body, owner, proof " +
			"FROM rows WHERE key = 'olga'", does: "is removed: nobody believes it"},
		"an operator taken away":   {edit: "DELETE FROM rows WHERE key = 'olga'", said: []ledger.Row{olga}, does: `the operator "olga" is put back`},
		"an operator nobody knows": {edit: "DELETE FROM rows WHERE key = 'olga'"},
		"a counter put back": {edit: "UPDATE rows SET (body, version, proof) = (SELECT body, version, proof FROM old_rows o WHERE o.id = rows.id) " +
			"WHERE key = 'n'", said: []ledger.Row{counter}, does: `the counter "n" is put back`},
		"an operator changed": {edit: "UPDATE rows SET body = CAST(replace(CAST(body AS TEXT), 'viewer', 'admin') AS BLOB) WHERE key = 'olga'",
			said: []ledger.Row{olga}, does: `the operator "olga" is put back`},
		"a row hidden":       {edit: "UPDATE rows SET owner = NULL WHERE key = 'block'", does: `the challenge "block" is put back`},
		"a version changed":  {edit: "UPDATE rows SET version = version + 1 WHERE key = 'bot'", does: `the agent "bot" is put back`},
		"a block taken away": {edit: "DELETE FROM rows WHERE key = 'block'"},
		"a mark taken away":  {edit: "DELETE FROM marks WHERE mark = 'all' AND kind = 'agent'", does: "made anew from the rows"},
		"a mark put in":      {edit: "INSERT INTO marks SELECT kind, 'token', at, row FROM marks LIMIT 1", does: "made anew from the rows"},
		"ids taken away":     {edit: "DELETE FROM ids", does: "made anew from the entries"},
		"a call put in": {edit: "INSERT INTO calls SELECT id + 9999, by_event, by_action, by_call, at, body, proof " +
			"FROM calls LIMIT 1", does: "nobody believes"},
		"a text's time": {edit: "UPDATE blobs SET used = 0", does: "counted anew"},
		"what passes, put in": {edit: "INSERT INTO passing SELECT owner + 1, kind, 'ghost', until, proof, body " +
			"FROM passing LIMIT 1", does: "is removed"},
		"what passes, gone":      {edit: "DELETE FROM passing WHERE kind = 'written'", does: forgotten},
		"a trigger":              {edit: "CREATE TRIGGER mine AFTER INSERT ON entries BEGIN DELETE FROM marks; END"},
		"the proofs":             {edit: "DELETE FROM proofs"},
		"all that stands":        {edit: "DELETE FROM rows; DELETE FROM marks"},
		"nothing":                {edit: "SELECT 1", does: "-"},
		"somebody, and what has": {edit: "DELETE FROM rows WHERE key = 'olga'; DELETE FROM ids", said: []ledger.Row{olga}, does: "is put back"},
	} {
		t.Run(name, func(t *testing.T) {
			path := pathOf(t, image)
			s := open(t, path)
			before := beside(t, s, event)
			s.Close()
			must(t, raw(t, path), test.edit)
			s = open(t, path)
			defer s.Close()
			named := storagetest.Checked(t, s)
			plan, err := s.Repairs(t.Context(), test.said)
			if err != nil {
				t.Fatal(err)
			}
			if again := storagetest.Checked(t, s); !slices.Equal(named, again) {
				t.Errorf("looking has changed what is named: %q, %q", named, again)
			}
			can := !slices.ContainsFunc(plan, func(r ledger.Repair) bool { return !r.Can })
			shown := slices.ContainsFunc(plan, func(r ledger.Repair) bool { return strings.Contains(r.Does, test.does) && r.Can })
			if test.does != "-" && (len(plan) == 0 || can != (test.does != "") || can && !shown) {
				t.Fatalf("the plan is %+v", plan)
			}
			c := storagetest.Decision("run")
			c.Mend = &ledger.Mend{Plan: ledger.PlanDigest(append(plan, ledger.Repair{Wrong: "more"})), Said: test.said}
			if _, err := s.Commit(t.Context(), c); err == nil || !slices.Equal(named, storagetest.Checked(t, s)) {
				t.Errorf("another plan: %v; %q, was %q", err, storagetest.Checked(t, s), named)
			}
			c.Mend.Plan = ledger.PlanDigest(plan)
			if _, err := s.Commit(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			left := storagetest.Checked(t, s)
			if (len(left) == 0) != can {
				t.Errorf("afterwards the check names %q", left)
			}
			if can && test.does != forgotten {
				for n := range 2 {
					if diff := cmp.Diff(before, beside(t, s, event)); diff != "" {
						t.Errorf("%d: what decisions take (-before +after):\n%s", n, diff)
					}
					s.Close()
					s = open(t, path)
				}
			}
			if _, ok := sound(t, path); !ok {
				t.Error("the log does not verify")
			}
			if _, err := s.Commit(t.Context(), storagetest.Decision("run")); err != nil {
				t.Error(err)
			}
		})
	}
}
