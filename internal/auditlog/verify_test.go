package auditlog_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/spec"
)

func sha256Hex(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestVerifySound(t *testing.T) {
	spec.Covers(t, "MACE-ID-3")
	sealer := testSealer(t, 1)
	for n := range 40 {
		log := testLog(t, sealer, n)
		report := verify(t, log, sealer)
		want := auditlog.Report{Entries: int64(n), Runs: min(n, 2), Signed: int64((n + 0) / 7)}
		for _, e := range log.entries {
			want.Heads += int64(min(len(e.Checkpoint), 1))
		}
		if diff := cmp.Diff(want, report, cmpopts.IgnoreFields(auditlog.Report{}, "Checkpoint")); diff != "" {
			t.Errorf("a log of %d (-want +got):\n%s", n, diff)
		}
		if report.Checkpoint.Size != int64(n) && n > 0 {
			t.Errorf("a log of %d has a checkpoint of %d", n, report.Checkpoint.Size)
		}
	}
}

// The tree is the one golang.org/x/mod/sumdb/tlog computes, and its checkpoint opens with x/mod's own note reader.
func TestTreeIsRFC6962(t *testing.T) {
	sealer := testSealer(t, 1)
	log := testLog(t, sealer, 37)
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var hashes []tlog.Hash
		for _, i := range indexes {
			hashes = append(hashes, stored[i])
		}
		return hashes, nil
	})
	for i, e := range log.entries {
		hashes, err := tlog.StoredHashes(int64(i), e.Body, reader)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, hashes...)
		var want []byte
		for _, h := range hashes {
			want = append(want, h[:]...)
		}
		if !bytes.Equal(want, e.Hashes) {
			t.Fatalf("entry %d completes other hashes than tlog's", i)
		}
	}
	root, err := tlog.TreeHash(int64(len(log.entries)), reader)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(sealer.Public().String())
	if err != nil {
		t.Fatal(err)
	}
	opened, err := note.Open(log.head.Checkpoint, note.VerifierList(verifier))
	if err != nil {
		t.Fatal(err)
	}
	if want := sealer.Public().Origin() + "\n37\n" + root.String() + "\n"; opened.Text != want {
		t.Errorf("checkpoint text %q, want %q", opened.Text, want)
	}
}

// reseal recomputes what can be computed without the key for an entry: its hash, in the row.
func rehash(log *memoryLog, i int) {
	leaf := tlog.RecordHash(log.entries[i].Body)
	copy(log.entries[i].Hashes, leaf[:])
}

