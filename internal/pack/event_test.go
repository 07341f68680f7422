package pack_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"interlock/internal/pack"
)

// event is one as the log has them.
func event(payload, seed string, number int) []byte {
	id := sha256.Sum256(fmt.Appendf(nil, "%s:%d:DECISION", seed, number))
	return fmt.Appendf(nil, `{"actor_id":"claude","content_hash":"sha256:%x","event_id":"%x","event_type":"DECISION","job_seed":"%s",`+
		`"payload":%s,"prev_hash":"sha256:%s","role":"agent","schema":"interlock.event/v1","sequence_index":%d,"trace_id":"t"}`,
		sha256.Sum256([]byte(payload)), id, seed, payload, strings.Repeat("0a", 32), number)
}

// What an event says of itself is not stored, and is there again.
func TestEventWithoutItsHashes(t *testing.T) {
	seed := strings.Repeat("1f", 16)
	text := event(`{"proposed":{"payload":{"input":"echo ,\"prev_hash\":\""}}}`, seed, 12)
	stored := pack.AppendEvent(nil, text)
	if plain := pack.Pack(text); len(stored) > len(plain)-60 {
		t.Errorf("%d bytes, %d with its hashes", len(stored), len(plain))
	}
	if got, err := pack.Unpack(stored, most); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%s, %v; want %s", got, err, text)
	}
	if sealed := pack.AppendSealed(nil, text); !bytes.Equal(sealed, stored) {
		t.Errorf("sealed it is packed as %x, found it is packed as %x", sealed, stored)
	}
	if _, err := pack.Unpack(stored, len(text)-1); err == nil {
		t.Error("a text over the bound is returned")
	}
}

// Whatever stands for an event is found again as it was.
func FuzzPackEventIsUndone(f *testing.F) {
	seed := strings.Repeat("1f", 16)
	good := event(`{"n":1}`, seed, 3)
	f.Add(good)
	f.Add(bytes.Replace(good, []byte(`{"n":1}`), []byte(`{"n":2}`), 1)) // its hash is another's
	f.Add(bytes.Replace(good, []byte(`index":3`), []byte(`index":4`), 1))
	f.Add(bytes.Replace(good, []byte(`"payload"`), []byte(`"Payload"`), 1))
	f.Add(bytes.ToUpper(good))
	f.Add([]byte(`{"actor_id":"x","content_hash":"sha256:`))
	f.Add([]byte{3, 3})
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > most {
			return
		}
		stored := pack.AppendEvent(nil, text)
		if len(stored) > len(text)+1 {
			t.Fatalf("%d bytes became %d", len(text), len(stored))
		}
		got, err := pack.Unpack(stored, most)
		if err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%q, %v; want %q", got, err, text)
		}
		if _, err := pack.Unpack(text, 4096); err != nil { // whatever stands in a store
			return
		}
	})
}
