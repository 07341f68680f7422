package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock/internal/ledger"
)

// What passes is proved as what stands is, with one difference: each row is its own owner, so that its place in the table says which
// it is, and that none is there is proved as well. A row that is over is forgotten, with its claim.

// passNumber is the owner of the row under a key.
func passNumber(kind, key string) int64 { return ownerNumber(kind + "\x00" + key) }

// passProof is the proof of a row that passes.
func (s *Store) passProof(r ledger.Row, until int64) (proof [proofSize]byte) {
	tag := s.options.Sealer.Tag([]byte("passing 10"), []byte(r.Kind), []byte(r.Key), binary.BigEndian.AppendUint64(nil, uint64(until)), r.Body)
	copy(proof[:], tag[:])
	return proof
}

// eachPassing reads the rows of a part of what passes, and whether Interlock has written them so.
func (s *Store) eachPassing(ctx context.Context, c *conn, part int, visit func(r ledger.Row, one claim, genuine bool)) error {
	_, from, upTo := spanOf(part)
	return c.each(ctx, "SELECT owner, kind, key, until, proof, body FROM passing WHERE owner BETWEEN ? AND ? ORDER BY owner",
		[]any{from, upTo}, func(scan func(...any) error) error {
			r, one, until := ledger.Row{}, claim{}, int64(0)
			var proof []byte
			if err := scan(&one.owner, &r.Kind, &r.Key, &until, &proof, &r.Body); err != nil {
				return err
			}
			copy(one.proof[:], proof)
			visit(r, one, passNumber(r.Kind, r.Key) == one.owner && s.passProof(r, until) == one.proof)
			return nil
		})
}

// passed returns the row under a key, which has no body if it is not there, as far as it is proved.
func (n *snapshot) passed(ctx context.Context, kind, key string) (r ledger.Row, err error) {
	r = ledger.Row{Kind: kind, Key: key}
	if err := n.begin(ctx); err != nil {
		return r, err
	}
	owner := passNumber(kind, key)
	part := passPart(owner)
	if n.proofs.sound && !n.steady {
		have, known := n.store.parts.get(part, n.proofs.tag(part))
		if found, is := have.passed(r); known && is {
			return found, nil
		}
		if known && n.conn != nil {
			return n.store.claimedPass(ctx, n.conn, r, have.claims, errUnsteady)
		}
	}
	if n.conn == nil {
		return r, errElsewhere
	}
	if n.steady || !n.proofs.sound {
		claims, foreign, err := n.store.readPart(ctx, n.conn, n.proofs, part)
		n.foreign = append(n.foreign, foreign...)
		if err != nil {
			return r, err
		}
		return n.store.claimedPass(ctx, n.conn, r, claims, nil)
	}
	// All of it in one go: the claims of the part, and the row.
	_, from, upTo := spanOf(part)
	var claims []claim
	found, err := r, nil
	err = n.conn.each(ctx, "SELECT owner, proof, iif(owner = ?1, kind, NULL), iif(owner = ?1, key, NULL), iif(owner = ?1, until, NULL), "+
		"iif(owner = ?1, body, NULL) FROM passing WHERE owner BETWEEN ?2 AND ?3 ORDER BY owner", []any{owner, from, upTo},
		func(scan func(...any) error) error {
			var one claim
			var proof, body []byte
			var kind, key *string
			var until *int64
			if err := scan(&one.owner, &proof, &kind, &key, &until, &body); err != nil {
				return err
			}
			copy(one.proof[:], proof)
			claims = append(claims, one)
			if one.owner == owner {
				found = ledger.Row{Kind: *kind, Key: *key, Body: body}
				if n.store.passProof(found, *until) != one.proof || found.Kind != r.Kind || found.Key != r.Key {
					return errUnsteady
				}
			}
			return nil
		})
	if err != nil {
		return r, err
	}
	if tag := n.store.tagOf(part, claims); bytes.Equal(tag[:], n.proofs.tag(part)) {
		n.store.parts.keep(part, tag, claims, nil)
		return found, nil
	}
	return r, errUnsteady
}

// passed returns the row under a key as it is remembered: as not there, where nobody claims it.
func (r *readPart) passed(row ledger.Row) (found ledger.Row, known bool) {
	from, upTo := r.span(passNumber(row.Kind, row.Key))
	if from == upTo {
		return row, true
	}
	if r.texts == nil || r.texts[from] == "" {
		return row, false
	}
	found, whole := unpackRow(r.texts[from])
	return found, whole && found.Kind == row.Kind && found.Key == row.Key
}

// knows has a row remembered that the transaction writes.
func (b *batch) knows(c claim, r ledger.Row) {
	if b.store.options.Brief {
		return
	}
	if b.texts == nil {
		b.texts = map[claim]string{}
	}
	b.texts[c] = string(packRow(nil, r))
}

