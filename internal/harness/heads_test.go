package harness

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"interlock/internal/witness"
)

// A testLog makes heads and proofs.
type testLog struct {
	t      *testing.T
	origin string
	hashes []tlog.Hash
}

func (l *testLog) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		if x >= int64(len(l.hashes)) {
			return nil, errors.New("the log has no such entry")
		}
		out[i] = l.hashes[x]
	}
	return out, nil
}

func newTestLog(t *testing.T, origin string, size int64, differs int64) *testLog {
	l := &testLog{t: t, origin: origin}
	for n := int64(0); n < size; n++ {
		text := fmt.Sprint(n)
		if n >= differs {
			text += "'"
		}
		more, err := tlog.StoredHashes(n, []byte(text), l)
		if err != nil {
			t.Fatal(err)
		}
		l.hashes = append(l.hashes, more...)
	}
	return l
}

func (l *testLog) checkpoint(size int64) []byte {
	root, err := tlog.TreeHash(size, l)
	if err != nil {
		l.t.Fatal(err)
	}
	return []byte(fmt.Sprintf("%s\n%d\n%s\n\nsigned\n", l.origin, size, base64.StdEncoding.EncodeToString(root[:])))
}

// news is what an honest server answers to who holds some heads.
func (l *testLog) news(size int64, held []witness.Head) *witness.News {
	n := &witness.News{Checkpoint: l.checkpoint(size), Held: held}
	for _, head := range held {
		var proof witness.Proof
		if head.Size > 0 {
			hashes, err := tlog.ProveTree(max(size, head.Size), min(size, head.Size), l)
			if err == nil {
				proof = witness.Proof{}
				for _, h := range hashes {
					proof = append(proof, h)
				}
			}
		}
		n.Proofs = append(n.Proofs, proof)
	}
	return n
}

// TestKeepHeads: never backwards, never without a proof, never over another log's, and in two places.
func TestKeepHeads(t *testing.T) {
	home := t.TempDir()
	files := HeadFiles(home, "claude")
	a, b := newTestLog(t, "log/a", 300, 300), newTestLog(t, "log/b", 10, 0)
	keep := func(l *testLog, size int64) {
		t.Helper()
		if err := KeepHeads(home, "claude", l.news(size, HeldHeads(home, "claude", l.origin))); err != nil {
			t.Fatalf("%s %d: %v", l.origin, size, err)
		}
	}
	want := func(path string, l *testLog, size int64) {
		t.Helper()
		if have, err := os.ReadFile(path); err != nil || string(have) != string(l.checkpoint(size)) {
			t.Errorf("%s holds %q (%v), want %s %d", filepath.Base(path), have, err, l.origin, size)
		}
	}
	keep(a, 5)
	want(files[0], a, 5)
	want(files[1], a, 5)
	keep(a, 4) // an answer that was slower
	want(files[0], a, 5)
	keep(a, 6)
	want(files[0], a, 6)
	want(files[1], a, 5)
	keep(a, 79)
	want(files[1], a, 5)
	keep(a, 81) // which comes after one that is close to a multiple of every
	want(files[1], a, 81)
	keep(b, 1)
	want(files[0], b, 1)
	want(aside(files[0], "log/a"), a, 81)
	keep(a, 90)
	want(aside(files[0], "log/a"), a, 90)
	want(files[0], b, 1)

	if err := os.Remove(aside(files[0], "log/a")); err != nil { // the second place knows still
		t.Fatal(err)
	}
	keep(a, 100)
	if _, head := headAt(files[0], "log/a"); head.Size != 100 {
		t.Errorf("%d entries in the first place", head.Size)
	}
	if err := KeepHeads(home, "claude", &witness.News{Checkpoint: []byte("garbage")}); err == nil {
		t.Error("garbage was kept")
	}
}

// TestContradictedHeads: a log that went on from elsewhere, or back, moves nothing, and what contradicts is kept beside.
func TestContradictedHeads(t *testing.T) {
	for name, other := range map[string]*testLog{
		"a fork":     newTestLog(t, "log/a", 150, 70),
		"a rollback": newTestLog(t, "log/a", 70, 300),
	} {
		home := t.TempDir()
		log := newTestLog(t, "log/a", 300, 300)
		files := HeadFiles(home, "codex")
		for _, size := range []int64{3, 99} {
			if err := KeepHeads(home, "codex", log.news(size, HeldHeads(home, "codex", "log/a"))); err != nil {
				t.Fatal(err)
			}
		}
		for n, want := range []bool{true, false} {
			size := map[string]int64{"a fork": 140, "a rollback": 70}[name] - int64(n)
			news := other.news(size, HeldHeads(home, "codex", "log/a"))
			if _, _, yes := news.Contradicted(); !yes {
				t.Errorf("%s passes", name)
			}
			if err := KeepHeads(home, "codex", news); err == nil {
				t.Errorf("%s was kept", name)
			}
			if first, err := KeepContradiction(home, "codex", news); err != nil || first != want {
				t.Errorf("%s: %v %v", name, first, err)
			}
		}
		if have, err := os.ReadFile(files[0]); err != nil || string(have) != string(log.checkpoint(99)) {
			t.Errorf("%s moved what was held: %q", name, have)
		}
		if kept := strings.Join(KeptFiles(home, "codex"), " "); strings.Count(kept, ".contradicts") != 2 {
			t.Errorf("%s: %s", name, kept)
		}
	}
}

// TestHeadFiles: no pattern of one star finds both places without finding what has nothing to do with either.
func TestHeadFiles(t *testing.T) {
	for _, agent := range append(Names(), "windsurf", "cline", "grok") {
		files := HeadFiles("/home/ann", agent)
		if strings.Contains(files[1], "interlock") || filepath.Ext(files[0]) == filepath.Ext(files[1]) ||
			strings.Count(files[0], "/") == strings.Count(files[1], "/") {
			t.Errorf("%s and %s", files[0], files[1])
		}
	}
}
