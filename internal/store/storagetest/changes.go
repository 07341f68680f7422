package storagetest

import (
	"testing"

	"interlock"
	"interlock/internal/ledger"
)

// write writes values, each of its kind.
func write(values ...any) func(*ledger.Change) {
	return func(c *ledger.Change) { c.Writes = append(c.Writes, ledger.Rows(values...)...) }
}

// spend takes one.
func spend(kind, key string) func(*ledger.Change) {
	return func(c *ledger.Change) { c.Spends = append(c.Spends, ledger.One(kind, key)...) }
}

// request is one as the store has it now, or as it would be made.
func request(t testing.TB, s Store, id string) interlock.ApprovalRequest {
	t.Helper()
	rows, _, err := s.Load(t.Context(), ledger.Ref{Kind: ledger.Request, Key: id})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 {
		return *Request(id)
	}
	return rows[0].Value.(interlock.ApprovalRequest)
}

// answer answers a request as the store has it now, and expire ends it.
func answer(t testing.TB, s Store, a *interlock.Approval) func(*ledger.Change) {
	t.Helper()
	return write(request(t, s, a.Request).Answered(*a))
}

func expire(t testing.TB, s Store, id string) func(*ledger.Change) {
	t.Helper()
	r := request(t, s, id)
	r.Status = interlock.RequestExpired
	return write(r)
}

// with returns a change with more in it.
func with(c ledger.Change, more func(*ledger.Change)) ledger.Change {
	more(&c)
	return c
}

func badChanges(t *testing.T, p Place) {
	s := p.Open(t)
	defer s.Close()
	refused(t, s, ledger.Change{}, nil)
	refused(t, s, with(Decision("a"), func(c *ledger.Change) { c.Events[0].Seed = "" }), nil)
	refused(t, s, with(Decision("a"), func(c *ledger.Change) { c.Events[0].Payload = []byte(`{"b":1,"a":2}`) }), nil)
	refused(t, s, with(Decision("a"), func(c *ledger.Change) { c.Events[0].Payload = nil }), nil)
	refused(t, s, with(Decision("a"), func(c *ledger.Change) { c.Events[0].Type = "" }), nil)
	refused(t, s, with(Decision("a"), write(interlock.ApprovalRequest{Status: interlock.RequestPending})), nil)
	commit(t, s, with(Decision("a"), write(*Request("r1"))))
	refused(t, s, with(Decision("a"), func(c *ledger.Change) { answer(t, s, Yes("r1"))(c); spend(ledger.Request, "r1")(c) }), nil)
	size(t, p, 1)
}
