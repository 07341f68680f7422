package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"

	"interlock"
	"interlock/internal/ledger"
)

// Finding an entry by its event id. Ids are random, so a B-tree over them would make every commit touch a page of its own
// somewhere in the index: several times what the entries themselves cost. Instead the ids of every idBlock entries are
// noted in one row, eight bytes each, in the order of the log. Looking one up reads these notes from the newest back,
// about 8 MB for a million entries, and then the entry itself, whose whole id decides. The notes are not part of the
// truth: each row has a proof, and one that is missing or is not Interlock's is made up for from the entries.

// idBlock is how many entries one row of notes covers.
const idBlock = 256

// noteIDs writes the notes that the entries of a transaction complete, and keeps those of the block they begin for the
// next transaction.
func (b *batch) noteIDs(ctx context.Context, entries []interlock.Entry) error {
	s := b.store
	first, size := entries[0].Index, entries[len(entries)-1].Index+1
	if s.noted != first {
		if first/idBlock == size/idBlock && first%idBlock != 0 {
			return nil // the block's beginning is read when its end is here: a brief process seldom gets there
		}
		if err := s.readNotes(ctx, first); err != nil {
			return err
		}
	}
	for i := range entries {
		note := idNote(entries[i].ID)
		s.notes = append(s.notes, note[:]...)
		if end := entries[i].Index + 1; end%idBlock == 0 {
			if _, err := s.writer.exec(ctx, "INSERT OR REPLACE INTO ids (first, notes, proof) VALUES (?, ?, ?)", end-idBlock,
				s.notes, s.prover.Notes(end-idBlock, s.notes)); err != nil {
				return err
			}
			s.notes = s.notes[:0]
		}
	}
	s.noted = size
	return nil
}

// madeNotes makes a row of notes from the entries that it is about.
func madeNotes(ctx context.Context, c *conn, first int64) (notes []byte, err error) {
	err = c.each(ctx, "SELECT id FROM entries WHERE idx >= ? AND idx < ? ORDER BY idx", []any{first, first + idBlock},
		func(scan func(...any) error) error {
			var id []byte
			if err := scan(&id); err != nil {
				return err
			}
			note := idNote(idOf(id))
			notes = append(notes, note[:]...)
			return nil
		})
	return notes, err
}

// eachNotes visits the rows of notes of a log of so many entries, from the newest on. One that is missing, or is not Interlock's where
// that can be told, comes without notes.
func (s *Store) eachNotes(ctx context.Context, c *conn, size int64, visit func(first int64, notes []byte) error) error {
	checked := s.options.Sealer != nil
	query := "SELECT first, notes, proof FROM ids WHERE first >= 0 AND first < ? ORDER BY first DESC"
	if !checked { // it may be a store of before
		query = "SELECT first, notes, NULL FROM ids WHERE first >= 0 AND first < ? ORDER BY first DESC"
	}
	size -= size % idBlock
	next := size - idBlock
	missing := func(downTo int64) error {
		for ; next > downTo; next -= idBlock {
			if err := visit(next, nil); err != nil {
				return err
			}
		}
		return nil
	}
	err := c.each(ctx, query, []any{size}, func(scan func(...any) error) error {
		var first int64
		var notes, proof []byte
		if err := scan(&first, &notes, &proof); err != nil || first%idBlock != 0 {
			return err
		}
		if err := missing(first); err != nil {
			return err
		}
		next -= idBlock
		if len(notes) != 8*idBlock || checked && !bytes.Equal(proof, s.prover.Notes(first, notes)) {
			notes = nil
		}
		return visit(first, notes)
	})
	if err == nil {
		err = missing(-idBlock)
	}
	return err
}

// readNotes makes the notes of the block that an index lies in, up to that index.
func (s *Store) readNotes(ctx context.Context, index int64) error {
	s.notes, s.noted = s.notes[:0], -1
	if index%idBlock == 0 {
		return nil
	}
	return s.writer.each(ctx, "SELECT id FROM entries WHERE idx >= ? AND idx < ? ORDER BY idx",
		[]any{index - index%idBlock, index},
		func(scan func(...any) error) error {
			var id []byte
			if err := scan(&id); err != nil {
				return err
			}
			note := idNote(idOf(id))
			s.notes = append(s.notes, note[:]...)
			return nil
		})
}

// idNote is the first eight bytes of an event id.
func idNote(id string) (note [8]byte) {
	if len(id) >= 16 {
		_, _ = hex.Decode(note[:], []byte(id[:16])) // what is no id is found as one that begins with what could be read
	}
	return note
}

// storedID is an event id as it is stored: as bytes, where earlier versions wrote the hexadecimal text, which stays.
func storedID(id string) any {
	if raw, err := hex.DecodeString(id); err == nil && len(raw) == idBytes && hex.EncodeToString(raw) == id {
		return raw
	}
	return id
}

// idOf is the event id that is stored so.
func idOf(stored []byte) string {
	if len(stored) == idBytes {
		return hex.EncodeToString(stored)
	}
	return string(stored)
}

// idBytes is the length of an event id, 64 digits, in bytes.
const idBytes = 32

// Entry finds an entry by its event id.
func (s *Store) Entry(ctx context.Context, eventID string) (interlock.Entry, bool, error) {
	if len(eventID) != 64 {
		return interlock.Entry{}, false, nil
	}
	var places []int64
	err := s.read(ctx, "find an event", func(c *conn) error {
		head, _, err := readHead(ctx, c)
		if err != nil {
			return err
		}
		var index int64
		tail := head.Size - head.Size%idBlock
		found, err := c.row(ctx, "SELECT idx FROM entries WHERE idx >= ? AND id IN (?, ?) LIMIT 1",
			[]any{tail, storedID(eventID), eventID}, &index)
		if err != nil || found {
			places = append(places, index)
			return err
		}
		places, err = s.notedAt(ctx, c, tail, eventID)
		return err
	})
	if err != nil {
		return interlock.Entry{}, false, err
	}
	for _, index := range places {
		entries, err := s.Entries(ctx, "", ledger.From(index, 1))
		if err != nil {
			return interlock.Entry{}, false, err
		}
		if len(entries) == 1 && entries[0].ID == eventID {
			return entries[0], true, nil
		}
	}
	return interlock.Entry{}, false, nil
}

// notedAt returns where the notes of a log of so many entries have an id's first bytes, newest first.
func (s *Store) notedAt(ctx context.Context, c *conn, size int64, eventID string) ([]int64, error) {
	var places []int64
	begins := idNote(eventID)
	want := binary.BigEndian.Uint64(begins[:])
	err := s.eachNotes(ctx, c, size, func(first int64, notes []byte) (err error) {
		if notes == nil {
			if notes, err = madeNotes(ctx, c, first); err != nil {
				return err
			}
		}
		for at := 0; at+8 <= len(notes); at += 8 {
			if binary.BigEndian.Uint64(notes[at:]) == want {
				places = append(places, first+int64(at/8))
			}
		}
		if len(places) > 0 {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return places, err
}
