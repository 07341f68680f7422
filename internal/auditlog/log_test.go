package auditlog_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// zeroes is the randomness of test keys: visibly no secret.
type zeroes byte

func (z zeroes) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(z)
	}
	return len(p), nil
}

// testSealer returns a sealer with a fixed key; each number has its own.
func testSealer(t testing.TB, number byte) *auditlog.Sealer {
	t.Helper()
	private, public, err := auditlog.GenerateKey(zeroes(number))
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := auditlog.NewSealer(private)
	if err != nil {
		t.Fatal(err)
	}
	if got := sealer.Public().String(); got != public {
		t.Fatalf("the sealer's public key is %q, want the generated %q", got, public)
	}
	return sealer
}

// A memoryLog is a log in memory: a Source and HashRows.
type memoryLog struct {
	entries []interlock.Entry
	head    ledger.Head
	next    map[string]int64
}

func (m *memoryLog) Head(context.Context) (ledger.Head, error) { return m.head, nil }

func (m *memoryLog) Walk(_ context.Context, visit func(interlock.Entry) error) error {
	for _, e := range m.entries {
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}

func (m *memoryLog) Hashes(_ context.Context, index int64) ([]byte, error) {
	if index < 0 || index >= int64(len(m.entries)) {
		return nil, fmt.Errorf("no entry %d", index)
	}
	return m.entries[index].Hashes, nil
}

// clone copies a log, so that a test can damage one copy.
func (m *memoryLog) clone() *memoryLog {
	c := &memoryLog{head: m.head}
	for _, e := range m.entries {
		e.Body, e.Hashes, e.Checkpoint = bytes.Clone(e.Body), bytes.Clone(e.Hashes), bytes.Clone(e.Checkpoint)
		c.entries = append(c.entries, e)
	}
	return c
}

// seal appends drafts as one commit.
func (m *memoryLog) seal(t testing.TB, sealer *auditlog.Sealer, drafts ...ledger.Draft) {
	t.Helper()
	if m.next == nil {
		m.next = map[string]int64{}
	}
	sequences := make([]int64, len(drafts))
	for i, d := range drafts {
		m.next[d.Seed]++
		sequences[i] = m.next[d.Seed]
	}
	entries, head, err := sealer.Seal(m.head, drafts, sequences, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.entries, m.head = append(m.entries, entries...), head
}

var testTime = time.Date(2026, 5, 6, 7, 8, 9, 123456000, time.UTC)

func draft(kind interlock.EventType, seed, payload string) ledger.Draft {
	return ledger.Draft{
		Type: kind, Run: "run " + seed, Seed: seed, Trace: "trace", Actor: "agent", Role: "agent", Recorded: testTime,
		Snapshots: map[string]string{"snapshot": "sha256:11", "ruleset": "sha256:22"}, Payload: []byte(payload),
	}
}

// testLog returns a log of n entries in commits of up to three, over two runs, every seventh entry signed by itself.
func testLog(t testing.TB, sealer *auditlog.Sealer, n int) *memoryLog {
	t.Helper()
	log := &memoryLog{}
	for len(log.entries) < n {
		var drafts []ledger.Draft
		for range min(1+len(log.entries)%3, n-len(log.entries)) {
			i := len(log.entries) + len(drafts)
			kind := interlock.EventDecision
			if i%7 == 6 {
				kind = interlock.EventMode
			}
			drafts = append(drafts, draft(kind, fmt.Sprintf("seed-%d", i%2), fmt.Sprintf(`{"n":%d}`, i)))
		}
		log.seal(t, sealer, drafts...)
	}
	return log
}

func verify(t *testing.T, log auditlog.Source, sealer *auditlog.Sealer, earlier ...[]byte) auditlog.Report {
	t.Helper()
	report, err := auditlog.Verify(t.Context(), log, sealer.Public(), auditlog.VerifyOptions{Earlier: earlier})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// renumber gives entries the indexes of their places.
func (m *memoryLog) renumber() {
	for i := range m.entries {
		m.entries[i].Index = int64(i)
	}
}

func (m *memoryLog) insert(at int, e interlock.Entry) {
	m.entries = slices.Insert(m.entries, at, e)
	m.renumber()
}

func (m *memoryLog) remove(from, to int) { m.entries = slices.Delete(m.entries, from, to) }
