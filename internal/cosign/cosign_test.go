package cosign

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"interlock/internal/witness"
	"interlock/spec"
)

// A tree is a log as it grows, by the mathematics of golang.org/x/mod, which is not ours.
type tree struct {
	t      *testing.T
	hashes []tlog.Hash
	size   int64
	signer note.Signer
	public string
}

func (l *tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		found[i] = l.hashes[index]
	}
	return found, nil
}

func newTree(t *testing.T, origin string) *tree {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, origin)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	return &tree{t: t, signer: signer, public: public}
}

func (l *tree) grow(entries ...string) {
	l.t.Helper()
	for _, entry := range entries {
		hashes, err := tlog.StoredHashes(l.size, []byte(entry), l)
		if err != nil {
			l.t.Fatal(err)
		}
		l.hashes, l.size = append(l.hashes, hashes...), l.size+1
	}
}

// head is the signed checkpoint of a size.
func (l *tree) head(size int64) []byte {
	l.t.Helper()
	root := tlog.Hash(emptyRoot)
	if size > 0 {
		var err error
		if root, err = tlog.TreeHash(size, l); err != nil {
			l.t.Fatal(err)
		}
	}
	signed, err := note.Sign(&note.Note{Text: fmt.Sprintf("%s\n%d\n%s\n", l.signer.Name(), size, root)}, l.signer)
	if err != nil {
		l.t.Fatal(err)
	}
	return signed
}

func (l *tree) request(old, size int64) []byte {
	l.t.Helper()
	r := Request{Old: old, Checkpoint: l.head(size)}
	if old > 0 && old < size {
		proof, err := tlog.ProveTree(size, old, l)
		if err != nil {
			l.t.Fatal(err)
		}
		for _, hash := range proof {
			r.Proof = append(r.Proof, hash)
		}
	}
	return r.Append(nil)
}

func newWitness(t *testing.T, dir string, logs ...Log) (*Witness, *Verifier) {
	t.Helper()
	private, public, err := GenerateKey(rand.Reader, "witness.example/w1")
	if err != nil {
		t.Fatal(err)
	}
	key, err := ParseKey(private)
	if err != nil {
		t.Fatal(err)
	}
	if key.Public() != public {
		t.Errorf("%s is not %s", key.Public(), public)
	}
	verifier, err := ParseVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(key, dir, logs, func() time.Time { return time.Unix(1679315147, 0) })
	if err != nil {
		t.Fatal(err)
	}
	return w, verifier
}

func known(t *testing.T, l *tree) []Log {
	t.Helper()
	logs, err := ParseLogs("# ours\n" + l.public + "\n")
	if err != nil {
		t.Fatal(err)
	}
	return logs
}

// TestACosignatureIsTheDocuments checks one byte for byte against what tlog-cosignature says is signed, and not by our own code.
func TestACosignatureIsTheDocuments(t *testing.T) {
	log := newTree(t, "example.com/behind-the-sofa")
	log.grow("a", "b", "c")
	w, by := newWitness(t, t.TempDir(), known(t, log)...)
	line, err := w.Add(log.request(0, 3))
	if err != nil {
		t.Fatal(err)
	}
	rest, ok := strings.CutPrefix(line, "\u2014 witness.example/w1 ")
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(rest, "\n"))
	if !ok || !strings.HasSuffix(line, "\n") || err != nil || len(raw) != 4+8+64 {
		t.Fatalf("%q", line)
	}
	id := sha256.Sum256(append([]byte("witness.example/w1\n\x04"), by.key...))
	if !bytes.Equal(raw[:4], id[:4]) || !bytes.Equal(raw[4:12], []byte{0, 0, 0, 0, 0x64, 0x18, 0x50, 0xcb}) {
		t.Errorf("key id and time are % x", raw[:12])
	}
	text, _, _ := strings.Cut(string(log.head(3)), "\n\n")
	if !ed25519.Verify(by.key, []byte("cosignature/v1\ntime 1679315147\n"+text+"\n"), raw[12:]) {
		t.Error("the signature is not over what the document says")
	}
	cosigned := append(log.head(3), line...)
	if at, ok := by.When(cosigned); !ok || at.Unix() != 1679315147 {
		t.Errorf("cosigned at %v, %v", at, ok)
	}
	if _, ok := by.When(log.head(3)); ok {
		t.Error("a checkpoint that nobody cosigned is cosigned")
	}
}

// documented is the example request of tlog-witness.
const documented = `old 20852014
PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=
jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=
5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=
/6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=

example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
— example.com/behind-the-sofa opLqBQsREYCgu6xQkYQwJr9fo45a62DN9EdmHXnZdXNqlcVGlCum2Wks+49/V6267UEjw6QUXTS5Rovnzv++qbSzm9Q=
`

