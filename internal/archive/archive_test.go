package archive_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"interlock"
	"interlock/internal/archive"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// fixed is the randomness of test keys: visibly no secret.
type fixed byte

func (f fixed) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(f)
	}
	return len(p), nil
}

func sealer(t testing.TB, number byte) *auditlog.Sealer {
	t.Helper()
	private, _, err := auditlog.GenerateKey(fixed(number))
	if err != nil {
		t.Fatal(err)
	}
	s, err := auditlog.NewSealer(private)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A log is one in memory.
type log struct {
	entries []interlock.Entry
	head    ledger.Head
	blobs   []ledger.Blob
}

var recorded = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func newLog(t testing.TB, n int) *log {
	t.Helper()
	l := &log{blobs: []ledger.Blob{{Digest: "sha256:aa", Text: []byte("a")}, {Digest: "sha256:bb", Text: []byte("b")}}}
	var drafts []ledger.Draft
	var sequences []int64
	for i := range n {
		drafts = append(drafts, ledger.Draft{Type: interlock.EventDecision, Run: "run", Seed: "seed", Actor: "agent", Role: "agent",
			Recorded: recorded, Payload: fmt.Appendf(nil, `{"n":%d}`, i)})
		sequences = append(sequences, int64(i+1))
	}
	var err error
	if l.entries, l.head, err = sealer(t, 1).Seal(ledger.Head{}, drafts, sequences, nil); err != nil {
		t.Fatal(err)
	}
	for i := range l.entries {
		if i%3 == 0 {
			l.entries[i].Inputs = fmt.Appendf(nil, "inputs of %d", i)
		}
	}
	return l
}

func (l *log) Head(context.Context) (ledger.Head, error) { return l.head, nil }

func (l *log) Walk(ctx context.Context, visit func(interlock.Entry) error) error {
	return l.Recorded(ctx, 0, visit)
}

func (l *log) Recorded(_ context.Context, from int64, visit func(interlock.Entry) error) error {
	for _, e := range l.entries[from:] {
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}

func (l *log) Blobs(_ context.Context, visit func(ledger.Blob) error) error {
	for _, b := range l.blobs {
		if err := visit(b); err != nil {
			return err
		}
	}
	return nil
}

func (l *log) Blob(_ context.Context, digest interlock.Digest) ([]byte, bool, error) {
	for _, b := range l.blobs {
		if b.Digest == digest {
			return b.Text, true, nil
		}
	}
	return nil, false, nil
}

// release does what a store does.
func (l *log) release(from, upTo int64) {
	for i := from; i < upTo; i++ {
		l.entries[i].Body, l.entries[i].Inputs, l.entries[i].Checkpoint = nil, nil, nil
	}
	l.blobs = nil
}

func order(t testing.TB, first, size int64) archive.Order {
	s := sealer(t, 1)
	return archive.Order{First: first, Size: size, Before: recorded.Add(time.Hour), Key: s.Public(), Sign: s.SignPrefix}
}

func write(t testing.TB, dir string, l *log, first, size int64) archive.Part {
	t.Helper()
	part, err := archive.Write(t.Context(), dir, l, order(t, first, size))
	if err != nil {
		t.Fatal(err)
	}
	return part
}

func opened(t testing.TB, dirs ...string) *archive.Archives {
	t.Helper()
	a, err := archive.Open(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Check(t.Context(), sealer(t, 1).Public()); err != nil {
		t.Fatal(err)
	}
	return a
}

// A tiles is a static log's files as a client of Go's checksum database reads them.
type tiles struct {
	dir  string
	seen int
}

func (r *tiles) Height() int                     { return 8 }
func (r *tiles) SaveTiles([]tlog.Tile, [][]byte) {}
func (r *tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var out [][]byte
	for _, tile := range wanted {
		r.seen++
		// C2SP tlog-tiles leaves the height out of the path, which is the only difference.
		path := strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
		data, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(path)))
		if err != nil {
			return nil, err
		}
		out = append(out, data)
	}
	return out, nil
}

// TestAnyClientVerifies: a client that knows nothing of Interlock opens the checkpoint as a signed note, reads the bundles as C2SP
// has them, and proves each entry and the consistency with an older head by the hash tiles alone.
func TestAnyClientVerifies(t *testing.T) {
	dir, l := t.TempDir(), newLog(t, 1300)
	write(t, dir, l, 0, 512)
	write(t, dir, l, 512, 1280)
	text, err := os.ReadFile(filepath.Join(dir, "checkpoint"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(filepath.Join(dir, "log.pub"))
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(strings.TrimSpace(string(key)))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := note.Open(text, note.VerifierList(verifier))
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	var root string
	lines := strings.Split(signed.Text, "\n")
	if _, err := fmt.Sscan(lines[1], &size); err != nil || lines[0] != verifier.Name() {
		t.Fatal(signed.Text, err)
	}
	root = lines[2]
	hash, err := tlog.ParseHash(root)
	if err != nil || size != 1280 {
		t.Fatal(size, err)
	}
	reader := tlog.TileHashReader(tlog.Tree{N: size, Hash: hash}, &tiles{dir: dir})
	index := int64(0)
	for bundle := range size / 256 {
		data, err := os.ReadFile(filepath.Join(dir, "tile", "entries", fmt.Sprintf("%03d", bundle)))
		if err != nil {
			t.Fatal(err)
		}
		for len(data) > 0 {
			n := int(binary.BigEndian.Uint16(data))
			body := data[2 : 2+n]
			data = data[2+n:]
			proof, err := tlog.ProveRecord(size, index, reader)
			if err != nil {
				t.Fatal(err)
			}
			if err := tlog.CheckRecord(proof, size, hash, index, tlog.RecordHash(body)); err != nil {
				t.Fatalf("entry %d: %v", index, err)
			}
			index++
		}
	}
	if index != size {
		t.Errorf("%d entries of %d", index, size)
	}
	if _, err := tlog.ProveTree(size, 512, reader); err != nil {
		t.Error(err)
	}
}

// TestTilePathsAreC2SPs holds the names of tiles to the ones of Go's checksum database, which differ in the height alone.
func TestTilePathsAreC2SPs(t *testing.T) {
	for _, number := range []int64{0, 7, 255, 999, 1000, 1234067, 999999999} {
		for _, width := range []int{1, 255, 256} {
			want := strings.Replace(tlog.Tile{H: 8, L: 3, N: number, W: width}.Path(), "tile/8/", "tile/", 1)
			if got := auditlog.TilePath(3, number, width); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
	if got := auditlog.BundlePath(1234067); got != "tile/entries/x001/x234/067" {
		t.Error(got)
	}
}

// TestWhatWasWrittenIsRead: joined with a log that has let its content go, archives give all of it back, from whichever directory.
func TestWhatWasWrittenIsRead(t *testing.T) {
	one, two, whole := t.TempDir(), t.TempDir(), newLog(t, 800)
	l := newLog(t, 800)
	write(t, one, l, 0, 256)
	write(t, two, l, 256, 768)
	l.release(0, 768)
	joined := opened(t, one, two).Over(l)
	err := joined.Recorded(t.Context(), 0, func(e interlock.Entry) error {
		want := whole.entries[e.Index]
		if !bytes.Equal(e.Body, want.Body) || !bytes.Equal(e.Inputs, want.Inputs) || !bytes.Equal(e.Checkpoint, want.Checkpoint) {
			t.Errorf("entry %d is another", e.Index)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if text, found, err := joined.Blob(t.Context(), "sha256:bb"); err != nil || !found || string(text) != "b" {
		t.Errorf("%q, %v, %v", text, found, err)
	}
	blobs := 0
	if err := joined.Blobs(t.Context(), func(ledger.Blob) error { blobs++; return nil }); err != nil || blobs != 2 {
		t.Errorf("%d blobs, %v", blobs, err)
	}
	report, err := auditlog.Verify(t.Context(), joined, sealer(t, 1).Public(), auditlog.VerifyOptions{})
	if err != nil || report.Problem != nil || report.Entries != 800 || report.Released != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	// One that goes on from another is verified by itself as far as it goes.
	alone := opened(t, two).Alone()
	report, err = auditlog.Verify(t.Context(), alone, sealer(t, 1).Public(), auditlog.VerifyOptions{Before: alone.Whole()})
	if err != nil || report.Problem != nil || report.Entries != 768 || report.Released != 256 {
		t.Errorf("%+v, %v", report, err)
	}
	if report, err = auditlog.Verify(t.Context(), alone, sealer(t, 1).Public(), auditlog.VerifyOptions{}); err != nil || report.Problem == nil {
		t.Errorf("nothing says that the beginning is elsewhere, and it is sound: %+v, %v", report, err)
	}
}

// TestEveryByteCounts: whatever bit of whatever file is flipped, checking says that the archive is not sound.
func TestEveryByteCounts(t *testing.T) {
	dir, l := t.TempDir(), newLog(t, 520)
	part := write(t, dir, l, 0, 512)
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "log.pub" { // whoever verifies has a key of his own
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for at := 0; at < len(data); at += len(data)/7 + 1 {
			data[at] ^= 1
			must(t, os.WriteFile(path, data, 0o600))
			a, err := archive.Open(dir)
			if err == nil {
				if p, _ := a.Part(0); p.Digest != part.Digest {
					err = errors.New("the event names another") // which is for whoever has the log to see
				} else {
					err = a.Check(t.Context(), sealer(t, 1).Public())
				}
			}
			if err == nil {
				t.Errorf("byte %d of %s is another, and nobody notices", at, path)
			}
			data[at] ^= 1
		}
		return os.WriteFile(path, data, 0o600)
	})
	must(t, err)
	if files < 10 {
		t.Errorf("only %d files", files)
	}
	opened(t, dir)
}

// TestRefusals: what is not this log's, or is there already, is left alone.
func TestRefusals(t *testing.T) {
	l := newLog(t, 600)
	other := sealer(t, 2)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "log.pub"), []byte(other.Public().String()+"\n"), 0o600))
	refused(t, "the directory holds an archive of another log", dir, l, order(t, 0, 256))
	dir = t.TempDir()
	write(t, dir, l, 0, 512)
	refused(t, "which were never archived", dir, l, order(t, 256, 512))
	bare := newLog(t, 600)
	bare.release(0, 1)
	refused(t, "entry 0 is archived already, and no event says so", t.TempDir(), bare, order(t, 0, 256))
	refused(t, "the log has 600 entries of 768", t.TempDir(), l, order(t, 0, 768))
	failing := order(t, 0, 256)
	failing.Sign = func(auditlog.Checkpoint) ([]byte, error) { return nil, errors.New("the key is gone") }
	refused(t, "the key is gone", t.TempDir(), l, failing)
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	refused(t, "the directory can't be made", file, l, order(t, 0, 256))
	if _, err := archive.Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "holds no archive") {
		t.Error(err)
	}
}

// TestBrokenOff: what was written before a disk failed, or the process ended, is written over; what was finished is taken as it is.
func TestBrokenOff(t *testing.T) {
	dir, l := t.TempDir(), newLog(t, 600)
	ctx, cancel := context.WithCancel(t.Context())
	broken := order(t, 0, 512)
	broken.Sign = func(c auditlog.Checkpoint) ([]byte, error) { cancel(); return sealer(t, 1).SignPrefix(c) }
	if _, err := archive.Write(ctx, dir, l, broken); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := archive.Open(dir); err == nil {
		t.Error("what was broken off opens")
	}
	first := write(t, dir, l, 0, 256) // another bound than before
	if again := write(t, dir, l, 0, 512); again.Digest != first.Digest || again.Size != 256 {
		t.Errorf("%+v, want what was finished", again)
	}
	opened(t, dir)
}

func refused(t *testing.T, want, dir string, l *log, o archive.Order) {
	t.Helper()
	if _, err := archive.Write(t.Context(), dir, l, o); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
