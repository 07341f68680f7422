package witness_test

import (
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"interlock/internal/witness"
)

// A grown log is the hashes of a tree as it grows.
type grown struct{ hashes []tlog.Hash }

func (g *grown) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		out[i] = g.hashes[x]
	}
	return out, nil
}

func (g *grown) grow(t *testing.T, n int64, text string) {
	t.Helper()
	more, err := tlog.StoredHashes(n, []byte(text), g)
	if err != nil {
		t.Fatal(err)
	}
	g.hashes = append(g.hashes, more...)
}

// TestAgrees: whatever a log's own tree proves of two sizes holds, and nothing else does.
func TestAgrees(t *testing.T) {
	const most = 40
	var log, fork grown
	heads, forked := make([]witness.Head, most+1), make([]witness.Head, most+1)
	for n := int64(0); n < most; n++ {
		log.grow(t, n, string(rune('a'+n)))
		fork.grow(t, n, map[bool]string{true: "other", false: string(rune('a' + n))}[n == 5])
		root, err := tlog.TreeHash(n+1, &log)
		other, err2 := tlog.TreeHash(n+1, &fork)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		heads[n+1] = witness.Head{Origin: "log", Size: n + 1, Root: root}
		forked[n+1] = witness.Head{Origin: "log", Size: n + 1, Root: other}
	}
	for older := int64(1); older <= most; older++ {
		for newer := older; newer <= most; newer++ {
			hashes, err := tlog.ProveTree(newer, older, &log)
			if err != nil {
				t.Fatal(err)
			}
			proof := make(witness.Proof, len(hashes))
			for i := range hashes {
				proof[i] = hashes[i]
			}
			read := witness.ParseProofs(witness.Proofs([]witness.Proof{proof, nil}))
			if len(read) != 2 || read[1] != nil || read[0] == nil {
				t.Fatalf("%d to %d: %d proofs", older, newer, len(read))
			}
			if !heads[older].Agrees(heads[newer], read[0]) || !heads[newer].Agrees(heads[older], read[0]) {
				t.Errorf("%d is a beginning of %d", older, newer)
			}
			if newer > 5 && (heads[older].Agrees(forked[newer], proof) || forked[newer].Agrees(heads[older], proof)) {
				t.Errorf("%d is no beginning of another log's %d", older, newer)
			}
			if older > 5 && forked[older].Agrees(heads[newer], proof) {
				t.Errorf("another log's %d is no beginning of %d", older, newer)
			}
			if heads[older].Agrees(heads[newer], append(proof[:len(proof):len(proof)], [32]byte{})) {
				t.Errorf("%d to %d: a hash too many", older, newer)
			}
			if len(proof) > 0 && heads[older].Agrees(heads[newer], proof[1:]) {
				t.Errorf("%d to %d: a hash too few", older, newer)
			}
		}
	}
	if (witness.Head{}).Agrees(heads[1], nil) || heads[1].Agrees(witness.Head{Origin: "other", Size: 1, Root: heads[1].Root}, nil) {
		t.Error("no head, and one of another log, agree")
	}
}

// TestContradicted: news counts only if it is shown to go on from all that is held.
func TestContradicted(t *testing.T) {
	text := []byte("log\n2\nAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=\n\nsigned\n")
	newest, ok := witness.ParseHead(text)
	if !ok {
		t.Fatal("the checkpoint can't be read")
	}
	other := newest
	other.Root[0]++
	for name, c := range map[string]struct {
		news witness.News
		want bool
	}{
		"nothing was held":          {witness.News{Checkpoint: text, Held: []witness.Head{{}, {}}}, false},
		"the same":                  {witness.News{Checkpoint: text, Held: []witness.Head{newest}, Proofs: []witness.Proof{{}}}, false},
		"no proof":                  {witness.News{Checkpoint: text, Held: []witness.Head{newest}}, true},
		"a proof that is not had":   {witness.News{Checkpoint: text, Held: []witness.Head{newest}, Proofs: []witness.Proof{nil}}, true},
		"another of the size":       {witness.News{Checkpoint: text, Held: []witness.Head{other}, Proofs: []witness.Proof{{}}}, true},
		"the second contradicts":    {witness.News{Checkpoint: text, Held: []witness.Head{{}, other}, Proofs: []witness.Proof{{}, {}}}, true},
		"news that can't be read":   {witness.News{Checkpoint: []byte("x"), Held: []witness.Head{newest}, Proofs: []witness.Proof{{}}}, true},
		"nothing was held, no news": {witness.News{Held: []witness.Head{{}}}, false},
	} {
		if held, _, yes := c.news.Contradicted(); yes != c.want || yes && held.Size == 0 {
			t.Errorf("%s: %v", name, yes)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int{"": 0, "5": 1, "5 0": 2, "5 6 7": 0, "-1": 0, "x": 0, "5 ": 0} {
		if sizes, ok := witness.ParseSizes(text); len(sizes) != want || ok != (want > 0) {
			t.Errorf("%q: %v", text, sizes)
		}
	}
	if text := witness.Sizes([]witness.Head{{Size: 12}, {}}); text != "12 0" {
		t.Error(text)
	}
}
