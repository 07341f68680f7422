package cosign

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"interlock/internal/fileio"
	"interlock/internal/witness"
)

// A Log is one that a witness knows: its origin, and the keys that sign it.
type Log struct {
	Origin string
	Keys   []note.Verifier
}

// ParseLogs reads a list of logs, one a line: a log's public key (name+hash+key), whose name is the origin, or an origin, a space and
// the key. Several lines of one origin are several keys of one log; what follows a # is a remark.
func ParseLogs(text string) ([]Log, error) {
	var logs []Log
	at := map[string]int{}
	for n, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		origin, key, named := strings.Cut(line, " ")
		if !named {
			key = origin
		}
		verifier, err := note.NewVerifier(strings.TrimSpace(key))
		if err != nil {
			return nil, fmt.Errorf("line %d: is neither a log's public key nor an origin and a key", n+1)
		}
		if !named {
			origin = verifier.Name()
		}
		i, known := at[origin]
		if !known {
			i = len(logs)
			at[origin] = i
			logs = append(logs, Log{Origin: origin})
		}
		logs[i].Keys = append(logs[i].Keys, verifier)
	}
	return logs, nil
}

// A Witness cosigns the heads of the logs it knows. What it has cosigned last is on disk before anybody is answered. It is safe
// for concurrent use; two witnesses must not share a directory.
type Witness struct {
	key  Key
	dir  string
	now  func() time.Time
	logs map[string]*followed
}

// A followed log is one with what was cosigned of it last.
type followed struct {
	Log
	mutex sync.Mutex
	last  witness.Head // zero: nothing
	text  string       // of the checkpoint
}

// New is a witness that keeps what it has seen in a directory. What can't be read of that is an error: a witness that forgot would
// cosign a log that was cut.
func New(key Key, dir string, logs []Log, now func() time.Time) (*Witness, error) {
	w := &Witness{key: key, dir: dir, now: now, logs: map[string]*followed{}}
	for _, log := range logs {
		f := &followed{Log: log}
		seen, err := fileio.Own(w.file(log.Origin), MaxRequest, fileio.Settled)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("what was seen of %.80q can't be read: %s", log.Origin, fileio.Reason(err))
		default:
			opened, err := note.Open(seen, note.VerifierList(log.Keys...))
			if err == nil {
				f.last, err = parseHead(opened.Text)
			}
			if err != nil || f.last.Origin != log.Origin {
				return nil, fmt.Errorf("what was seen of %.80q is damaged, or signed by a key that is not listed", log.Origin)
			}
		}
		w.logs[log.Origin] = f
	}
	return w, nil
}

// file is where the last checkpoint of a log is kept. An origin is another's text, so its name is a digest.
func (w *Witness) file(origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return filepath.Join(w.dir, hex.EncodeToString(sum[:16])+".checkpoint")
}

// A Refusal is why a witness does not cosign, as the protocol has it.
type Refusal struct {
	Status int   // of HTTP
	Size   int64 // with status 409, where the old size is not the one that was seen: the one that was
	Sized  bool
	Why    string
}

func (r *Refusal) Error() string { return r.Why }

func refuse(status int, why string) *Refusal { return &Refusal{Status: status, Why: why} }

// Add answers one request: with the line that cosigns its checkpoint, or a refusal. Other errors are the witness's own.
func (w *Witness) Add(body []byte) (line string, err error) {
	r, err := ParseRequest(body)
	if err != nil {
		return "", refuse(http.StatusBadRequest, err.Error())
	}
	text, _, _ := strings.Cut(string(r.Checkpoint), "\n\n")
	head, err := parseHead(text + "\n")
	if err != nil {
		return "", refuse(http.StatusBadRequest, err.Error())
	}
	log := w.logs[head.Origin]
	if log == nil {
		return "", refuse(http.StatusNotFound, "this witness does not know the log")
	}
	opened, err := note.Open(r.Checkpoint, note.VerifierList(log.Keys...))
	if err != nil {
		var unknown *note.UnverifiedNoteError
		var invalid *note.InvalidSignatureError
		if errors.As(err, &unknown) || errors.As(err, &invalid) {
			return "", refuse(http.StatusForbidden, "no key of the log signed the checkpoint")
		}
		return "", refuse(http.StatusBadRequest, "the checkpoint is not a signed note")
	}
	if r.Old > head.Size {
		return "", refuse(http.StatusBadRequest, "the old size is greater than the checkpoint's")
	}
	log.mutex.Lock()
	defer log.mutex.Unlock()
	if err := goesOn(log.last, head, &r); err != nil {
		return "", err
	}
	if head != log.last {
		if err := w.keep(head.Origin, r.Checkpoint); err != nil {
			return "", err
		}
		log.last = head
	}
	return w.key.Cosign(opened.Text, w.now()), nil
}

// emptyRoot is the root of a log without entries.
var emptyRoot = sha256.Sum256(nil)

// goesOn refuses a head that is not shown to go on from what was cosigned last.
func goesOn(last, head witness.Head, r *Request) error {
	switch {
	case r.Old != last.Size:
		return &Refusal{Status: http.StatusConflict, Size: last.Size, Sized: true, Why: "another size was cosigned last"}
	case head.Size == 0:
		if len(r.Proof) > 0 || head.Root != emptyRoot {
			return refuse(http.StatusUnprocessableEntity, "an empty log has the root of nothing, and no proof")
		}
		return nil
	case r.Old == 0:
		if len(r.Proof) > 0 {
			return refuse(http.StatusUnprocessableEntity, "from the size 0 there is nothing to prove")
		}
		return nil
	case r.Old == head.Size && head.Root != last.Root:
		return refuse(http.StatusConflict, "another root was cosigned for that size")
	case !last.Agrees(head, r.Proof):
		return refuse(http.StatusUnprocessableEntity, "the proof does not show that the checkpoint goes on from the one cosigned last")
	}
	return nil
}

// keep puts a checkpoint on disk, whole and durably, in place of the one before.
func (w *Witness) keep(origin string, checkpoint []byte) error {
	path := w.file(origin)
	f, err := os.CreateTemp(w.dir, ".seen-*") // mode 0600
	if err != nil {
		return fmt.Errorf("what was seen can't be kept: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(checkpoint)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = syncDir(w.dir)
	}
	if err != nil {
		return fmt.Errorf("what was seen can't be kept: %w", err)
	}
	return nil
}
