package auditlog

import (
	"encoding/binary"
	"errors"
	"fmt"

	"interlock"
)

// TileWidth is how many hashes a full tile holds, and how many entries a bundle (C2SP tlog-tiles).
const TileWidth = 256

// tileHeight is how many levels of the tree lie between two levels of tiles.
const tileHeight = 8

// TilePath is where a static log keeps the hash tile of a level and number, as C2SP tlog-tiles has it. A width below
// [TileWidth] is that of a partial tile.
func TilePath(level int, number int64, width int) string {
	path := fmt.Sprintf("tile/%d/%s", level, tileNumber(number))
	if width < TileWidth {
		path += fmt.Sprintf(".p/%d", width)
	}
	return path
}

// BundlePath is where a static log keeps the bundle of entries of a number, which is full.
func BundlePath(number int64) string { return "tile/entries/" + tileNumber(number) }

// BundleNumber is a bundle's number as it is written in paths: three digits an element, and all but the last begin with an x.
func BundleNumber(number int64) string { return tileNumber(number) }

func tileNumber(n int64) string {
	text := fmt.Sprintf("%03d", n%1000)
	for n /= 1000; n > 0; n /= 1000 {
		text = fmt.Sprintf("x%03d/%s", n%1000, text)
	}
	return text
}

// AppendBundled appends an entry as it is stored in a bundle: its length in two bytes, and its bytes.
func AppendBundled(bundle, body []byte) []byte {
	return append(binary.BigEndian.AppendUint16(bundle, uint16(len(body))), body...)
}

// ReadBundle returns the entries of a full bundle.
func ReadBundle(bundle []byte) ([][]byte, error) {
	entries := make([][]byte, 0, TileWidth)
	for len(bundle) >= 2 {
		n := int(binary.BigEndian.Uint16(bundle))
		if len(bundle) < 2+n {
			break
		}
		entries, bundle = append(entries, bundle[2:2+n:2+n]), bundle[2+n:]
	}
	if len(bundle) > 0 || len(entries) != TileWidth {
		return nil, errors.New("auditlog: this is not a full bundle of entries")
	}
	return entries, nil
}

// A Tiler makes a static log's hash tiles of the tree hashes of its entries, which it is given in order.
type Tiler struct {
	levels []tileLevel
	tree   edge
}

type tileLevel struct {
	number int64
	hashes []byte
}

// Add takes the next entry's leaf hash, the first of those that stand with it, and gives each tile that it completes to visit.
func (t *Tiler) Add(hashes []byte, visit func(path string, tile []byte) error) error {
	if len(hashes) < hashSize {
		return errors.New("auditlog: an entry has no hash")
	}
	all := t.tree.add(nil, [hashSize]byte(hashes[:hashSize]))
	for level := 0; len(all) > level*tileHeight*hashSize; level++ {
		if level == len(t.levels) {
			t.levels = append(t.levels, tileLevel{})
		}
		l := &t.levels[level]
		l.hashes = append(l.hashes, all[level*tileHeight*hashSize:][:hashSize]...)
		if len(l.hashes) < TileWidth*hashSize {
			continue
		}
		if err := visit(TilePath(level, l.number, TileWidth), l.hashes); err != nil {
			return err
		}
		l.number, l.hashes = l.number+1, l.hashes[:0]
	}
	return nil
}

// Rest gives the tiles that are not full to visit.
func (t *Tiler) Rest(visit func(path string, tile []byte) error) error {
	for level, l := range t.levels {
		if len(l.hashes) == 0 {
			continue
		}
		if err := visit(TilePath(level, l.number, len(l.hashes)/hashSize), l.hashes); err != nil {
			return err
		}
	}
	return nil
}

// Checkpoint is the unsigned head of what was added, of a log with a name.
func (t *Tiler) Checkpoint(origin string) Checkpoint {
	return Checkpoint{Origin: origin, Size: t.tree.size, Root: t.tree.root()}
}

// LeafHash is the hash under which an event's bytes stand in the tree.
func LeafHash(body []byte) [32]byte { return leafHash(body) }

// Released reports whether an entry's content has left the store for an archive: its hashes are there still.
func Released(e *interlock.Entry) bool { return len(e.Body) == 0 && len(e.Hashes) >= hashSize }

// Leaf is an entry's leaf hash, written like every digest in an event, whether its content is here or not.
func Leaf(e *interlock.Entry) string {
	if Released(e) {
		return hashText([hashSize]byte(e.Hashes[:hashSize]))
	}
	return RecordHash(e.Body)
}

// ErrReleased says that an entry can't be shown, because its content is in an archive.
func ErrReleased(e *interlock.Entry) error { return errReleased(e) }

// Stays reports whether entries of a type stay in the store when they are archived: those by which people govern, on which what
// is kept beside the log rests, and alarms.
func Stays(kind interlock.EventType) bool { return governs(kind) }

// A Grown is a tree that grows by one leaf after another.
type Grown struct{ tree edge }

// Add appends a leaf and returns the hashes that it completes, level 0 first.
func (g *Grown) Add(leaf [32]byte) []byte { return g.tree.add(nil, leaf) }
