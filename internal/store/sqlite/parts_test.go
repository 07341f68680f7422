package sqlite_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/store/sqlite"
	"interlock/internal/store/storagetest"
)

// crowd is how many agents there are, so that each part has several.
const crowd = 4096

func crowded(t *testing.T, s *sqlite.Store) {
	t.Helper()
	var writes []ledger.Row
	for n := range crowd {
		writes = append(writes, ledger.Rows(interlock.AgentRecord{ID: "agent-" + strconv.Itoa(n), Principal: "olga", Created: storagetest.Now})...)
	}
	c := storagetest.Decision("setup")
	c.Writes = writes
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

func ofAgent(n int) ledger.Ref {
	return ledger.Ref{Kind: ledger.Agent, Key: "agent-" + strconv.Itoa(n)}
}

// principal is whose an agent is, as far as a store knows.
func principal(t *testing.T, load func(refs ...ledger.Ref) ([]ledger.Row, int64, error), n int) string {
	t.Helper()
	rows, _, err := load(ofAgent(n))
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1 {
		t.Fatalf("agent %d has %d rows", n, len(rows))
	}
	return rows[0].Value.(interlock.AgentRecord).Principal
}

// Parts that are asked for again are read whole, so that most agents are known before anybody asks for them; what another process
// writes is seen all the same, by who looks at once and by who recalls.
func TestPartsAreReadWholeAndNeverOld(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	defer s.Close()
	crowded(t, s)
	load := func(refs ...ledger.Ref) ([]ledger.Row, int64, error) { return s.Load(t.Context(), refs...) }
	recall := func(refs ...ledger.Ref) ([]ledger.Row, int64, error) { return s.Recall(t.Context(), refs...) }
	for n := range crowd / 2 {
		if got := principal(t, load, n); got != "olga" {
			t.Fatalf("agent %d is %q's", n, got)
		}
	}
	if known := sqlite.KnownTexts(s); known < crowd*5/8 {
		t.Fatalf("%d agents are known after half of %d were read one by one", known, crowd)
	}
	other := open(t, path)
	defer other.Close()
	c := storagetest.Decision("other")
	for _, n := range []int{7, crowd - 7} {
		c.Writes = append(c.Writes, ledger.Rows(interlock.AgentRecord{ID: "agent-" + strconv.Itoa(n), Principal: "ann", Created: storagetest.Now})...)
	}
	if _, err := other.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{7: "ann", crowd - 7: "ann", 8: "olga", crowd - 8: "olga"} {
		if got := principal(t, load, n); got != want {
			t.Errorf("agent %d is %q's, want %q", n, got, want)
		}
		if got := principal(t, recall, n); got != want {
			t.Errorf("recalled, agent %d is %q's, want %q", n, got, want)
		}
	}
	c = storagetest.Decision("own")
	c.Writes = ledger.Rows(interlock.AgentRecord{ID: "agent-9", Principal: "eve", Created: storagetest.Now})
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := principal(t, recall, 9); got != "eve" {
		t.Errorf("recalled right after it was written, agent 9 is %q's", got)
	}
}

// A decision that was computed from what is remembered is refused when another process has changed it.
func TestWhatIsRememberedIsHeldAgainstTheFile(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	defer s.Close()
	crowded(t, s)
	for n := range crowd {
		if _, _, err := s.Recall(t.Context(), ofAgent(n)); err != nil {
			t.Fatal(err)
		}
	}
	other := open(t, path)
	defer other.Close()
	rows, version, err := s.Recall(t.Context(), ofAgent(3))
	if err != nil || len(rows) != 1 {
		t.Fatalf("%v, %v", rows, err)
	}
	c := storagetest.Decision("other")
	c.Writes = ledger.Rows(interlock.AgentRecord{ID: "agent-3", Principal: "olga", Created: storagetest.Now, Revoked: storagetest.Now.Add(time.Minute)})
	if _, err := other.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	c = storagetest.Decision("own")
	c.Version, c.Reads = version, []ledger.Ref{ofAgent(3)}
	if _, err := s.Commit(t.Context(), c); !errors.Is(err, ledger.ErrConflict) {
		t.Fatalf("a decision from what was comes back with %v", err)
	}
	c.Reads = []ledger.Ref{ofAgent(4)}
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatalf("a decision that read another agent comes back with %v", err)
	}
}
