package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/archive"
	"interlock/internal/auditlog"
	"interlock/internal/classify"
	"interlock/internal/fileio"
	"interlock/internal/ledger"
	"interlock/internal/replay"
	"interlock/internal/ruleset"
	"interlock/internal/store"
)

// A past is a log as replay reads it.
type past struct {
	log     archive.Recording
	store   *store.Store // nil where it is not read
	Close   func() error
	key     *auditlog.PublicKey
	sources replay.Sources
	held    func(scope ledger.HoldScope, key string) bool // nil in a copy

	declared map[interlock.Digest]bool // manifests of snapshots that events by which people govern name
	registry string                    // digest of the registry in force where reading has come to; empty before the first
	Archived int                       // decisions that are in an archive which was not named
	left     []archiving               // what has left the store, newest first; nil: not read yet
}

// PastFlags say where the past is.
type PastFlags struct {
	From string `help:"An exported copy with inputs instead of the store, or an archive: a directory." type:"path" placeholder:"DIR"`
	ArchiveFlags
	sealedFlags

	LogKey string `kong:"-"` // file of the key that must have signed the log; empty: the one beside it
}

// OpenPast opens the log for replaying. Nothing is written but the order to open what is sealed.
func OpenPast(p *cli.Program, f *PastFlags) (*past, error) {
	open, err := f.opener(p)
	if err != nil {
		return nil, err
	}
	out := &past{Close: func() error { return nil }}
	if f.From == "" {
		if out.store, _, err = p.AuditStore(); err != nil {
			return nil, err
		}
		out.Close = out.store.Close
	}
	if out.key, err = copyKey(p, f.LogKey, f.From); err == nil {
		err = out.join(p, f)
	}
	if err != nil {
		out.Close()
		return nil, err
	}
	blobs, rulesets := map[interlock.Digest][]byte{}, map[interlock.Digest]*ruleset.Ruleset{}
	out.sources = replay.Sources{Redact: classify.Redact, RedactPersonal: classify.RedactPersonal, Open: open, Held: out.held,
		Blob: func(d interlock.Digest) ([]byte, error) {
			if text, known := blobs[d]; known {
				return text, nil
			}
			text, found, err := out.log.Blob(p.Ctx, d)
			if err != nil || !found {
				return nil, out.damaged(p, d, err)
			}
			if len(blobs) >= maxHeld {
				clear(blobs)
			}
			blobs[d] = text
			return text, nil
		}}
	out.sources.Declared = func(d interlock.Digest) (bool, error) {
		if out.declared == nil {
			if err := out.readDeclared(p); err != nil {
				return false, err
			}
		}
		return out.declared[d], nil
	}
	out.sources.Ruleset = func(d interlock.Digest) (*ruleset.Ruleset, error) {
		if set, known := rulesets[d]; known {
			return set, nil
		}
		text, err := out.rulesText(p, d)
		if err != nil || text == nil {
			return nil, err
		}
		set, err := ruleset.FromDocuments(text, d)
		if err == nil {
			rulesets[d] = set
		}
		return set, err
	}
	return out, nil
}

// join makes the log that of the copy, or that of the store and the archives that were named.
func (l *past) join(p *cli.Program, f *PastFlags) (err error) {
	if l.store != nil {
		if l.held, err = heldIn(p, l.store); err == nil {
			l.log, err = f.joined(p, l.store, l.key)
		}
		return err
	}
	source, _, err := auditSource(p, f.From, f.Archive...)
	if err != nil {
		return err
	}
	switch source := source.(type) {
	case archive.Alone:
		l.log = source
		return source.Check(p.Ctx, l.key)
	case auditlog.Copy:
		l.log, err = copyWithInputs(f.From, source)
		return err
	}
	return errors.New("a copy was read as something else")
}

// Spacious has a command that goes through a whole log collect garbage less often: each decision is read, tried and forgotten, so that
// what is kept is small and collecting it often is a fifth of the work.
func Spacious() { debug.SetGCPercent(400) }

// maxHeld is how many blobs are kept in memory while a log is read.
const maxHeld = 1024

// errFound ends a walk that has found what it looked for.
var errFound = errors.New("found")

// rulesText finds the recorded text of a ruleset: the event that brought it into force names it.
func (l *past) rulesText(p *cli.Program, want interlock.Digest) (text []byte, err error) {
	var named interlock.Digest
	err = l.log.Walk(p.Ctx, func(e interlock.Entry) error {
		if e.Type != interlock.EventRuleset {
			return nil
		}
		after, err := auditlog.SettingsAfter(e)
		if err != nil {
			return err
		}
		if after["ruleset"] == string(want) && after["ruleset_text"] != "" {
			named = interlock.Digest(after["ruleset_text"])
			return errFound
		}
		return nil
	})
	if errors.Is(err, errFound) {
		return l.sources.Blob(named)
	}
	return nil, err
}

