package auditlog_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/auditlog"
)

func TestProofs(t *testing.T) {
	sealer := testSealer(t, 1)
	key := sealer.Public()
	log := testLog(t, sealer, 21)
	for _, e := range log.entries {
		proof, err := auditlog.Prove(t.Context(), log, log.head.Checkpoint, e.Index)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := auditlog.ParseProof(proof.Text())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(proof, parsed); diff != "" {
			t.Fatalf("proof %d does not come back (-want +got):\n%s", e.Index, diff)
		}
		checkpoint, err := parsed.Check(key, e.Body)
		if err != nil || checkpoint.Size != 21 {
			t.Errorf("proof of entry %d: %v, size %d", e.Index, err, checkpoint.Size)
		}
		if _, err := parsed.Check(key, log.entries[(e.Index+1)%21].Body); err == nil {
			t.Errorf("the proof of entry %d proves another event", e.Index)
		}
		if _, err := parsed.Check(testSealer(t, 2).Public(), e.Body); err == nil {
			t.Errorf("the proof of entry %d holds with another key", e.Index)
		}
		parsed.Index++
		if _, err := parsed.Check(key, e.Body); err == nil {
			t.Errorf("entry %d is proved at another place", e.Index)
		}
	}
	if _, err := auditlog.Prove(t.Context(), log, log.head.Checkpoint, 21); err == nil {
		t.Error("an entry that is not there is proved")
	}
	if _, err := auditlog.Prove(t.Context(), log, log.head.Checkpoint, -1); err == nil {
		t.Error("entry -1 is proved")
	}
}

func TestConsistencyProofs(t *testing.T) {
	sealer := testSealer(t, 1)
	log := testLog(t, sealer, 21)
	newest, err := sealer.Public().OpenCheckpoint(log.head.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range log.entries {
		if len(e.Checkpoint) == 0 {
			continue
		}
		older, err := sealer.Public().OpenCheckpoint(e.Checkpoint)
		if err != nil {
			t.Fatal(err)
		}
		proof, err := auditlog.ProveConsistency(t.Context(), log, newest.Size, older.Size)
		if err != nil {
			t.Fatal(err)
		}
		if err := auditlog.CheckConsistency(proof, newest, older); err != nil {
			t.Errorf("%d in %d: %v", older.Size, newest.Size, err)
		}
		older.Root[0] ^= 1
		if err := auditlog.CheckConsistency(proof, newest, older); err == nil {
			t.Errorf("%d in %d: another history is consistent", older.Size, newest.Size)
		}
	}
}

func TestParseProofRefuses(t *testing.T) {
	log := testLog(t, testSealer(t, 1), 5)
	proof, err := auditlog.Prove(t.Context(), log, log.head.Checkpoint, 3)
	if err != nil {
		t.Fatal(err)
	}
	good := string(proof.Text())
	with := strings.Replace(good, "\nindex", "\nextra aGVsbG8=\nindex", 1)
	if _, err := auditlog.ParseProof([]byte(with)); err != nil {
		t.Errorf("an extra line is refused: %v", err)
	}
	for name, bad := range map[string]string{
		"empty": "", "no header": good[5:], "no index": strings.Replace(good, "index 3\n", "", 1),
		"index -1": strings.Replace(good, "index 3", "index -1", 1), "index 03": strings.Replace(good, "index 3", "index 03", 1),
		"bad hash": strings.Replace(good, "=\n", "\n", 1), "bad extra": strings.Replace(good, "\nindex", "\nextra !\nindex", 1),
		"no checkpoint": strings.SplitAfter(good, "\n\n")[0][:40], "too long": good + strings.Repeat("x", 70<<10),
		"too many hashes": strings.Replace(good, "index 3\n", "index 3\n"+strings.Repeat(strings.Repeat("A", 43)+"=\n", 70), 1),
	} {
		if _, err := auditlog.ParseProof([]byte(bad)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// FuzzParseProof holds the parser to this: what it accepts, written again without the extra line, parses to the same.
func FuzzParseProof(f *testing.F) {
	log := testLog(f, testSealer(f, 1), 5)
	proof, err := auditlog.Prove(f.Context(), log, log.head.Checkpoint, 3)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(proof.Text())
	f.Add([]byte("c2sp.org/tlog-proof@v1\nextra aGVsbG8=\nindex 0\n\nx\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		proof, err := auditlog.ParseProof(text)
		if err != nil {
			return
		}
		again, err := auditlog.ParseProof(proof.Text())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(proof, again); diff != "" {
			t.Errorf("(-first +again):\n%s", diff)
		}
	})
}

func copyOf(text []byte, checkpoint []byte) auditlog.Copy {
	return auditlog.Copy{Checkpoint: checkpoint, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
}

func TestCopyVerifies(t *testing.T) {
	sealer := testSealer(t, 1)
	log := testLog(t, sealer, 23)
	var out bytes.Buffer
	if err := auditlog.WriteLines(t.Context(), &out, log); err != nil {
		t.Fatal(err)
	}
	for _, checkpoint := range [][]byte{log.head.Checkpoint, nil} {
		report := verify(t, copyOf(out.Bytes(), checkpoint), sealer)
		if report.Problem != nil || report.Entries != 23 {
			t.Fatalf("the copy: %+v %v", report, report.Problem)
		}
	}
	lines := bytes.SplitAfter(out.Bytes(), []byte("\n"))
	lines = lines[:len(lines)-1]
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	all := func(n int) [][]byte { return append([][]byte(nil), lines[:n]...) }
	for _, test := range []struct {
		name  string
		text  []byte
		kind  auditlog.ProblemKind
		index int64
	}{
		{"edited", bytes.Replace(out.Bytes(), []byte(`{"n":5}`), []byte(`{"n":7}`), 1), auditlog.ProblemChanged, 5},
		{"edited where only the next entry tells",
			bytes.Replace(out.Bytes(), []byte(`"trace_id":"trace"`), []byte(`"trace_id":"other"`), 1), auditlog.ProblemChanged, 0},
		{"line removed", join(append(all(5), lines[6:]...)...), auditlog.ProblemRemoved, 5},
		{"line twice", join(append(all(6), lines[5:]...)...), auditlog.ProblemDuplicated, 5},
		{"head cut", join(lines[3:]...), auditlog.ProblemRemoved, 0},
		{"tail cut", join(lines[:20]...), auditlog.ProblemCut, 20},
		{"not a line", join(append(all(5), []byte("hello\n"))...), auditlog.ProblemChanged, 5},
		{"cut in a line", out.Bytes()[:len(out.Bytes())-10], auditlog.ProblemChanged, 22},
		{"lines swapped", join(append(append(all(5), lines[6], lines[5]), lines[7:]...)...), auditlog.ProblemRemoved, 5},
	} {
		report := verify(t, copyOf(test.text, log.head.Checkpoint), sealer)
		if report.Problem == nil || report.Problem.Kind != test.kind || report.Problem.Index != test.index {
			t.Errorf("%s: found %+v, want %s at %d", test.name, report.Problem, test.kind, test.index)
		}
	}
}
