package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"

	"interlock/internal/ledger"
)

// provedSince is the version from which what stands is proved, besideSince that from which everything beside the log is.
const (
	provedSince = 9
	besideSince = 10
)

// moveCarried brings a store to version 9: orders that were carried out are rows for ever. It runs in the transaction of the migration.
func (s *Store) moveCarried(ctx context.Context) error {
	if _, _, err := s.soundHead(ctx); err != nil {
		return err
	}
	for _, statement := range []string{
		"INSERT INTO rows (kind, key, version, body) SELECT kind, key, 0, body FROM passing WHERE kind = ?1",
		"DELETE FROM passing WHERE kind = ?1",
	} {
		if _, err := s.writer.exec(ctx, statement, ledger.Carried); err != nil {
			return err
		}
	}
	_, err := s.writer.exec(ctx, "INSERT INTO proofs (one, tags) VALUES (1, ?)", make([]byte, proofParts*partTag))
	return err
}

// proveAll brings a store to version 10: it gives everything that is there its proof, in the transaction of the migration. What is
// there then is what was believed until then; what version 9 did not believe is not believed afterwards either.
func (s *Store) proveAll(ctx context.Context, from int64) error {
	head, now, err := s.soundHead(ctx)
	if err != nil {
		return err
	}
	p := &proofs{tags: make([]byte, proofParts*partTag), passing: make([]byte, passParts*partTag), sound: true}
	doubted := &doubts{}
	if from == provedSince {
		if doubted, err = s.doubts(ctx, head); err != nil {
			return err
		}
		p.sound = !doubted.all
	}
	if err := s.proveRows(ctx, doubted); err != nil {
		return err
	}
	if err := s.movePassed(ctx); err != nil {
		return err
	}
	if err := s.proveParts(ctx, p, doubted); err != nil {
		return err
	}
	if err := s.proveCalls(ctx, &p.sums[calls]); err != nil {
		return err
	}
	if err := s.proveBlobs(ctx, &p.sums[blobs]); err != nil {
		return err
	}
	if err := s.proveNotes(ctx); err != nil {
		return err
	}
	if _, err := s.writer.exec(ctx, "UPDATE proofs SET tags = ? WHERE one = 1", p.tags); err != nil {
		return err
	}
	b := &batch{store: s, proofs: p, sums: p.sums, after: now}
	if err := b.saveBeside(ctx, head); err != nil {
		return err
	}
	_, _, err = s.soundHead(ctx)
	return err
}

// doubts are what version 9 did not believe.
type doubts struct {
	all   bool           // the head's tag does not fit
	parts map[int]bool   // their tags do not fit
	rows  map[int64]bool // by their place: Interlock has not written them so
}

// doubts looks at what version 9 would have believed, by its own proofs.
func (s *Store) doubts(ctx context.Context, head ledger.Head) (*doubts, error) {
	d := &doubts{parts: map[int]bool{}, rows: map[int64]bool{}}
	p, proved := &proofs{}, []byte(nil)
	if _, err := s.writer.row(ctx, "SELECT p.tags, h.proved FROM head h LEFT JOIN proofs p ON p.one = 1 WHERE h.one = 1", nil, &p.tags,
		&proved); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(p.tags)
	want := s.options.Sealer.Tag([]byte("head"), binary.BigEndian.AppendUint64(nil, uint64(head.Size)), []byte(head.Last), sum[:])
	if d.all = len(p.tags) != proofParts*partTag || !bytes.Equal(proved, want[:]); d.all {
		return d, nil
	}
	claims := map[int][]claim{}
	err := s.writer.each(ctx, "SELECT id, kind, key, body, owner, proof FROM rows ORDER BY owner, proof", nil,
		func(scan func(...any) error) error {
			r, id, number, proof := ledger.Row{}, int64(0), (*int64)(nil), []byte(nil)
			if err := scan(&id, &r.Kind, &r.Key, &r.Body, &number, &proof); err != nil || !s.book.Proved(r.Kind) || unproved9(r.Kind) {
				return err
			}
			owner, wrong := s.book.Owner(r)
			tag := s.options.Sealer.Tag([]byte("row"), []byte(r.Kind), []byte(r.Key), r.Body)
			if wrong != nil || !bytes.Equal(tag[:proofSize], proof) || (owner == "") != (number == nil) ||
				owner != "" && ownerNumber(owner) != *number {
				d.rows[id] = true
				return nil
			}
			if owner != "" {
				one := claim{owner: *number}
				copy(one.proof[:], proof)
				claims[int(one.owner>>partShift)] = append(claims[int(one.owner>>partShift)], one)
			}
			return nil
		})
	for part := range proofParts {
		if tag := s.tagOf(part, claims[part]); !bytes.Equal(tag[:], p.tag(part)) {
			d.parts[part] = true
		}
	}
	return d, err
}

// unproved9 reports whether version 9 had no proofs of a kind that has them now.
func unproved9(kind string) bool { return kind == ledger.Definition || kind == ledger.Counter }