// elsewhere says where the event that a name means went, if it is archived.
func (l *past) elsewhere(p *cli.Program, name string) error {
	if l.Archived == 0 {
		return nil
	}
	store, entry, err := auditEntry(p, name)
	if err != nil {
		return nil // no event has this name: it may be a run's
	}
	defer store.Close()
	if !auditlog.Released(&entry) {
		return nil
	}
	return gone(p.Ctx, store, entry.Index)
}

// readDeclared reads which manifests of snapshots the log declares: by events that its key has signed one by one, so that this is
// proved where nobody verifies the whole log first, too.
func (l *past) readDeclared(p *cli.Program) error {
	declared := map[interlock.Digest]bool{}
	err := l.log.Walk(p.Ctx, func(e interlock.Entry) error {
		grows := grown(e.Type)
		if e.Type != interlock.EventRuleset && e.Type != interlock.EventMode && grows == nil {
			return nil
		}
		event, err := l.key.SignedEvent(e)
		if err != nil {
			return nil // nobody who has the key declared anything
		}
		if grows != nil {
			declared[interlock.Digest(event.Snapshots[grows.Name])] = true
			return nil
		}
		after, err := auditlog.SettingsAfter(e)
		if err == nil && after["manifest"] != "" {
			declared[interlock.Digest(after["manifest"])] = true
		}
		return err
	})
	l.declared = declared
	return err
}

// Verified refuses a log that does not verify: what is replayed counts as far as the log proves it.
func (l *past) Verified(p *cli.Program) error {
	options := auditlog.VerifyOptions{Earlier: keptCheckpoints(p, l.key)}
	if alone, is := l.log.(archive.Alone); is {
		options = auditlog.VerifyOptions{Before: alone.Whole()} // it ends before the heads that are kept
	}
	walking := p.Walking("verifying the log", l.log)
	report, err := auditlog.Verify(p.Ctx, cli.WatchedSource{Source: l.log, Progress: walking}, l.key, options)
	walking.End()
	if err == nil && report.Problem != nil {
		err = &replay.Failure{Code: replay.IntegrityFailure,
			Detail: fmt.Sprintf("the log is not sound after %d good entries: %v", report.Entries, report.Problem)}
	}
	return err
}

// each calls visit for every recorded decision from a time on, in order: with what it was made from, or with what its event says
// of itself, which is nil where it can't be read, and why the rest can't be had.
func (l *past) each(p *cli.Program, from time.Time, visit func(e interlock.Entry, r *replay.Record, why error) error) error {
	walking := p.Walking("going through the past", l.log)
	defer walking.End()
	return l.log.Recorded(p.Ctx, 0, walking.Counting(func(e interlock.Entry) error {
		if l.registered(&e); !replay.Holds(e.Type) || auditlog.OfText(&e) {
			return nil
		}
		if auditlog.Released(&e) {
			return l.bare(p, e.Index, from)
		}
		r, err := l.sources.Read(e)
		if r != nil && r.At().Before(from) {
			return nil
		}
		return visit(e, r, err)
	}))
}

// A pastTrial takes one recorded decision after another, to say what would have become of them.
type pastTrial interface {
	Try(r *replay.Record, was interlock.Decision, redact func(string) (string, []string))
	Skip(why error) // one that can't be tried
}

// Try hands a trial every recorded decision from a time on that concerns it. One that can't be read at all is nil there.
func (l *past) Try(p *cli.Program, from time.Time, t pastTrial, concerns func(r *replay.Record) bool) error {
	return l.each(p, from, func(_ interlock.Entry, r *replay.Record, why error) error {
		if !concerns(r) {
			return nil
		}
		var was interlock.Decision
		if why == nil {
			was, why = r.Was()
		}
		if why != nil {
			t.Skip(why)
			return nil
		}
		t.Try(r, was, classify.Redact)
		return nil
	})
}

// bare counts a decision whose content is in an archive that was not named, unless the event that says so tells that everything in
// it was recorded before a time.
func (l *past) bare(p *cli.Program, index int64, from time.Time) error {
	if l.left == nil && l.store != nil {
		var err error
		if l.left, err = archivings(p.Ctx, l.store); err != nil {
			return err
		}
	}
	for _, record := range l.left {
		if index >= record.First && index < record.Size && !record.Before.After(from) {
			return nil
		}
	}
	l.Archived++
	return nil
}

// grown is the growing snapshot that events of a type change; nil: none.
func grown(kind interlock.EventType) *auditlog.Growing {
	for _, g := range auditlog.GrowingSnapshots() {
		if slices.Contains(g.Events, kind) {
			return &g
		}
	}
	return nil
}

