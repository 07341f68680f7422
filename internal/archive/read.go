package archive

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/fileio"
	"interlock/internal/ledger"
)

// A Damage says that a file of an archive is not what was archived.
type Damage struct{ Detail string }

// Error begins with MACE's word for it.
func (d *Damage) Error() string {
	return string(interlock.EventIntegrity) + ": the archive is not sound: " + d.Detail
}

func damaged(format string, args ...any) error { return &Damage{fmt.Sprintf(format, args...)} }

// Is reports whether a directory holds an archive.
func Is(dir string) bool {
	info, err := os.Stat(dir + string(os.PathSeparator) + "parts")
	return err == nil && info.IsDir()
}

// Archives are some directories, read together. They are not safe for concurrent use.
type Archives struct {
	dirs  []opened
	held  bundle
	blobs map[interlock.Digest][]byte // nil: not read yet
}

type opened struct {
	dir    string
	parts  []Part
	signed []byte // the checkpoint
}

// A bundle is what was read last.
type bundle struct {
	number int64
	in     *opened
	bodies [][]byte
	inputs map[int64][]byte // nil: not read yet
	heads  map[int64][]byte
}

// Open opens archives for reading. What they hold is what they say; [Archives.Check] says whether it is the log's.
func Open(dirs ...string) (*Archives, error) {
	a := &Archives{}
	for _, dir := range dirs {
		parts, err := readParts(dir)
		if err != nil {
			return nil, err
		}
		if len(parts) == 0 {
			return nil, interlock.Errorf(interlock.CodeNotFound, "--archive", "this directory holds no archive")
		}
		signed, err := read(dir, checkpointFile)
		if err != nil {
			return nil, interlock.Errorf(interlock.CodeNotFound, "--archive", "the checkpoint can't be read: %s", fileio.Reason(err))
		}
		a.dirs = append(a.dirs, opened{dir: dir, parts: parts, signed: signed})
	}
	return a, nil
}

// Part finds the part that begins at an entry.
func (a *Archives) Part(first int64) (Part, bool) {
	for _, d := range a.dirs {
		for _, p := range d.parts {
			if p.First == first {
				return p, true
			}
		}
	}
	return Part{}, false
}

// holds reports whether an archive has the entry at an index.
func (a *Archives) holds(index int64) bool {
	return slices.ContainsFunc(a.dirs, func(d opened) bool {
		return slices.ContainsFunc(d.parts, func(p Part) bool { return index >= p.First && index < p.Size })
	})
}

// load makes a bundle the one that is held. found is false if no archive has it.
func (a *Archives) load(number int64) (found bool, err error) {
	if a.held.in != nil && a.held.number == number {
		return true, nil
	}
	at := number * auditlog.TileWidth
	for i := range a.dirs {
		for _, p := range a.dirs[i].parts {
			if at < p.First || at >= p.Size {
				continue
			}
			name := auditlog.BundlePath(number)
			data, err := read(a.dirs[i].dir, name)
			if err != nil {
				return false, damaged("%s can't be read: %s", name, fileio.Reason(err))
			}
			bodies, err := auditlog.ReadBundle(data)
			if err != nil {
				return false, damaged("%s is no full bundle of entries", name)
			}
			a.held = bundle{number: number, in: &a.dirs[i], bodies: bodies}
			return true, nil
		}
	}
	return false, nil
}

// Fill gives an entry its content back, with what was recorded beside it if that is asked for. found is false if no
// archive has it.
func (a *Archives) Fill(e *interlock.Entry, inputs bool) (found bool, err error) {
	number := e.Index / auditlog.TileWidth
	if found, err = a.load(number); err != nil || !found {
		return false, err
	}
	e.Body = a.held.bodies[e.Index%auditlog.TileWidth]
	if a.held.heads == nil {
		if a.held.heads, err = a.beside(headsFile(number), func(l line) []byte { return []byte(l.Checkpoint) }); err != nil {
			return false, err
		}
	}
	if len(e.Checkpoint) == 0 {
		e.Checkpoint = a.held.heads[e.Index]
	}
	if !inputs {
		return true, nil
	}
	if a.held.inputs == nil {
		if a.held.inputs, err = a.beside(inputsFile(number), func(l line) []byte { return l.Text }); err != nil {
			return false, err
		}
	}
	if len(e.Inputs) == 0 {
		e.Inputs = a.held.inputs[e.Index]
	}
	return true, nil
}

// beside reads a file of the bundle that is held, if its part lists one.
func (a *Archives) beside(name string, value func(line) []byte) (map[int64][]byte, error) {
	values := map[int64][]byte{}
	listed := false
	for _, p := range a.held.in.parts {
		listed = listed || p.Files[name] != ""
	}
	if !listed {
		return values, nil
	}
	err := unpack(a.held.in.dir, name, func(l line) error {
		if l.Index != nil {
			values[*l.Index] = value(l)
		}
		return nil
	})
	if err != nil {
		return nil, damaged("%s can't be read: %s", name, fileio.Reason(err))
	}
	return values, nil
}

