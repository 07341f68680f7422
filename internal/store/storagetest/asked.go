package storagetest

import (
	"fmt"
	"testing"
	"time"

	"interlock/internal/ledger"
)

// asked counts the requests of one agent and nobody else's, whatever its name is made of and whatever became of them.
func asked(t *testing.T, p Place) {
	s := p.Open(t)
	defer s.Close()
	names := []string{"agent", "agent-1", "a\"b\\c", "<é>&", "nul\x01", "ein Name"}
	for n, name := range names {
		for copy := range n + 1 {
			r := Request(fmt.Sprintf("r%d-%d", n, copy))
			r.Requester.Agent = name
			commit(t, s, with(Decision("a"), write(*r)))
		}
	}
	commit(t, s, with(Decision("a"), answer(t, s, Yes("r1-0"))))
	for n, name := range names {
		for _, tc := range []struct {
			principal string
			since     time.Time
			want      int
		}{{"p", Now.Add(-time.Minute), n + 1}, {"other", Now.Add(-time.Minute), 0}, {"p", Now, 0}} {
			got, err := s.Count(t.Context(), ledger.Ref{Kind: ledger.Request, Mark: ledger.By(name, tc.principal)},
				ledger.From(tc.since.UnixNano()+1, 0))
			if err != nil || got != tc.want {
				t.Errorf("%q of %s since %s asked %d times (%v), want %d", name, tc.principal, tc.since, got, err, tc.want)
			}
		}
	}
}