// registered follows the registry through the events that change it.
func (l *past) registered(e *interlock.Entry) {
	if g := grown(e.Type); g == nil || g.Name != auditlog.SnapshotRegistry {
		return
	}
	if event, err := auditlog.ParseEvent(e.Body); err == nil {
		l.registry = event.Snapshots[auditlog.SnapshotRegistry]
	}
}

// ExportedInputs is the file of an exported copy that holds blobs, then what decisions were made from in the order of
// the log: one JSON object a line, with the text in base64 as it is stored, sealed where it is sealed.
const ExportedInputs = "inputs.jsonl"

// An InputsLine is one line of it.
type InputsLine struct {
	Blob  interlock.Digest `json:"blob,omitempty"`
	Index *int64           `json:"index,omitempty"`
	Text  []byte           `json:"text"`
}

// MaxInputsLine is the longest line of it, in bytes.
const MaxInputsLine = 24 << 20

// writeInputs writes what decisions were made from, up to a head of the log.
func writeInputs(ctx context.Context, w io.Writer, store archive.Recording, size int64) error {
	out := bufio.NewWriter(w)
	line := func(l InputsLine) error {
		text, err := json.Marshal(l)
		if err == nil {
			_, err = out.Write(append(text, '\n'))
		}
		return err
	}
	if err := store.Blobs(ctx, func(b ledger.Blob) error {
		return line(InputsLine{Blob: b.Digest, Text: b.Text})
	}); err != nil {
		return err
	}
	err := store.Recorded(ctx, 0, func(e interlock.Entry) error {
		if e.Index >= size || len(e.Inputs) == 0 {
			return nil
		}
		return line(InputsLine{Index: &e.Index, Text: e.Inputs})
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// A copied log is an exported copy with inputs.
type copied struct {
	auditlog.Copy
	file  string
	blobs map[interlock.Digest][]byte
}

// copyWithInputs reads the blobs that lie beside an exported copy.
func copyWithInputs(dir string, events auditlog.Copy) (*copied, error) {
	c := &copied{Copy: events, file: filepath.Join(dir, ExportedInputs), blobs: map[interlock.Digest][]byte{}}
	return c, c.readBlobs()
}

// An inputsReader reads the file of inputs line by line.
type inputsReader struct {
	file    *os.File
	scanner *bufio.Scanner
	n       int
}

// reader opens the file of inputs.
func (c *copied) reader() (*inputsReader, error) {
	file, err := fileio.Open(c.file)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeNotFound, "--from",
			"the copy has no inputs: %s; export it with --inputs", fileio.Reason(err))
	}
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, MaxInputsLine)
	return &inputsReader{file: file, scanner: scanner}, nil
}

// next reads a line; more is false at the end.
func (r *inputsReader) next() (l InputsLine, more bool, err error) {
	if !r.scanner.Scan() {
		return l, false, r.scanner.Err()
	}
	r.n++
	if err := json.Unmarshal(r.scanner.Bytes(), &l); err != nil {
		return l, false, interlock.Errorf(interlock.CodeInvalid, "--from", "line %d of %s is not one of inputs", r.n, ExportedInputs)
	}
	return l, true, nil
}

// readBlobs reads the blobs, which come first.
func (c *copied) readBlobs() error {
	r, err := c.reader()
	if err != nil {
		return err
	}
	defer r.file.Close()
	for {
		l, more, err := r.next()
		if err != nil || !more || l.Blob == "" {
			return err
		}
		c.blobs[l.Blob] = l.Text
	}
}

// Blobs calls visit for every blob.
func (c *copied) Blobs(_ context.Context, visit func(ledger.Blob) error) error {
	return archive.EachBlob(c.blobs, visit)
}

// Blob returns the text that a digest names.
func (c *copied) Blob(_ context.Context, digest interlock.Digest) ([]byte, bool, error) {
	text, found := c.blobs[digest]
	return text, found, nil
}

// Recorded calls visit for every entry, with its inputs where it has any. Both files are in the order of the log and are read side by
// side: a log of a million decisions is not held in memory. Inputs out of that order belong to nothing.
func (c *copied) Recorded(ctx context.Context, from int64, visit func(interlock.Entry) error) error {
	r, err := c.reader()
	if err != nil {
		return err
	}
	defer r.file.Close()
	l, more, err := r.next()
	if err != nil {
		return err
	}
	return c.Walk(ctx, func(e interlock.Entry) error {
		for more && (l.Index == nil || *l.Index < e.Index) {
			if l, more, err = r.next(); err != nil {
				return err
			}
		}
		if e.Index < from {
			return nil
		}
		if more && *l.Index == e.Index {
			e.Inputs = l.Text
		}
		return visit(e)
	})
}
