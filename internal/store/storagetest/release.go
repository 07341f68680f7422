package storagetest

import (
	"testing"
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// release: content of entries and blobs leaves, as far as it is said to; ids, hashes and what is younger stay, and it can be done
// again.
func release(t *testing.T, p Place) {
	s := p.Open(t)
	defer s.Close()
	at := func(ago time.Duration, kind interlock.EventType, blobs ...interlock.Digest) string {
		c := ledger.Change{Events: []ledger.Draft{Draft(kind, "run")}}
		c.Events[0].Recorded = Now.Add(-ago)
		if kind == interlock.EventDecision {
			c.Events[0].Inputs = []byte(`{"inputs":1}`)
		}
		for _, digest := range blobs {
			c.Blobs = append(c.Blobs, ledger.Blob{Digest: digest, Text: []byte("text of " + digest)})
		}
		return commit(t, s, c).Events[0]
	}
	const day = 24 * time.Hour
	old := at(90*day, interlock.EventDecision, "sha256:old", "sha256:kept", "sha256:again")
	people := at(90*day, interlock.EventAlert)
	late := at(80*day, interlock.EventOutcome)
	young := at(day, interlock.EventDecision, "sha256:again", "sha256:young")
	l := ledger.Letting{UpTo: 3, Stay: []interlock.EventType{interlock.EventAlert}, Before: Now.Add(-30 * day),
		Keep: []interlock.Digest{"sha256:kept"}}
	for round, want := range [][2]int64{{2, 1}, {0, 0}} {
		entries, blobs, err := s.Release(t.Context(), l)
		if err != nil || [2]int64{entries, blobs} != want {
			t.Fatalf("round %d: %d entries, %d blobs, %v; want %v", round, entries, blobs, err, want)
		}
	}
	other := p.Open(t)
	defer other.Close()
	for _, s := range []Store{s, other} {
		for id, stays := range map[string]bool{old: false, people: true, late: false, young: true} {
			e, found, err := s.Entry(t.Context(), id)
			if err != nil || !found || e.ID != id || len(e.Hashes) < 32 || (len(e.Body) > 0) != stays {
				t.Errorf("entry %d is %d bytes, %v, %v; stays: %v", e.Index, len(e.Body), found, err, stays)
			}
		}
		for digest, stays := range map[interlock.Digest]bool{"sha256:old": false, "sha256:kept": true, "sha256:again": true,
			"sha256:young": true} {
			if _, found, err := s.Blob(t.Context(), digest); err != nil || found != stays {
				t.Errorf("the blob %s: %v, %v", digest, found, err)
			}
		}
	}
	// What has gone and is named again comes back, in a process that knew it as well.
	at(0, interlock.EventDecision, "sha256:old")
	if _, found, err := s.Blob(t.Context(), "sha256:old"); err != nil || !found {
		t.Errorf("named again: %v, %v", found, err)
	}
	// The log is sound with the event that says so, and not without.
	if _, ok := p.Verify(t); ok {
		t.Error("content is gone, nothing says that it was archived, and the log verifies")
	}
	for range 4 {
		c := Decision("more")
		for range 63 {
			c.Events = append(c.Events, Draft(interlock.EventDecision, "more"))
		}
		commit(t, s, c)
	}
	c := ledger.Change{Events: []ledger.Draft{Draft(interlock.EventArchive, "interlock")}}
	c.Events[0].Payload = []byte(`{"before":"2026-02-02T05:06:07Z","blobs":1,"first":0,"inputs":1,"manifest":"","root":"","size":256,"to":""}`)
	commit(t, s, c)
}
