package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/fileio"
	"interlock/internal/ledger"
)

// Schema is the value of "schema" in what says what an archiving wrote.
const Schema = "interlock.archive/v1"

// The names of an archive's own files.
const (
	checkpointFile = "checkpoint"
	keyFile        = "log.pub"
)

// A Part says what one archiving wrote.
type Part struct {
	Schema string            `json:"schema"`
	Origin string            `json:"origin"` // of the log
	First  int64             `json:"first"`
	Size   int64             `json:"size"` // of the log up to the part's end
	Before time.Time         `json:"before"`
	Root   string            `json:"root"` // of the tree over so many entries, in base64 as in a checkpoint
	Inputs int               `json:"inputs"`
	Blobs  int               `json:"blobs"`
	Files  map[string]string `json:"files"` // their digests, but for those of hash tiles, which the checkpoint proves
	Digest string            `json:"-"`     // of the file that holds this
}

func (p *Part) name() string { return fmt.Sprintf("parts/%012d-%012d.json", p.First, p.Size) }

// A Recording is a log with what its decisions were made from: a store, an exported copy, or archives.
type Recording interface {
	auditlog.Source
	// Recorded calls visit for every entry from an index on, with its hashes, and its inputs where it has any.
	Recorded(ctx context.Context, from int64, visit func(interlock.Entry) error) error
	Blob(ctx context.Context, digest interlock.Digest) ([]byte, bool, error)
	Blobs(ctx context.Context, visit func(ledger.Blob) error) error
}

// An Order says what is to be archived. The log up to Size has been verified.
type Order struct {
	First, Size int64 // entries, of whole bundles
	Before      time.Time
	Key         *auditlog.PublicKey
	Sign        func(auditlog.Checkpoint) ([]byte, error)
}

// Write writes a part of the log into a directory. When it returns, everything is on the disk. A part that begins where this one
// is to, and that an archiving which was broken off has finished, is returned as it is.
func Write(ctx context.Context, dir string, log Recording, o Order) (Part, error) {
	d, err := newDirectory(dir)
	if err != nil {
		return Part{}, err
	}
	if err := d.keep(keyFile, []byte(o.Key.String()+"\n")); err != nil {
		var e *interlock.Error
		if errors.As(err, &e) && e.Code == interlock.CodeConflict {
			err = interlock.Errorf(interlock.CodeConflict, "--to", "the directory holds an archive of another log")
		}
		return Part{}, err
	}
	parts, err := readParts(dir)
	if err != nil {
		return Part{}, err
	}
	for _, part := range parts {
		if part.First == o.First {
			return part, nil
		}
		if part.Size > o.First {
			return Part{}, interlock.Errorf(interlock.CodeConflict, "--to",
				"the directory holds the entries from %d to %d, which were never archived; name another", part.First, part.Size-1)
		}
	}
	w := &writer{directory: d, order: o, part: Part{Schema: Schema, Origin: o.Key.Origin(), First: o.First, Size: o.Size,
		Before: o.Before.UTC(), Files: map[string]string{}}}
	if err := w.entries(ctx, log); err != nil {
		return Part{}, err
	}
	if err := w.blobs(ctx, log, parts); err != nil {
		return Part{}, err
	}
	return w.finish(ctx)
}

// A writer is one archiving.
type writer struct {
	*directory
	order  Order
	part   Part
	tiler  auditlog.Tiler
	bundle []byte
	inputs packer
	heads  packer
}

// errDone ends a walk.
var errDone = errors.New("done")

// entries writes bundles and tiles.
func (w *writer) entries(ctx context.Context, log Recording) error {
	err := log.Recorded(ctx, 0, func(e interlock.Entry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.Index >= w.order.Size {
			return errDone
		}
		if err := w.tiler.Add(e.Hashes, w.keep); err != nil {
			return err
		}
		if e.Index < w.order.First {
			return nil
		}
		return w.entry(&e)
	})
	if err != nil && !errors.Is(err, errDone) {
		return err
	}
	return w.tiler.Rest(w.keep)
}

