package ledger_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/ledger"
)

// TestFailed: what ended is added in the order it ended in, whatever order it is recorded in and however often; the budget is the
// run's and the cooldown everybody's; what is long over goes.
func TestFailed(t *testing.T) {
	end := func(action interlock.Digest, run string, seconds int, status interlock.OutcomeStatus, changes bool) ledger.Ending {
		return ledger.Ending{Principal: "pat", Agent: "builder", Run: run, Action: action, Status: status, Changes: changes,
			At: now.Add(time.Duration(seconds) * time.Second)}
	}
	const failed, well = interlock.OutcomeFailure, interlock.OutcomeSuccess
	story := []ledger.Ending{end("a", "1", 0, failed, false), end("b", "1", 1, well, true), end("c", "2", 2, failed, false),
		end("a", "1", 3, interlock.OutcomeSkipped, true), end("c", "1", 4, well, false), end("d", "2", 5, failed, false)}
	tell := func(story []ledger.Ending) (f ledger.FailedBody) {
		for _, e := range story {
			f, _ = f.With(e)
			if again, changed := f.With(e); changed || !cmp.Equal(f, again) {
				t.Errorf("%+v told twice is something new", e)
			}
		}
		return f
	}
	f := tell(story)
	if len(f.Actions) != 2 || f.Of("1", "c") != nil || f.Of("1", "b") != nil {
		t.Errorf("%+v", f)
	}
	want := &interlock.Failures{Last: now, Outcome: failed, Count: 1, Changed: true}
	if diff := cmp.Diff(want, f.Of("1", "a")); diff != "" {
		t.Error(diff)
	}
	if d := f.Of("1", "d"); d == nil || d.Count != 0 || f.Of("2", "d").Count != 1 {
		t.Errorf("in another run: %+v", d)
	}
	late := tell([]ledger.Ending{end("a", "1", 5, failed, false), end("a", "1", 4, well, true), end("b", "1", 4, well, true)})
	if a := late.Of("1", "a"); a == nil || a.Changed {
		t.Errorf("what ended before a failure and is recorded after it counts against it: %+v", a)
	}
	f, _ = f.With(end("e", "3", 604, failed, false))
	if slices.ContainsFunc(f.Actions, func(one ledger.Failure) bool { return one.Action == "a" }) || len(f.Actions) != 2 {
		t.Errorf("what is over stays: %+v", f)
	}
}

// TestMerge: an addition is put to what is there, or to what the same change has made of it; what can't be read is begun anew.
func TestMerge(t *testing.T) {
	book := ledger.NewBook()
	end := ledger.Ending{Agent: "builder", Action: "a", At: now, Status: interlock.OutcomeFailure}
	second := end
	second.Action = "b"
	steps := func(body string, writes ...ledger.Row) ([]ledger.Row, error) {
		rows, refusal, err := book.Steps(&ledger.Change{Writes: writes}, now, func(kind, key string) (ledger.Row, error) {
			r := ledger.Row{Kind: kind, Key: key}
			if body != "" {
				r.Body = []byte(body)
			}
			return r, nil
		})
		return rows, errors.Join(refusal, err)
	}
	rows, err := steps("no JSON", ledger.Rows(end, second, second)...)
	if err != nil || len(rows) != 1 {
		t.Fatalf("%v %v", rows, err)
	}
	row, err := ledger.Put(rows[0].Kind, rows[0].Key, rows[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	value, err := book.Value(row)
	if f := value.(ledger.FailedBody); err != nil || len(f.Actions) != 2 {
		t.Errorf("%+v %v", f, err)
	}
	if rows, err := steps(string(row.Body), ledger.Rows(end)...); err != nil || len(rows) != 0 {
		t.Errorf("nothing new writes %v %v", rows, err)
	}
	if _, err := steps("", ledger.Row{Kind: ledger.Failed, Key: ledger.FailedKey("", "builder"), Value: 7}); err == nil {
		t.Error("a number was added to failures")
	}
	if _, err := steps("", ledger.Row{Kind: ledger.Failed, Key: "other", Value: end}); err == nil {
		t.Error("a row stands under another key than it says")
	}
}