func TestVerifyNamesWhatWasDone(t *testing.T) {
	spec.Covers(t, "EC-L-2")
	sealer := testSealer(t, 1)
	other := testSealer(t, 2)
	const n = 23
	replace := func(log *memoryLog, i int, from, to string) {
		if !bytes.Contains(log.entries[i].Body, []byte(from)) {
			t.Fatalf("entry %d has no %s", i, from)
		}
		log.entries[i].Body = bytes.Replace(log.entries[i].Body, []byte(from), []byte(to), 1)
	}
	for _, test := range []struct {
		name   string
		damage func(log *memoryLog)
		kind   auditlog.ProblemKind
		index  int64
	}{
		{"payload edited", func(l *memoryLog) { replace(l, 5, `{"n":5}`, `{"n":6}`) }, auditlog.ProblemChanged, 5},
		{"first payload edited", func(l *memoryLog) { replace(l, 0, `{"n":0}`, `{"n":6}`) }, auditlog.ProblemChanged, 0},
		{"last payload edited", func(l *memoryLog) { replace(l, n-1, `{"n":22}`, `{"n":0}`) }, auditlog.ProblemChanged, n - 1},
		{"actor edited", func(l *memoryLog) { replace(l, 5, `"agent"`, `"other"`) }, auditlog.ProblemChanged, 5},
		{"actor edited, row hash too", func(l *memoryLog) { replace(l, 4, `"agent"`, `"other"`); rehash(l, 4) }, auditlog.ProblemChanged, 4},
		{"last actor edited, row hash too", func(l *memoryLog) { replace(l, n-1, `"agent"`, `"other"`); rehash(l, n-1) }, auditlog.ProblemChanged, n - 1},
		{"payload and content hash edited", func(l *memoryLog) {
			replace(l, 9, `{"n":9}`, `{"n":1}`)
			replace(l, 9, sha256Hex(`{"n":9}`), sha256Hex(`{"n":1}`))
		}, auditlog.ProblemChanged, 9},
		{"white space added", func(l *memoryLog) { replace(l, 5, `"role":`, `"role": `) }, auditlog.ProblemChanged, 5},
		{"id column edited", func(l *memoryLog) { l.entries[5].ID = l.entries[6].ID }, auditlog.ProblemChanged, 5},
		{"type column edited", func(l *memoryLog) { l.entries[5].Type = interlock.EventAlert }, auditlog.ProblemChanged, 5},
		{"hashes column edited", func(l *memoryLog) { l.entries[7].Hashes[40] ^= 1 }, auditlog.ProblemChanged, 7},
		{"body emptied", func(l *memoryLog) { l.entries[5].Body = nil }, auditlog.ProblemRemoved, 5},
		{"entry removed", func(l *memoryLog) { l.remove(5, 6) }, auditlog.ProblemRemoved, 5},
		{"even entry removed and renumbered", func(l *memoryLog) { l.remove(6, 7); l.renumber() }, auditlog.ProblemRemoved, 6},
		{"odd entry removed and renumbered", func(l *memoryLog) { l.remove(9, 10); l.renumber() }, auditlog.ProblemRemoved, 9},
		{"head cut", func(l *memoryLog) { l.remove(0, 4) }, auditlog.ProblemRemoved, 0},
		{"head cut and renumbered", func(l *memoryLog) { l.remove(0, 4); l.renumber() }, auditlog.ProblemRemoved, 0},
		{"tail cut", func(l *memoryLog) { l.remove(n-4, n) }, auditlog.ProblemCut, n - 4},
		{"last entry cut", func(l *memoryLog) { l.remove(n-1, n) }, auditlog.ProblemCut, n - 1},
		{"everything removed", func(l *memoryLog) { l.remove(0, n) }, auditlog.ProblemCut, 0},
		{"two neighbours swapped", func(l *memoryLog) {
			l.entries[8], l.entries[9] = l.entries[9], l.entries[8]
			l.renumber()
		}, auditlog.ProblemReordered, 8},
		{"two far apart swapped", func(l *memoryLog) {
			l.entries[3], l.entries[12] = l.entries[12], l.entries[3]
			l.renumber()
		}, auditlog.ProblemReordered, 3},
		{"moved to the end", func(l *memoryLog) {
			e := l.entries[5]
			l.remove(5, 6)
			l.entries = append(l.entries, e)
			l.renumber()
		}, auditlog.ProblemReordered, 5},
		{"copy inserted after it", func(l *memoryLog) { l.insert(6, l.entries[5]) }, auditlog.ProblemDuplicated, 6},
		{"copy inserted far after it", func(l *memoryLog) { l.insert(15, l.entries[5]) }, auditlog.ProblemDuplicated, 15},
		{"copy at the end", func(l *memoryLog) { l.insert(n, l.entries[5]) }, auditlog.ProblemDuplicated, n},
		{"foreign entry inserted", func(l *memoryLog) {
			foreign := testLog(t, other, 12)
			l.insert(10, foreign.entries[10])
		}, auditlog.ProblemInserted, 10},
		{"forged entry that follows its place", func(l *memoryLog) {
			forged := &memoryLog{head: ledger.Head{Last: auditlog.RecordHash(l.entries[9].Body), Size: 10}, next: map[string]int64{"x": 0}}
			forged.head.Edge = append(bytes.Clone(l.entries[7].Hashes[96:]), l.entries[9].Hashes[32:]...)
			forged.seal(t, other, draft(interlock.EventDecision, "x", `{"forged":true}`))
			l.insert(10, forged.entries[0])
			l.entries[10].Checkpoint = nil
		}, auditlog.ProblemInserted, 10},
		{"entry appended with another key", func(l *memoryLog) {
			l.seal(t, other, draft(interlock.EventDecision, "x", `{"forged":true}`))
			l.head = testLog(t, sealer, n).head
			l.entries[n].Checkpoint = nil
		}, auditlog.ProblemInserted, n},
		{"own signature edited", func(l *memoryLog) {
			at := bytes.Index(l.entries[6].Body, []byte(`"signature":"`)) + len(`"signature":"`)
			l.entries[6].Body[at] ^= 1
			rehash(l, 6)
		}, auditlog.ProblemChanged, 6},
		{"stored head edited", func(l *memoryLog) { l.entries[2].Checkpoint[30] ^= 1 }, auditlog.ProblemChanged, 2},
		{"newest head removed", func(l *memoryLog) { l.head.Checkpoint = nil }, auditlog.ProblemCheckpoint, -1},
		{"newest head damaged", func(l *memoryLog) { l.head.Checkpoint = bytes.ToUpper(l.head.Checkpoint) }, auditlog.ProblemCheckpoint, -1},
		{"edge edited", func(l *memoryLog) { l.head.Edge = bytes.Clone(l.head.Edge); l.head.Edge[0] ^= 1 }, auditlog.ProblemCheckpoint, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			log := testLog(t, sealer, n).clone()
			log.next = map[string]int64{}
			test.damage(log)
			report := verify(t, log, sealer)
			if report.Problem == nil {
				t.Fatal("nothing was found")
			}
			if report.Problem.Kind != test.kind || report.Problem.Index != test.index {
				t.Errorf("found %s at %d (%v), want %s at %d", report.Problem.Kind, report.Problem.Index, report.Problem, test.kind, test.index)
			}
		})
	}
}

