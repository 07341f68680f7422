package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// An event holds two hashes of parts of itself: of its payload, and of the run's seed, its number and its type. They are left out
// and computed again: that something was changed is seen by the log's tree, which is over the whole text.
const (
	contentKey  = `,"content_hash":"sha256:`
	idKey       = `","event_id":"`
	typeKey     = `","event_type":"`
	seedKey     = `","job_seed":"`
	payloadKey  = `,"payload":`
	previousKey = `,"prev_hash":"`
	numberKey   = `,"sequence_index":`
)

// AppendEvent appends the text of an event as it is stored.
func AppendEvent(out, text []byte) []byte {
	b := rooms.Get().(*room)
	defer rooms.Put(b)
	if !b.bare(text) {
		return Append(out, text)
	}
	whole, err := complete(b.whole[:0], b.copied)
	if err != nil || !bytes.Equal(whole, text) {
		return Append(out, text)
	}
	b.whole = whole
	return Append(append(out, bare), b.copied)
}

// AppendSealed is [AppendEvent] for an event that was sealed a moment ago: its two hashes are known to be those of its parts, so
// that they are not computed once more to see it.
func AppendSealed(out, text []byte) []byte {
	b := rooms.Get().(*room)
	defer rooms.Put(b)
	if !b.bare(text) {
		return Append(out, text)
	}
	return Append(append(out, bare), b.copied)
}

// bare puts an event without its two hashes into the room, if it has them where an event does.
func (b *room) bare(text []byte) bool {
	content := bytes.Index(text, []byte(contentKey)) + len(contentKey)
	id := content + 2*longBytes + len(idKey)
	end := id + 2*longBytes
	if content < len(contentKey) || end > len(text) || string(text[id-len(idKey):id]) != idKey {
		return false
	}
	b.copied = append(append(append(b.copied[:0], text[:content]...), idKey...), text[end:]...)
	return true
}

// lastPrevious is the place of the last key of the hash before, or -1: few commas come after it.
func lastPrevious(text []byte) int {
	for at := bytes.LastIndexByte(text, ','); at >= 0; at = bytes.LastIndexByte(text[:at], ',') {
		if bytes.HasPrefix(text[at:], []byte(previousKey)) {
			return at
		}
	}
	return -1
}

// complete appends an event whose two hashes were left out, with them. An event's strings hold no quote that is not
// escaped, so that what is looked for is found outside of them.
func complete(out, text []byte) ([]byte, error) {
	head, rest, found := bytes.Cut(text, []byte(contentKey+idKey))
	payload := bytes.Index(rest, []byte(payloadKey)) + len(payloadKey)
	previous := lastPrevious(rest)
	if !found || payload < len(payloadKey) || previous < payload {
		return nil, errUnreadable
	}
	kind, rest2, isType := bytes.Cut(rest[:payload], []byte(seedKey))
	kind, isKind := bytes.CutPrefix(kind, []byte(typeKey))
	seed, _, isSeed := bytes.Cut(rest2, []byte(`"`))
	_, number, isNumber := bytes.Cut(rest[previous:], []byte(numberKey))
	number, _, isEnd := bytes.Cut(number, []byte(`,`))
	if !isType || !isKind || !isSeed || !isNumber || !isEnd {
		return nil, errUnreadable
	}
	content := sha256.Sum256(rest[payload:previous])
	out = append(append(out, head...), contentKey...)
	out = append(hex.AppendEncode(out, content[:]), idKey...)
	at := len(out) // the id's parts are put together where the id will stand, and more room than it takes is there
	out = append(append(out, seed...), ':')
	out = append(append(append(out, number...), ':'), kind...)
	id := sha256.Sum256(out[at:])
	return append(hex.AppendEncode(out[:at], id[:]), rest...), nil
}
