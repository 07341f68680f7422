package auditlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"interlock"
)

// bareEntry checks an entry whose content is in an archive. Its hash is where it was sealed, so the signed head covers it
// like every other; what it said, and which number of its run it was, shows where the archive is read as well.
func (v *verification) bareEntry(e *interlock.Entry) *finding {
	if Stays(e.Type) {
		return &finding{Problem: Problem{Kind: ProblemRemoved, Index: e.Index, Event: e.ID,
			Message: "its content was removed, and events of its type stay when others are archived"}, entry: *e}
	}
	leaf := [hashSize]byte(e.Hashes[:hashSize])
	v.hashes = v.tree.add(v.hashes[:0], leaf)
	if !bytes.Equal(e.Hashes, v.hashes) {
		v.tree.size-- // the report counts what is sound
		return changed(e, "the tree hashes stored with it are not those of the log before it")
	}
	v.before, v.previous, v.lastID = v.previous, hashText(leaf), e.ID
	v.released, v.bare = v.released+1, e.Index+1
	return v.heads(e)
}

// undeclared finds the first entry whose content is gone although no event says that it was archived.
func (v *verification) undeclared(ctx context.Context, source Source) (*Problem, error) {
	if v.bare <= v.archived {
		return nil, nil
	}
	var named *Problem
	err := source.Walk(ctx, func(e interlock.Entry) error {
		if e.Index < v.archived || !Released(&e) {
			return nil
		}
		named = &Problem{Kind: ProblemRemoved, Index: e.Index, Event: e.ID,
			Message: "its content was removed, and no event says that it was archived"}
		return errFound
	})
	if err != nil && !errors.Is(err, errFound) {
		return named, fmt.Errorf("auditlog: read the log again: %w", err)
	}
	return named, nil
}