// Whoever seals the log again from an entry on, with every hash right but without the key, is found by the signed heads.
func TestVerifyNamesResealedLog(t *testing.T) {
	sealer, other := testSealer(t, 1), testSealer(t, 2)
	for _, stripped := range []bool{false, true} {
		log := testLog(t, sealer, 11).clone()
		// The first eight entries stay as they are; the rest is sealed again with the forger's key.
		forged := prefix(t, log, 8)
		for i := 8; i < 11; i++ {
			forged.seal(t, other, draft(interlock.EventDecision, []string{"seed-0", "seed-1"}[i%2], `{"forged":true}`))
		}
		if stripped {
			for i := 8; i < 11; i++ {
				forged.entries[i].Checkpoint = nil
			}
		} else {
			// The forger names the right origin in heads nobody signed.
			for i := 8; i < 11; i++ {
				forged.entries[i].Checkpoint = bytes.ReplaceAll(forged.entries[i].Checkpoint,
					[]byte(other.Public().Origin()), []byte(sealer.Public().Origin()))
			}
		}
		report := verify(t, forged, sealer)
		if report.Problem == nil {
			t.Fatal("nothing was found")
		}
		if report.Problem.Index != 8 && report.Problem.Index != 7 {
			t.Errorf("stripped %v: found %v, want entry 8, where the forgery begins (or 7, the last before it under a signed head)", stripped, report.Problem)
		}
	}
}

// prefix returns the first n entries of a log as a log that can be continued.
func prefix(t *testing.T, log *memoryLog, n int) *memoryLog {
	t.Helper()
	p := &memoryLog{next: map[string]int64{}}
	p.entries = append(p.entries, log.entries[:n]...)
	p.head = ledger.Head{Size: int64(n), Last: auditlog.RecordHash(log.entries[n-1].Body), Checkpoint: log.head.Checkpoint}
	for level := 62; level >= 0; level-- {
		if n>>level&1 == 1 {
			row := (n>>level)<<level - 1
			p.head.Edge = append(p.head.Edge, log.entries[row].Hashes[level*32:level*32+32]...)
		}
	}
	for _, e := range p.entries {
		event, err := auditlog.ParseEvent(e.Body)
		if err != nil {
			t.Fatal(err)
		}
		p.next[event.Seed]++
	}
	return p
}

