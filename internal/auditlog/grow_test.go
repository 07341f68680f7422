package auditlog_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// A growingLog is a log that somebody writes while it is read: each look at its head, and the walk, finds another state.
type growingLog struct {
	*memoryLog
	heads []ledger.Head // one for each look; the last stays
}

func (g *growingLog) Head(context.Context) (ledger.Head, error) {
	head := g.heads[0]
	if len(g.heads) > 1 {
		g.heads = g.heads[1:]
	}
	return head, nil
}

// TestVerifyWhileTheLogGrows: a log that is written while it is verified is sound up to where it was read. Entries that no head
// covers are not, however often one looks.
func TestVerifyWhileTheLogGrows(t *testing.T) {
	sealer := testSealer(t, 1)
	states := []*memoryLog{testLog(t, sealer, 5)}
	for range 3 {
		next := states[len(states)-1].clone()
		next.next = map[string]int64{"seed-0": 9, "seed-1": 9}
		next.next["seed-2"] = int64(len(states) - 1)
		next.seal(t, sealer, draft(interlock.EventDecision, "seed-2", `{"later":true}`))
		states = append(states, next)
	}
	read, forged := states[2], states[3].clone()
	forged.head.Checkpoint = []byte("nobody signed this")
	unsigned := read.clone()
	unsigned.entries[len(unsigned.entries)-1].Checkpoint = nil
	for _, test := range []struct {
		name  string
		log   *memoryLog
		heads []*memoryLog
		want  auditlog.ProblemKind
	}{
		{"not at all", read, []*memoryLog{read}, ""},
		{"before it is read", read, []*memoryLog{states[0], read}, ""},
		{"and on while it is read", read, []*memoryLog{states[0], states[3]}, ""},
		{"beyond its head", read, []*memoryLog{states[0], states[1]}, auditlog.ProblemInserted},
		{"beyond a head that stays", read, []*memoryLog{states[0]}, auditlog.ProblemInserted},
		{"to a head that is none", read, []*memoryLog{states[0], forged}, auditlog.ProblemCheckpoint},
		{"by what has no head of its own", unsigned, []*memoryLog{states[0], states[3]}, auditlog.ProblemInserted},
		{"shorter", states[0], []*memoryLog{read}, auditlog.ProblemCut},
	} {
		t.Run(test.name, func(t *testing.T) {
			log := &growingLog{memoryLog: test.log}
			for _, at := range test.heads {
				log.heads = append(log.heads, at.head)
			}
			report := verify(t, log, sealer)
			var kind auditlog.ProblemKind
			if report.Problem != nil {
				kind = report.Problem.Kind
			}
			if diff := cmp.Diff(test.want, kind); diff != "" {
				t.Errorf("%s\n%+v", diff, report.Problem)
			}
			if test.want == "" && (report.Entries != int64(len(test.log.entries)) || report.Checkpoint.Size != report.Entries) {
				t.Errorf("%d entries under a head of %d", report.Entries, report.Checkpoint.Size)
			}
		})
	}
}
