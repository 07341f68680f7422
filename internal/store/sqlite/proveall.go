package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"

	"interlock/internal/ledger"
	"interlock/internal/store/proof"
)

// provedSince is the version from which standing rows are proved, besideSince that from which everything beside the log is.
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
	_, err := s.writer.exec(ctx, "INSERT INTO proofs (one, tags) VALUES (1, ?)", proof.NewState().Tags)
	return err
}

// proveAll brings a store to version 10: it gives everything that is there its proof, in the transaction of the migration. What is
// there then is what was believed until then; what version 9 did not believe is not believed afterwards either.
func (s *Store) proveAll(ctx context.Context, from int64) error {
	head, now, err := s.soundHead(ctx)
	if err != nil {
		return err
	}
	p := proof.NewState()
	doubted := &doubts{}
	if from == provedSince {
		if doubted, err = s.doubts(ctx, head); err != nil {
			return err
		}
		p.Sound = !doubted.all
	}
	if err := s.proveRows(ctx, doubted); err != nil {
		return err
	}
	if from > 0 { // else it has just been made
		if err := s.movePassed(ctx); err != nil {
			return err
		}
	}
	if err := s.proveParts(ctx, p, doubted); err != nil {
		return err
	}
	if err := s.proveCalls(ctx, &p.Sums[proof.Calls]); err != nil {
		return err
	}
	if p.Sums[proof.Blobs], err = s.writer.ProveBlobs(ctx); err != nil {
		return err
	}
	if err := s.proveNotes(ctx); err != nil {
		return err
	}
	if _, err := s.writer.exec(ctx, "UPDATE proofs SET tags = ? WHERE one = 1", p.Tags); err != nil {
		return err
	}
	b := &batch{store: s, proved: s.prover.Change(s.writer, p), after: now}
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
	p, proved := &proof.State{}, []byte(nil)
	if _, err := s.writer.row(ctx, "SELECT p.tags, h.proved FROM head h LEFT JOIN proofs p ON p.one = 1 WHERE h.one = 1", nil, &p.Tags,
		&proved); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(p.Tags)
	want := s.options.Sealer.Tag([]byte("head"), binary.BigEndian.AppendUint64(nil, uint64(head.Size)), []byte(head.Last), sum[:])
	if d.all = len(p.Tags) != proof.Parts*proof.TagSize || !bytes.Equal(proved, want[:]); d.all {
		return d, nil
	}
	claims := map[int][]proof.Claim{}
	err := s.writer.each(ctx, "SELECT id, kind, key, body, owner, proof FROM rows ORDER BY owner, proof", nil,
		func(scan func(...any) error) error {
			r, id, number, stored := ledger.Row{}, int64(0), (*int64)(nil), []byte(nil)
			if err := scan(&id, &r.Kind, &r.Key, &r.Body, &number, &stored); err != nil || !s.book.Proved(r.Kind) || unproved9(r.Kind) {
				return err
			}
			owner, wrong := s.book.Owner(r)
			tag := s.options.Sealer.Tag([]byte("row"), []byte(r.Kind), []byte(r.Key), r.Body)
			if wrong != nil || !bytes.Equal(tag[:proof.Size], stored) || (owner == "") != (number == nil) ||
				owner != "" && proof.OwnerNumber(owner) != *number {
				d.rows[id] = true
				return nil
			}
			if owner != "" {
				one := proof.Claim{Owner: *number, Proof: [proof.Size]byte(stored)}
				claims[proof.PartOf(*number)] = append(claims[proof.PartOf(*number)], one)
			}
			return nil
		})
	for part := range proof.Parts {
		if tag := s.prover.Part(part, claims[part]); !bytes.Equal(tag[:], p.Tag(part)) {
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
				owner = proof.OwnerNumber(name)
			}
			tag := s.prover.Row(p.row)
			if err := s.writer.done(ctx, "UPDATE rows SET owner = ?, proof = ? WHERE id = ?", owner, tag[:], p.id); err != nil {
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
		rows[i].owner = proof.PassNumber(rows[i].Kind, rows[i].Key)
	}
	b := &batch{store: s, proved: s.prover.Change(s.writer, &proof.State{})} // which are none yet: the claims come with the parts
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
func (s *Store) proveParts(ctx context.Context, p *proof.State, doubted *doubts) error {
	parts := map[int][]proof.Claim{}
	for _, table := range []string{"rows", "passing"} {
		id := "0"
		if table == "rows" {
			id = "id"
		}
		err := s.writer.each(ctx, "SELECT owner, proof, "+id+" FROM "+table+" WHERE owner IS NOT NULL ORDER BY owner, proof", nil,
			func(scan func(...any) error) error {
				one, stored, id := proof.Claim{}, []byte(nil), int64(0)
				if err := scan(&one.Owner, &stored, &id); err != nil || doubted.rows[id] {
					return err
				}
				copy(one.Proof[:], stored)
				part := proof.PartOf(one.Owner)
				if table == "passing" {
					part = proof.PassPart(one.Owner)
				}
				parts[part] = append(parts[part], one)
				return nil
			})
		if err != nil {
			return err
		}
	}
	for part := range proof.Parts + proof.PassParts {
		claims := parts[part]
		if doubted.parts[part] {
			claims = append(claims, proof.Claim{Owner: -1})
		}
		tag := s.prover.Part(part, claims)
		copy(p.Tag(part), tag[:])
	}
	p.Summarize(true, true)
	return nil
}

// proveCalls proves the calls.
func (s *Store) proveCalls(ctx context.Context, total *proof.Sum) error {
	var rows []proof.Filed // read first: a statement that reads must not see what another writes
	err := s.writer.Filed(ctx, func(f *proof.Filed) error {
		rows = append(rows, *f)
		return nil
	})
	for i := range rows {
		if err == nil {
			tag, adds, _ := s.prover.Sum(&rows[i])
			total.Add(adds)
			err = s.writer.done(ctx, "UPDATE calls SET proof = ? WHERE id = ?", tag[:], rows[i].ID)
		}
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
		proofs[first] = s.prover.Notes(first, notes)
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