// A log that was rolled back to an earlier signed head is sound in itself; a checkpoint kept elsewhere tells.
func TestVerifyWithEarlierCheckpoints(t *testing.T) {
	sealer := testSealer(t, 1)
	log := testLog(t, sealer, 12)
	var kept [][]byte
	for _, e := range log.entries {
		if len(e.Checkpoint) > 0 {
			kept = append(kept, e.Checkpoint)
		}
	}
	if report := verify(t, log, sealer, kept...); report.Problem != nil {
		t.Fatalf("the log does not contain its own checkpoints: %v", report.Problem)
	}
	rolled := &memoryLog{}
	rolled.seal(t, sealer, draft(interlock.EventDecision, "seed-0", `{"n":0}`))
	if report := verify(t, rolled, sealer); report.Problem != nil {
		t.Fatalf("the short log must be sound in itself: %v", report.Problem)
	}
	report := verify(t, rolled, sealer, kept...)
	if report.Problem == nil || report.Problem.Kind != auditlog.ProblemCut || report.Problem.Index != 1 {
		t.Errorf("found %v, want the tail cut at 1", report.Problem)
	}
	empty := &memoryLog{}
	if report := verify(t, empty, sealer, kept[0]); report.Problem == nil || report.Problem.Kind != auditlog.ProblemCut {
		t.Errorf("found %v, want a cut log", report.Problem)
	}
	rewritten := testLog(t, sealer, 0)
	for i := range 12 {
		rewritten.seal(t, sealer, draft(interlock.EventDecision, "seed-0", `{"other":`+string(rune('0'+i%10))+`}`))
	}
	report = verify(t, rewritten, sealer, kept[1])
	if report.Problem == nil || report.Problem.Kind != auditlog.ProblemChanged {
		t.Errorf("found %v, want another history", report.Problem)
	}
	if _, err := auditlog.Verify(t.Context(), log, sealer.Public(),
		auditlog.VerifyOptions{Earlier: [][]byte{testLog(t, testSealer(t, 2), 3).head.Checkpoint}}); err == nil {
		t.Error("a checkpoint of another log was accepted")
	}
}

// Any single flipped bit of any body, hash or checkpoint is found.
func TestVerifyFindsAnyFlippedByte(t *testing.T) {
	sealer := testSealer(t, 1)
	sound := testLog(t, sealer, 9)
	for i, e := range sound.entries {
		for part, length := range []int{len(e.Body), len(e.Hashes)} {
			for at := range length {
				log := sound.clone()
				[][]byte{log.entries[i].Body, log.entries[i].Hashes}[part][at] ^= 0x20
				if report := verify(t, log, sealer); report.Problem == nil {
					t.Fatalf("entry %d part %d byte %d: the change was not found", i, part, at)
				} else if report.Problem.Index != int64(i) {
					t.Fatalf("entry %d part %d byte %d: found %v", i, part, at, report.Problem)
				}
			}
		}
	}
}