// Blob returns the text that a digest names.
func (a *Archives) Blob(_ context.Context, digest interlock.Digest) ([]byte, bool, error) {
	if err := a.readBlobs(); err != nil {
		return nil, false, err
	}
	text, found := a.blobs[digest]
	return text, found, nil
}

// Blobs calls visit for every blob, in the order of their digests.
func (a *Archives) Blobs(_ context.Context, visit func(ledger.Blob) error) error {
	if err := a.readBlobs(); err != nil {
		return err
	}
	return EachBlob(a.blobs, visit)
}

// EachBlob calls visit for every blob, in the order of their digests.
func EachBlob(blobs map[interlock.Digest][]byte, visit func(ledger.Blob) error) error {
	for _, digest := range slices.Sorted(maps.Keys(blobs)) {
		if err := visit(ledger.Blob{Digest: digest, Text: blobs[digest]}); err != nil {
			return err
		}
	}
	return nil
}

func (a *Archives) readBlobs() error {
	if a.blobs != nil {
		return nil
	}
	blobs := map[interlock.Digest][]byte{}
	for _, d := range a.dirs {
		for _, p := range d.parts {
			if p.Blobs == 0 {
				continue
			}
			err := unpack(d.dir, blobsFile(p.Size), func(l line) error {
				blobs[l.Blob] = l.Text
				return nil
			})
			if err != nil {
				return damaged("%s can't be read: %s", blobsFile(p.Size), fileio.Reason(err))
			}
		}
	}
	a.blobs = blobs
	return nil
}

// Check reads every file and holds it against what was archived: the tiles against the signed head, the entries
// against the tiles, and everything else against what the parts list. What is wrong is a *[Damage].
func (a *Archives) Check(ctx context.Context, key *auditlog.PublicKey) error {
	for i := range a.dirs {
		if err := a.dirs[i].check(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

func (d *opened) check(ctx context.Context, key *auditlog.PublicKey) error {
	head, err := key.OpenCheckpoint(d.signed)
	if err != nil {
		return damaged("its head: %s", err)
	}
	if last := d.parts[len(d.parts)-1]; head.Size < last.Size || head.Size%auditlog.TileWidth != 0 {
		return damaged("its head covers %d entries, and it holds %d", head.Size, last.Size)
	}
	if err := d.checkTiles(ctx, head); err != nil {
		return err
	}
	for _, p := range d.parts {
		if p.Origin != head.Origin {
			return damaged("%s is of another log", p.name())
		}
		for name, want := range p.Files { // any order: one that is damaged is enough
			if err := ctx.Err(); err != nil {
				return err
			}
			have, err := fileDigest(d.dir, name)
			if err != nil {
				return damaged("%s can't be read: %s", name, fileio.Reason(err))
			}
			if have != want {
				return damaged("%s is not the file that was archived", name)
			}
		}
	}
	return nil
}

// checkTiles holds the hash tiles against the head, and the entries against the hash tiles.
func (d *opened) checkTiles(ctx context.Context, head auditlog.Checkpoint) error {
	var tiler auditlog.Tiler
	same := func(path string, tile []byte) error {
		have, err := read(d.dir, path)
		if err != nil {
			return damaged("%s can't be read: %s", path, fileio.Reason(err))
		}
		if string(have) != string(tile) {
			return damaged("%s is not the tile of the tiles below it", path)
		}
		return nil
	}
	for number := int64(0); number < head.Size/auditlog.TileWidth; number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		leaves, err := d.leaves(number)
		if err != nil {
			return err
		}
		if err := d.checkBundle(number, leaves); err != nil {
			return err
		}
		for n := range auditlog.TileWidth {
			if err := tiler.Add(leaves[n*hashSize:][:hashSize], same); err != nil {
				return err
			}
		}
	}
	if err := tiler.Rest(same); err != nil {
		return err
	}
	if tiler.Checkpoint(head.Origin) != head {
		return damaged("its hash tiles are not those that its head was signed over")
	}
	return nil
}

const hashSize = 32

// leaves is a full tile of leaf hashes.
func (d *opened) leaves(number int64) ([]byte, error) {
	path := auditlog.TilePath(0, number, auditlog.TileWidth)
	tile, err := read(d.dir, path)
	if err == nil && len(tile) != auditlog.TileWidth*hashSize {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, damaged("%s can't be read: %s", path, fileio.Reason(err))
	}
	return tile, nil
}

// checkBundle holds a bundle against its leaf hashes, if a part has it.
func (d *opened) checkBundle(number int64, leaves []byte) error {
	at := number * auditlog.TileWidth
	for _, p := range d.parts {
		if at < p.First || at >= p.Size {
			continue
		}
		one := Archives{dirs: []opened{*d}}
		if _, err := one.load(number); err != nil {
			return err
		}
		for n, body := range one.held.bodies {
			leaf := auditlog.LeafHash(body)
			if string(leaf[:]) != string(leaves[n*hashSize:][:hashSize]) {
				return damaged("entry %d in %s is not the one that was sealed", at+int64(n), auditlog.BundlePath(number))
			}
		}
	}
	return nil
}
