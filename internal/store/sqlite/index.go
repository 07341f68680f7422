package sqlite

import (
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
// truth: what they leave out can't be found by id, and nothing else.

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
			if _, err := s.writer.exec(ctx, "INSERT OR REPLACE INTO ids (first, notes) VALUES (?, ?)", end-idBlock,
				s.notes); err != nil {
				return err
			}
			s.notes = s.notes[:0]
		}
	}
	s.noted = size
	return nil
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
		places, err = noted(ctx, c, eventID)
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

// noted returns where the notes have an id's first bytes, newest first.
func noted(ctx context.Context, c *conn, eventID string) ([]int64, error) {
	var places []int64
	begins := idNote(eventID)
	want := binary.BigEndian.Uint64(begins[:])
	err := c.each(ctx, "SELECT first, notes FROM ids ORDER BY first DESC", nil, func(scan func(...any) error) error {
		var first int64
		var notes []byte
		if err := scan(&first, &notes); err != nil {
			return err
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