func TestKeysRefuse(t *testing.T) {
	private, public, err := auditlog.GenerateKey(zeroes(3))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty": "", "the other half": public, "cut": private[:len(private)-4], "not a key": "hello",
	} {
		if _, err := auditlog.NewSealer(text); err == nil {
			t.Errorf("%s is accepted as a private key", name)
		} else if strings.Contains(err.Error(), "PRIVATE") || len(text) > 8 && strings.Contains(err.Error(), text) {
			t.Errorf("%s: the error shows the key: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"empty": "", "the other half": private, "cut": public[:len(public)-4], "not a key": "hello",
	} {
		if _, err := auditlog.ParsePublicKey(text); err == nil {
			t.Errorf("%s is accepted as a public key", name)
		}
	}
	key, err := auditlog.ParsePublicKey(public + "\n")
	if err != nil {
		t.Fatal(err)
	}
	if key.String() != public {
		t.Errorf("the key comes back as %q", key)
	}
}

func TestCheckHead(t *testing.T) {
	sealer := testSealer(t, 1)
	if err := sealer.CheckHead(ledger.Head{}); err != nil {
		t.Errorf("an empty log: %v", err)
	}
	log := testLog(t, sealer, 5)
	if err := sealer.CheckHead(log.head); err != nil {
		t.Errorf("its own log: %v", err)
	}
	if err := testSealer(t, 2).CheckHead(log.head); err == nil {
		t.Error("a head signed with another key is accepted")
	}
	smaller := log.head
	smaller.Size, smaller.Edge = 4, smaller.Edge[:32]
	if err := sealer.CheckHead(smaller); err == nil {
		t.Error("a head that is not its checkpoint's is accepted")
	}
}

// Governance and safety events carry a signature that names its key; every other event is covered by the signed head. One
// that should carry a signature and does not is not accepted, even in a log whose head is signed.
func TestGovernanceEventsAreSigned(t *testing.T) {
	spec.Covers(t, "MACE-SIG-1", "MACE-SIG-3", "MACE-1-3")
	sealer := testSealer(t, 1)
	for kind, want := range map[interlock.EventType]bool{
		interlock.EventApproval: true, interlock.EventApprovalRefused: true, interlock.EventAlert: true, interlock.EventIntegrity: true,
		interlock.EventIdentity: true, interlock.EventRuleset: true, interlock.EventMode: true,
		interlock.EventBlock: true, interlock.EventReviewRequest: true, interlock.EventIntegritySummary: true,
		interlock.EventRedaction: true, interlock.EventPersonal: true, interlock.EventDecision: false,
		interlock.EventOutcome: false, interlock.EventRefusal: false,
		interlock.EventApprovalExpired: false, interlock.EventSettled: false,
	} {
		log := &memoryLog{}
		log.seal(t, sealer, draft(kind, "seed", `{"n":1}`))
		event, err := auditlog.ParseEvent(log.entries[0].Body)
		if err != nil {
			t.Fatal(err)
		}
		if got := event.Signature != "" && event.Key == sealer.Public().ID() && event.Algorithm == "ed25519"; got != want {
			t.Errorf("%s: signed %v, want %v", kind, got, want)
		}
		if report := verify(t, log, sealer); report.Problem != nil || (report.Signed == 1) != want {
			t.Errorf("%s: %+v", kind, report)
		}
	}
	// A safety event that a version before this one wrote without a signature of its own is as sound as it was.
	older := &memoryLog{}
	older.seal(t, sealer, draft(interlock.EventDecision, "seed", `{"n":1}`))
	body := strings.Replace(string(older.entries[0].Body), `"event_type":"DECISION"`, `"event_type":"SAFETY_BLOCK_EVENT"`, 1)
	body = strings.Replace(body, older.entries[0].ID, auditlog.EventID("seed", 1, interlock.EventBlock), 1)
	older.entries[0].Body, older.entries[0].ID = []byte(body), auditlog.EventID("seed", 1, interlock.EventBlock)
	older.entries[0].Type = interlock.EventBlock
	rehash(older, 0)
	if report := verify(t, older, sealer); report.Problem != nil && strings.Contains(report.Problem.Message, "its own signature") {
		t.Errorf("a block of an older version: %v", report.Problem)
	}
	// The forger has the head's key but not the event's signature: unsigned, signed by another, and signed over another text.
	for name, forge := range map[string]func(body string) string{
		"unsigned": func(body string) string {
			body = strings.Replace(body, `"key_id":"`+sealer.Public().ID()+`",`, "", 1)
			from := strings.Index(body, `"sig_alg"`)
			return body[:from] + body[strings.Index(body, `"snapshot_ids"`):]
		},
		"another key": func(body string) string {
			return strings.Replace(body, sealer.Public().ID(), testSealer(t, 2).Public().ID(), 1)
		},
		"another text": func(body string) string { return strings.Replace(body, `"role":"agent"`, `"role":"other"`, 1) },
	} {
		log := &memoryLog{}
		log.seal(t, sealer, draft(interlock.EventMode, "seed", `{"n":1}`))
		body := forge(string(log.entries[0].Body))
		if _, err := auditlog.ParseEvent([]byte(body)); err != nil {
			t.Fatalf("%s: the forgery is not even an event: %v", name, err)
		}
		log.entries[0].Body = []byte(body)
		rehash(log, 0)
		report := verify(t, log, sealer)
		if report.Problem == nil || !strings.Contains(report.Problem.Message, "sign") {
			t.Errorf("%s: found %v", name, report.Problem)
		}
	}
}