// proveRows proves the rows of every kind that needs it and that are not in doubt, a page at a time.
func (s *Store) proveRows(ctx context.Context, doubted *doubts) error {
	type placed struct {
		id  int64
		row ledger.Row
	}
	for from := int64(0); ; {
		var page []placed // read first: a statement that reads must not see what another writes
		err := s.writer.each(ctx, "SELECT id, kind, key, version, body FROM rows WHERE id > ? ORDER BY id LIMIT 1000", []any{from},
			func(scan func(...any) error) error {
				var p placed
				if err := scan(&p.id, &p.row.Kind, &p.row.Key, &p.row.Version, &p.row.Body); err != nil {
					return err
				}
				page = append(page, p)
				return nil
			})
		if err != nil || len(page) == 0 {
			return err
		}
		for _, p := range page {
			from = p.id
			if !s.book.Proved(p.row.Kind) || doubted.rows[p.id] {
				continue
			}
			name, err := s.book.Owner(p.row)
			if err != nil {
				return err
			}
			var owner any
			if name != "" {
				owner = ownerNumber(name)
			}
			proof := s.proofOf(p.row)
			if _, err := s.writer.exec(ctx, "UPDATE rows SET owner = ?, proof = ? WHERE id = ?", owner, proof[:], p.id); err != nil {
				return err
			}
		}
	}
}

// movePassed moves what passes, and where the runs of the log are, to where they are proved.
func (s *Store) movePassed(ctx context.Context) error {
	var rows []passRow // read first: a statement that reads must not see what another writes
	err := s.writer.each(ctx, "SELECT kind, key, until, body FROM passed", nil, func(scan func(...any) error) error {
		var r passRow
		err := scan(&r.Kind, &r.Key, &r.until, &r.Body)
		rows = append(rows, r)
		return err
	})
	if err != nil {
		return err
	}
	until := s.options.Now().Add(runLife).UnixNano()
	err = s.writer.each(ctx, "SELECT run, CAST(next AS TEXT) || ' ' || seed FROM jobs", nil, func(scan func(...any) error) error {
		r := passRow{until: until, Row: ledger.Row{Kind: runKind}}
		err := scan(&r.Key, &r.Body)
		rows = append(rows, r)
		return err
	})
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].owner = passNumber(rows[i].Kind, rows[i].Key)
	}
	b := &batch{store: s, proofs: &proofs{}} // which are none yet: the claims come with the parts
	if err := b.savePassed(ctx, rows); err != nil {
		return err
	}
	for _, table := range []string{"passed", "jobs"} {
		if _, err := s.writer.sql.ExecContext(ctx, "DROP TABLE "+table); err != nil {
			return err
		}
	}
	return nil
}

// proveParts makes the tags of the parts. That of a part in doubt fits nothing.
func (s *Store) proveParts(ctx context.Context, p *proofs, doubted *doubts) error {
	parts := map[int][]claim{}
	for _, table := range []string{"rows", "passing"} {
		id := "0"
		if table == "rows" {
			id = "id"
		}
		err := s.writer.each(ctx, "SELECT owner, proof, "+id+" FROM "+table+" WHERE owner IS NOT NULL ORDER BY owner, proof", nil,
			func(scan func(...any) error) error {
				one, proof, id := claim{}, []byte(nil), int64(0)
				if err := scan(&one.owner, &proof, &id); err != nil || doubted.rows[id] {
					return err
				}
				copy(one.proof[:], proof)
				part := int(one.owner >> partShift)
				if table == "passing" {
					part = passPart(one.owner)
				}
				parts[part] = append(parts[part], one)
				return nil
			})
		if err != nil {
			return err
		}
	}
	for part := range proofParts + passParts {
		claims := parts[part]
		if doubted.parts[part] {
			claims = append(claims, claim{owner: -1})
		}
		tag := s.tagOf(part, claims)
		copy(p.tag(part), tag[:])
	}
	p.sum, p.passed = sha256.Sum256(p.tags), sha256.Sum256(p.passing)
	return nil
}

// proveCalls proves the calls.
func (s *Store) proveCalls(ctx context.Context, total *sum) error {
	var rows []filedRow // read first: a statement that reads must not see what another writes
	err := s.writer.each(ctx, s.filedQuery("id IS NOT NULL"), nil, func(scan func(...any) error) error {
		var f filedRow
		_, err := f.scan(s, scan)
		rows = append(rows, f)
		return err
	})
	for i := range rows {
		if err != nil {
			return err
		}
		proof, adds := rows[i].tagged(s)
		total.add(adds)
		_, err = s.writer.exec(ctx, "UPDATE calls SET proof = ? WHERE id = ?", proof[:], rows[i].id)
	}
	return err
}

// proveBlobs proves what stands beside each blob.
func (s *Store) proveBlobs(ctx context.Context, total *sum) error {
	var rows []blobRow // read first: a statement that reads must not see what another writes
	err := s.writer.each(ctx, "SELECT digest, at, used FROM blobs", nil, func(scan func(...any) error) error {
		var r blobRow
		err := scan(&r.digest, &r.at, &r.used)
		rows = append(rows, r)
		return err
	})
	for i := range rows {
		if err != nil {
			return err
		}
		proof, adds := rows[i].tagged(s)
		total.add(adds)
		_, err = s.writer.exec(ctx, "UPDATE blobs SET proof = ? WHERE digest = ?", proof[:], rows[i].digest)
	}
	return err
}

// proveNotes proves where event ids are. A row that is none makes no difference: it is made up for.
func (s *Store) proveNotes(ctx context.Context) error {
	proofs := map[int64][]byte{} // read first, and so on
	err := s.writer.each(ctx, "SELECT first, notes FROM ids", nil, func(scan func(...any) error) error {
		var first int64
		var notes []byte
		err := scan(&first, &notes)
		proofs[first] = s.notesProof(first, notes)
		return err
	})
	for first, proof := range proofs { // any order: they don't depend on each other
		if err != nil {
			return err
		}
		_, err = s.writer.exec(ctx, "UPDATE ids SET proof = ? WHERE first = ?", proof, first)
	}
	return err
}
