package storagetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// Fill registers agents, and for every agent fifteen requests that wait and a tool: seventeen rows each, many to a commit. It is how
// benchmarks make a store large, and returns how many rows it has written.
func Fill(t testing.TB, s interface {
	Commit(ctx context.Context, c ledger.Change) (ledger.Receipt, error)
}, agents int, now time.Time) (rows int) {
	t.Helper()
	var writes []ledger.Row
	commit := func() {
		c := ledger.Change{Writes: writes, Events: []ledger.Draft{{Type: interlock.EventAlert, Run: "fill", Seed: "fill",
			Actor: "bench", Role: "system", Recorded: now, Payload: []byte(`{"code":"fill","message":"rows"}`)}}}
		if _, err := s.Commit(context.Background(), c); err != nil {
			t.Fatal(err)
		}
		rows, writes = rows+len(writes), writes[:0]
	}
	for n := range agents {
		id := fmt.Sprint("agent-", n)
		who := interlock.Requester{Principal: "olga", Agent: id, Run: "old"}
		writes = append(writes, ledger.Rows(interlock.AgentRecord{ID: id, Principal: "olga", Trust: interlock.TrustValidated, Created: now,
			TokenHash: fmt.Sprintf("sha256:%064x", n)},
			interlock.Pin{Server: id, Tool: "tool", Status: interlock.PinApproved})...)
		for i := range 15 {
			writes = append(writes, ledger.Rows(interlock.ApprovalRequest{ID: fmt.Sprintf("apr_%d_%d", n, i), Requester: who, Created: now,
				Expires: now.Add(24 * time.Hour), Status: interlock.RequestPending})...)
		}
		if len(writes) > 2000 {
			commit()
		}
	}
	commit()
	return rows
}