// claimedPass reads the row under a key and holds it against the claims of its part. otherwise is what is said of a row that is not as
// it is claimed; nil: what is wrong with it. A row that nobody claims is as if it were not there.
func (s *Store) claimedPass(ctx context.Context, c *conn, r ledger.Row, claims []claim, otherwise error) (ledger.Row, error) {
	owner := passNumber(r.Kind, r.Key)
	found, until, proof := ledger.Row{}, int64(0), []byte(nil)
	is, err := c.row(ctx, "SELECT kind, key, until, proof, body FROM passing WHERE owner = ?", []any{owner}, &found.Kind, &found.Key,
		&until, &proof, &found.Body)
	if err != nil {
		return r, err
	}
	at, _ := slices.BinarySearchFunc(claims, claim{owner: owner}, claim.compare)
	claimed := at < len(claims) && claims[at].owner == owner
	switch {
	case !claimed && (!is || otherwise == nil):
		return r, nil
	case claimed && is && found.Kind == r.Kind && found.Key == r.Key && bytes.Equal(proof, claims[at].proof[:]) &&
		s.passProof(found, until) == claims[at].proof:
		return found, nil
	case otherwise != nil:
		return r, otherwise
	case is:
		return r, &ledger.Tampered{Kind: r.Kind, Key: r.Key, What: "was changed"}
	}
	return r, gone(passPart(owner))
}

// passed is the row under a key as the transaction found it. Where the proofs are none of this log's, nothing that passes is known.
func (b *batch) passed(ctx context.Context, kind, key string) (ledger.Row, error) {
	r := ledger.Row{Kind: kind, Key: key}
	if !b.proofs.sound {
		return r, nil
	}
	part := passPart(passNumber(kind, key))
	if have, known := b.store.parts.get(part, b.proofs.tag(part)); known && !b.dirty[part] {
		if found, is := have.passed(r); is && found.Body != nil {
			return found, nil
		}
	}
	if _, read := b.parts[part]; !read { // mostly row and part in one go
		n := &snapshot{store: b.store, conn: b.store.writer, known: b.proofs}
		if found, err := n.passed(ctx, kind, key); !errors.Is(err, errUnsteady) {
			return found, err
		}
	}
	claims, err := b.part(ctx, part)
	if err != nil {
		return r, err
	}
	return b.store.claimedPass(ctx, b.store.writer, r, claims, nil)
}

// claim has a row claimed in the place of whichever was claimed there before. Its part was read.
func (b *batch) claim(one claim) {
	if !b.proofs.sound {
		return
	}
	b.unclaim(one.owner)
	b.moveIn(passPart(one.owner), one, true)
}

// unclaim takes away what is claimed of an owner of what passes, which is one row.
func (b *batch) unclaim(owner int64) {
	claims := b.parts[passPart(owner)]
	at, _ := slices.BinarySearchFunc(claims, claim{owner: owner}, claim.compare)
	if at < len(claims) && claims[at].owner == owner {
		b.moveIn(passPart(owner), claims[at], false)
	}
}

// forgetPassed deletes a row.
func (b *batch) forgetPassed(ctx context.Context, owner int64) error {
	if b.proofs.sound {
		if _, err := b.part(ctx, passPart(owner)); err != nil {
			return err
		}
		b.unclaim(owner)
	}
	_, err := b.store.writer.exec(ctx, "DELETE FROM passing WHERE owner = ?", owner)
	return err
}

// forgetWhere deletes rows, at most so many. Those of a part that was tampered with stay: nobody could say afterwards what it lacks.
func (b *batch) forgetWhere(ctx context.Context, most int, where string, args ...any) error {
	var owners []int64
	err := b.store.writer.each(ctx, "SELECT owner FROM passing WHERE "+where+" LIMIT ?", append(args, most),
		func(scan func(...any) error) error {
			var owner int64
			err := scan(&owner)
			owners = append(owners, owner)
			return err
		})
	for _, owner := range owners {
		if err != nil {
			return err
		}
		err = b.forgetPassed(ctx, owner)
		if tampered := (*ledger.Tampered)(nil); errors.As(err, &tampered) {
			err = nil
		}
	}
	return err
}

// runKind is the kind of the rows that say where runs are in their sequences. They are the store's own, and no part of the ledger.
const runKind = "run"

// runLife is how long it is remembered where a run is. One that goes on after that goes on as another.
const runLife = 7 * 24 * time.Hour

// jobOf reads where a run is.
func jobOf(body []byte) (j job, err error) {
	next, seed, ok := strings.Cut(string(body), " ")
	if j.next, err = strconv.ParseInt(next, 10, 64); err == nil && !ok {
		err = fmt.Errorf("a run has no seed")
	}
	j.seed = seed
	return j, err
}

// keptRuns are the runs of the transaction as rows. Where one's part was tampered with it is not kept, and the run goes on as another
// in the next process: events are recorded whatever was done to what is beside them.
func (b *batch) keptRuns(ctx context.Context) (rows []passRow, err error) {
	until := b.store.at(&b.accepted[0].change).Add(runLife).UnixNano()
	for run, j := range b.touched { // the rows are sorted before they are written
		if len(b.store.jobs) >= maxJobs {
			b.store.jobs = map[string]job{}
		}
		b.store.jobs[run] = j
		owner := passNumber(runKind, run)
		if b.proofs.sound {
			_, err := b.part(ctx, passPart(owner))
			if tampered := (*ledger.Tampered)(nil); errors.As(err, &tampered) {
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		body := append(strconv.AppendInt(nil, j.next, 10), " "+j.seed...)
		rows = append(rows, passRow{ledger.Row{Kind: runKind, Key: run, Body: body}, owner, until})
	}
	return rows, nil
}
