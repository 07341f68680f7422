package auditlog

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"

	"interlock/internal/ledger"
)

// hashSize is the size of every hash in the tree.
const hashSize = sha256.Size

// An edge is the right edge of an RFC 6962 tree: the roots of the perfect subtrees its leaves fall into, largest first.
// It is all that appending needs.
type edge struct {
	size  int64
	roots [][hashSize]byte
}

// newEdge reads the edge from a head.
func newEdge(head ledger.Head) (edge, error) {
	count := bits.OnesCount64(uint64(head.Size))
	if head.Size < 0 || len(head.Edge) != count*hashSize {
		return edge{}, fmt.Errorf("auditlog: the head says %d entries and has %d bytes of edge", head.Size, len(head.Edge))
	}
	e := edge{size: head.Size, roots: make([][hashSize]byte, count, count+8)}
	for i := range e.roots {
		copy(e.roots[i][:], head.Edge[i*hashSize:])
	}
	return e, nil
}

// bytes renders the edge for a head.
func (e *edge) bytes() []byte {
	out := make([]byte, 0, len(e.roots)*hashSize)
	for i := range e.roots {
		out = append(out, e.roots[i][:]...)
	}
	return out
}

// add appends a leaf hash and writes the hashes it completes, level 0 first, to dst.
func (e *edge) add(dst []byte, leaf [hashSize]byte) []byte {
	dst = append(dst, leaf[:]...)
	h := leaf
	for n := e.size; n&1 == 1; n >>= 1 {
		last := len(e.roots) - 1
		h = nodeHash(&e.roots[last], &h)
		e.roots = e.roots[:last]
		dst = append(dst, h[:]...)
	}
	e.roots = append(e.roots, h)
	e.size++
	return dst
}

// root returns the tree hash.
func (e *edge) root() [hashSize]byte {
	if e.size == 0 {
		return sha256.Sum256(nil)
	}
	last := len(e.roots) - 1
	h := e.roots[last]
	for i := last - 1; i >= 0; i-- {
		h = nodeHash(&e.roots[i], &h)
	}
	return h
}

// nodeHash is RFC 6962's hash of an inner node.
func nodeHash(left, right *[hashSize]byte) [hashSize]byte {
	var node [1 + 2*hashSize]byte
	node[0] = 1
	copy(node[1:], left[:])
	copy(node[1+hashSize:], right[:])
	return sha256.Sum256(node[:])
}

// RecordHash returns the RFC 6962 leaf hash of an event's bytes, written like every digest in an event.
func RecordHash(body []byte) string { return hashText(tlog.RecordHash(body)) }

// HashRows reads the hashes column of entries by index: what [interlock.Entry.Hashes] holds. A store and an exported copy
// both are one.
type HashRows interface {
	Hashes(ctx context.Context, index int64) ([]byte, error)
}

// hashReader serves tlog's stored hashes from rows. The hash of level L and number n is complete when leaf
// (n+1)<<L - 1 is there, and is in that leaf's row at position L.
func hashReader(ctx context.Context, rows HashRows) tlog.HashReader {
	return tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		hashes := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			level, n := tlog.SplitStoredHashIndex(index)
			row := (n+1)<<level - 1
			stored, err := rows.Hashes(ctx, row)
			if err != nil {
				return nil, fmt.Errorf("read the tree hashes of entry %d: %w", row, err)
			}
			if len(stored) < (level+1)*hashSize {
				return nil, fmt.Errorf("entry %d lacks a tree hash", row)
			}
			copy(hashes[i][:], stored[level*hashSize:])
		}
		return hashes, nil
	})
}

// ProveInclusion returns the hashes that lead from leaf index to the root of the tree of the given size.
func ProveInclusion(ctx context.Context, rows HashRows, size, index int64) ([][32]byte, error) {
	if index < 0 || index >= size {
		return nil, fmt.Errorf("auditlog: entry %d is not in a log of %d", index, size)
	}
	proof, err := tlog.ProveRecord(size, index, hashReader(ctx, rows))
	if err != nil {
		return nil, fmt.Errorf("auditlog: prove entry %d: %w", index, err)
	}
	return plainHashes(proof), nil
}

// ProveConsistency returns the hashes that show the tree of size old to be a prefix of the tree of the given size.
func ProveConsistency(ctx context.Context, rows HashRows, size, old int64) ([][32]byte, error) {
	if old < 1 || old > size {
		return nil, fmt.Errorf("auditlog: a log of %d has no prefix of %d to prove", size, old)
	}
	proof, err := tlog.ProveTree(size, old, hashReader(ctx, rows))
	if err != nil {
		return nil, fmt.Errorf("auditlog: prove that %d is a prefix of %d: %w", old, size, err)
	}
	return plainHashes(proof), nil
}

// CheckConsistency checks a proof made by ProveConsistency against two checkpoints.
func CheckConsistency(proof [][32]byte, newer, older Checkpoint) error {
	if older.Size == 0 {
		return nil
	}
	if err := tlog.CheckTree(treeHashes(proof), newer.Size, newer.Root, older.Size, older.Root); err != nil {
		return errors.New("auditlog: the older checkpoint is not a prefix of the newer one")
	}
	return nil
}

func plainHashes(hashes []tlog.Hash) [][32]byte {
	out := make([][32]byte, len(hashes))
	for i, h := range hashes {
		out[i] = h
	}
	return out
}

func treeHashes(hashes [][32]byte) []tlog.Hash {
	out := make([]tlog.Hash, len(hashes))
	for i, h := range hashes {
		out[i] = h
	}
	return out
}