func TestTheDocumentsRequestIsRead(t *testing.T) {
	r, err := ParseRequest([]byte(documented))
	if err != nil || r.Old != 20852014 || len(r.Proof) != 4 || string(r.Append(nil)) != documented {
		t.Errorf("%+v, %v", r, err)
	}
	text, _, _ := strings.Cut(string(r.Checkpoint), "\n\n")
	if head, err := parseHead(text + "\n"); err != nil || head.Origin != "example.com/behind-the-sofa" || head.Size != 20852163 {
		t.Errorf("%+v, %v", head, err)
	}
}

// TestAnswersAreTheProtocols goes through what tlog-witness demands, in one history of a witness.
func TestAnswersAreTheProtocols(t *testing.T) {
	log, other, stranger := newTree(t, "example.com/log"), newTree(t, "example.com/log"), newTree(t, "example.com/unknown")
	log.grow("a", "b", "c", "d", "e")
	other.grow("a", "x", "c", "d", "e", "f", "g") // a history of its own, signed by another key
	fork := &tree{t: t, signer: log.signer}
	fork.grow("a", "b", "c", "X", "e", "f", "g") // one that the log's own key signs
	stranger.grow("a")
	dir := t.TempDir()
	w, by := newWitness(t, dir, known(t, log)...)
	server := httptest.NewServer(w.Handler(slog.New(slog.DiscardHandler)))
	defer server.Close()
	long := Request{Old: 3, Proof: make(witness.Proof, MaxProof+1), Checkpoint: log.head(5)}
	unproved := Request{Old: 3, Checkpoint: log.head(5)}
	needless := Request{Old: 0, Proof: make(witness.Proof, 1), Checkpoint: log.head(3)}
	again := Request{Old: 3, Proof: make(witness.Proof, 1), Checkpoint: log.head(3)}
	for _, step := range []struct {
		name   string
		body   []byte
		status int
		says   string // of a 409 with a size
	}{
		{"nothing", nil, 400, ""},
		{"no size", []byte("\n\n" + string(log.head(3))), 400, ""},
		{"an unknown log", stranger.request(0, 1), 404, ""},
		{"another key", other.request(0, 3), 403, ""},
		{"a size to begin with, without a record", log.request(2, 3), 409, "0\n"},
		{"a proof from nothing", needless.Append(nil), 422, ""},
		{"the first", log.request(0, 3), 200, ""},
		{"the same from nothing", log.request(0, 3), 409, "3\n"},
		{"the same again", log.request(3, 3), 200, ""},
		{"the same with a proof", again.Append(nil), 422, ""},
		{"another root for that size", append([]byte("old 3\n\n"), (&tree{t: t, signer: log.signer, hashes: other.hashes}).head(3)...), 409, ""},
		{"an old size beyond", log.request(4, 3), 400, ""},
		{"too long a proof", long.Append(nil), 400, ""},
		{"no proof", unproved.Append(nil), 422, ""},
		{"a fork", append([]byte(nil), fork.request(3, 7)...), 200, ""}, // the first three entries are the same
		{"the log itself, which the fork has shut out", log.request(3, 5), 409, "7\n"},
		{"the log itself from there", append([]byte("old 7\n\n"), log.head(5)...), 400, ""},
	} {
		response, err := http.Post(server.URL+"/add-checkpoint", "", bytes.NewReader(step.body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		kind := response.Header.Get("Content-Type")
		if err != nil || response.StatusCode != step.status || (kind == sizeType) != (step.says != "") ||
			step.says != "" && string(text) != step.says {
			t.Errorf("%s: %d %q, want %d %q (%s)", step.name, response.StatusCode, text, step.status, step.says, kind)
		}
		if _, ok := by.When(append(log.head(3), text...)); ok && step.status != 200 {
			t.Errorf("%s: refused and cosigned", step.name)
		}
	}
	if response, err := http.Get(server.URL + "/add-checkpoint"); err != nil || response.StatusCode != 405 {
		t.Errorf("GET: %v, %v", response, err)
	}
}

// TestAWitnessRemembersAcrossARestart: what was cosigned stands on disk before the answer, so a new process refuses what the old one
// would have; and one that can't read what it saw does not begin anew.
func TestAWitnessRemembersAcrossARestart(t *testing.T) {
	spec.Covers(t, "ASA-14.3-2")
	log := newTree(t, "example.com/log")
	log.grow("a", "b", "c", "d", "e")
	dir := t.TempDir()
	first, _ := newWitness(t, dir, known(t, log)...)
	if _, err := first.Add(log.request(0, 5)); err != nil {
		t.Fatal(err)
	}
	second, _ := newWitness(t, dir, known(t, log)...)
	var refusal *Refusal
	if _, err := second.Add(log.request(0, 3)); !errors.As(err, &refusal) || refusal.Status != 409 || refusal.Size != 5 {
		t.Errorf("a log that was cut: %v", err)
	}
	if err := os.WriteFile(second.file("example.com/log"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(second.key, dir, known(t, log), time.Now); err == nil {
		t.Error("a witness that can't read what it saw begins anew")
	}
	gone, _ := newWitness(t, dir+"/gone")
	gone.logs = second.logs
	if _, err := gone.Add(log.request(5, 5)); err != nil {
		t.Errorf("nothing new has to be kept: %v", err)
	}
	log.grow("f")
	if _, err := gone.Add(log.request(5, 6)); err == nil || errors.As(err, &refusal) {
		t.Errorf("cosigned what could not be kept: %v", err)
	}
	if got := gone.logs["example.com/log"].last.Size; got != 5 {
		t.Errorf("what could not be kept counts as seen: %d", got)
	}
}

// TestOneOfManyWins: of requests from the same size at the same time one is cosigned, and the state is that one's.
func TestOneOfManyWins(t *testing.T) {
	log := newTree(t, "example.com/log")
	for i := range 20 {
		log.grow(fmt.Sprint(i))
	}
	w, _ := newWitness(t, t.TempDir(), known(t, log)...)
	if _, err := w.Add(log.request(0, 1)); err != nil {
		t.Fatal(err)
	}
	var requests [][]byte
	for size := int64(2); size <= 20; size++ {
		requests = append(requests, log.request(1, size))
	}
	var all sync.WaitGroup
	cosigned := make([]bool, len(requests))
	for i, body := range requests {
		all.Go(func() {
			_, err := w.Add(body)
			cosigned[i] = err == nil
		})
	}
	all.Wait()
	count := 0
	for i, yes := range cosigned {
		if yes {
			count++
			if got := w.logs["example.com/log"].last.Size; got != int64(i+2) {
				t.Errorf("cosigned %d, remembers %d", i+2, got)
			}
		}
	}
	if count != 1 {
		t.Errorf("%d were cosigned from the same size", count)
	}
}

func TestAskTakesOnlyTheWitnesssWord(t *testing.T) {
	log := newTree(t, "example.com/log")
	log.grow("a", "b")
	proof, err := tlog.ProveTree(2, 1, log)
	if err != nil {
		t.Fatal(err)
	}
	_, stranger := newWitness(t, t.TempDir())
	answer := func(status int, kind, text string) http.HandlerFunc {
		return func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Content-Type", kind)
			out.WriteHeader(status)
			_, _ = io.WriteString(out, text)
		}
	}
	for _, name := range []string{"the witness", "another's key", "one of another head", "nothing", "something else", "a size", "an error"} {
		w, by := newWitness(t, t.TempDir(), known(t, log)...)
		line, err := w.Add(log.request(0, 1))
		if err != nil {
			t.Fatal(err)
		}
		handle := map[string]http.Handler{"one of another head": answer(200, "text/plain", line), "nothing": answer(200, "text/plain", ""),
			"something else": answer(200, "text/html", "<html>yes</html>"), "a size": answer(409, sizeType, "7\n"),
			"an error": answer(500, "text/plain", "no")}[name]
		if handle == nil {
			handle = w.Handler(slog.New(slog.DiscardHandler))
		}
		if name == "another's key" {
			by = stranger
		}
		server := httptest.NewServer(handle)
		at, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		r := Request{Old: 1, Checkpoint: log.head(2)}
		for _, hash := range proof {
			r.Proof = append(r.Proof, hash)
		}
		cosigned, err := Ask(context.Background(), server.Client(), at, by, &r)
		server.Close()
		if (err == nil) != (name == "the witness") {
			t.Errorf("%s: %v", name, err)
		}
		if _, ok := by.When(cosigned); err == nil && !ok {
			t.Errorf("%s: %s", name, cosigned)
		}
		if refusal := (*Refusal)(nil); name == "a size" && (!errors.As(err, &refusal) || refusal.Size != 7 || !refusal.Sized) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzParseRequest: whatever comes, no panic; what is read is written back the same, so there is one form of each request; and no
// witness that does not know the log cosigns.
func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(documented))
	f.Add([]byte("old 0\n\na\n0\n" + base64.StdEncoding.EncodeToString(emptyRoot[:]) + "\n\n"))
	f.Add([]byte("old 01\n\nx"))
	f.Add([]byte("old -1\n\n\n"))
	f.Add([]byte("old 9223372036854775807\n=\n\nx"))
	w := &Witness{logs: map[string]*followed{}}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := ParseRequest(body)
		if err == nil && !bytes.Equal(r.Append(nil), body) {
			t.Fatalf("%q is read as %q", body, r.Append(nil))
		}
		if line, err := w.Add(body); err == nil {
			t.Fatalf("cosigned %q", line)
		}
	})
}

// FuzzParseVerifier: a key that is read has the name and hash of its text, and verifies nothing it did not sign.
func FuzzParseVerifier(f *testing.F) {
	_, public, err := GenerateKey(rand.Reader, "w.example/1")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(public)
	f.Add("a+00000000+")
	f.Add("PRIVATE+KEY+a+00000000+BAAA")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseVerifier(text)
		if err != nil {
			return
		}
		if !strings.HasPrefix(strings.TrimSpace(text), fmt.Sprintf("%s+", v.Name())) || v.Verify([]byte(text), make([]byte, 72)) {
			t.Fatalf("%q", text)
		}
	})
}
