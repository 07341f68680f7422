package storagetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"interlock/internal/ledger"
)

// usages: of many that use something at once, from several processes, as many are let through as there is room for, and each that is not
// is told what is there; one who was let through is told what he left. What is put right is put right once, and what was used is
// there in every process and after a restart, and is forgotten when its window is over.
func usages(t *testing.T, p Place) {
	s, other := p.Open(t), p.Open(t)
	const room, callers = 7, 32
	use := func(n int, after time.Duration) ledger.Change {
		return with(Decision(fmt.Sprint("run", n)), func(c *ledger.Change) {
			c.Events[0].Recorded = Now.Add(after)
			c.Spends = []ledger.Spend{{Kind: ledger.Usage, Key: "u", Take: 1, Room: room, Window: time.Hour}}
		})
	}
	results, left := make([]error, callers), make([]int64, callers)
	var all sync.WaitGroup
	for i := range callers {
		store := s
		if i%2 == 1 {
			store = other
		}
		all.Go(func() {
			var receipt ledger.Receipt
			receipt, results[i] = store.Commit(t.Context(), use(i, 0))
			for _, row := range receipt.Left {
				left[i] = row.Value.(ledger.UsageBody).Total
			}
		})
	}
	all.Wait()
	told := map[int64]bool{}
	for i, err := range results {
		var met *ledger.Met
		switch {
		case err == nil:
			told[left[i]] = true
		case !errors.As(err, &met) || errors.Is(err, ledger.ErrConflict):
			t.Errorf("whoever found no room was told %v", err)
		case met.Row.Value.(ledger.UsageBody).Used(time.Hour, Now) != room:
			t.Errorf("it met %+v", met.Row)
		}
	}
	if len(told) != room || told[0] {
		t.Errorf("those that were let through left %v", told)
	}
	used := func(want int64) {
		t.Helper()
		for _, store := range []Store{s, other, p.Open(t)} {
			rows, _, err := store.Load(t.Context(), ledger.Ref{Kind: ledger.Usage, Key: "u"})
			got := int64(0)
			if len(rows) > 0 {
				got = rows[0].Value.(ledger.UsageBody).Used(time.Hour, Now)
			}
			if err != nil || got != want {
				t.Errorf("%d are used, want %d (%v)", got, want, err)
			}
		}
	}
	used(room)
	settle := func() ledger.Change {
		return with(Decision("a"), func(c *ledger.Change) {
			c.Writes = ledger.Rows(ledger.Settling{Key: "u", Window: time.Hour, Decided: Now, At: Now, Taken: 1},
				ledger.SettledBody{Event: "e", At: Now})
		})
	}
	commit(t, s, settle())
	refused(t, other, settle(), ledger.ErrSettled)
	used(room - 1)
	commit(t, other, use(callers, 0))
	refused(t, s, use(callers, 0), nil)
	used(room)
	commit(t, s, use(callers, time.Hour)) // the window is over
	far := with(Decision("z"), func(c *ledger.Change) {
		c.Events[0].Recorded = Now.Add(3 * time.Hour)
		c.Writes = ledger.Rows(ledger.SettledBody{Event: "another", At: Now.Add(3 * time.Hour)})
	})
	commit(t, s, far) // something new comes, so that what is over goes
	if got := keys(t, p.Open(t), ledger.Ref{Kind: ledger.Usage, Key: "u"}); len(got) > 0 {
		t.Errorf("what is over is still there: %q", got)
	}
}