func (w *writer) entry(e *interlock.Entry) error {
	if auditlog.Released(e) {
		return interlock.Errorf(interlock.CodeInvalid, "entry", "entry %d is archived already, and no event says so", e.Index)
	}
	w.bundle = auditlog.AppendBundled(w.bundle, e.Body)
	if len(e.Inputs) > 0 {
		w.part.Inputs++
		if err := w.inputs.add(line{Index: &e.Index, Text: e.Inputs}); err != nil {
			return err
		}
	}
	if len(e.Checkpoint) > 0 {
		if err := w.heads.add(line{Index: &e.Index, Checkpoint: string(e.Checkpoint)}); err != nil {
			return err
		}
	}
	if (e.Index+1)%auditlog.TileWidth != 0 {
		return nil
	}
	number := e.Index / auditlog.TileWidth
	if err := w.listed(auditlog.BundlePath(number), w.bundle); err != nil {
		return err
	}
	w.bundle = w.bundle[:0]
	for name, p := range map[string]*packer{inputsFile(number): &w.inputs, headsFile(number): &w.heads} { // any order: two files
		if err := w.packed(name, p); err != nil {
			return err
		}
	}
	return nil
}

func inputsFile(number int64) string {
	return "inputs/" + auditlog.BundleNumber(number) + ".jsonl.gz"
}

func headsFile(number int64) string {
	return "heads/" + auditlog.BundleNumber(number) + ".jsonl.gz"
}

func blobsFile(size int64) string { return fmt.Sprintf("blobs/%012d.jsonl.gz", size) }

// packed writes a file of lines, where there are any.
func (w *writer) packed(name string, p *packer) error {
	data, err := p.file()
	if err != nil || data == nil {
		return err
	}
	return w.listed(name, data)
}

// listed writes a file that the part lists.
func (w *writer) listed(name string, data []byte) error {
	w.part.Files[name] = digestOf(data)
	return w.put(name, data)
}

// blobs writes every text that decisions share and that an earlier part in the directory does not have: which of them a sealed
// decision names can't be seen.
func (w *writer) blobs(ctx context.Context, log Recording, earlier []Part) error {
	have := map[interlock.Digest]bool{}
	for _, part := range earlier {
		if part.Blobs == 0 {
			continue
		}
		if err := unpack(w.path, blobsFile(part.Size), func(l line) error {
			have[l.Blob] = true
			return nil
		}); err != nil {
			return w.failed("a later part", err)
		}
	}
	var p packer
	if err := log.Blobs(ctx, func(b ledger.Blob) error {
		if have[b.Digest] {
			return nil
		}
		w.part.Blobs++
		return p.add(line{Blob: b.Digest, Text: b.Text})
	}); err != nil {
		return err
	}
	return w.packed(blobsFile(w.order.Size), &p)
}

// finish signs the head, and says what was written.
func (w *writer) finish(ctx context.Context) (Part, error) {
	head := w.tiler.Checkpoint(w.order.Key.Origin())
	if head.Size != w.order.Size {
		return Part{}, interlock.Errorf(interlock.CodeInvalid, "entry", "the log has %d entries of %d", head.Size, w.order.Size)
	}
	signed, err := w.order.Sign(head)
	if err != nil {
		return Part{}, err
	}
	w.part.Root = rootOf(signed)
	text, err := json.MarshalIndent(w.part, "", " ") // names in files are sorted by the encoder
	if err != nil {
		return Part{}, fmt.Errorf("archive: %w", err)
	}
	text = append(text, '\n')
	w.part.Digest = digestOf(text)
	if err := errors.Join(ctx.Err(), w.sync()); err != nil { // the files are there before anything says that they are
		return Part{}, err
	}
	// The list comes last: with it the part is finished, whatever happens then.
	if err := w.put(checkpointFile, signed); err != nil {
		return Part{}, err
	}
	if err := w.keep(w.part.name(), text); err != nil {
		return Part{}, err
	}
	return w.part, w.sync()
}

// rootOf is the third line of a checkpoint.
func rootOf(signed []byte) string {
	if lines := strings.SplitN(string(signed), "\n", 4); len(lines) == 4 {
		return lines[2]
	}
	return ""
}

// readParts reads what the archivings into a directory wrote, in the order of the log.
func readParts(dir string) ([]Part, error) {
	names, err := fs.Glob(os.DirFS(dir), "parts/*.json")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var parts []Part
	for _, name := range names {
		text, err := read(dir, name)
		if err != nil {
			return nil, interlock.Errorf(interlock.CodeUnavailable, "archive", "%s can't be read: %s", name, fileio.Reason(err))
		}
		var part Part
		if json.Unmarshal(text, &part) != nil || part.Schema != Schema || part.name() != name || part.First < 0 ||
			part.Size <= part.First || part.First%auditlog.TileWidth != 0 || part.Size%auditlog.TileWidth != 0 {
			return nil, damaged("%s says nothing that can be", name)
		}
		part.Digest = digestOf(text)
		parts = append(parts, part)
	}
	return parts, nil
}
