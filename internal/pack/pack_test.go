package pack_test

import (
	"bytes"
	"strings"
	"testing"

	"interlock/internal/pack"
)

const most = 1 << 20

// What is packed is found again, whatever it is, and takes at most one byte more.
func FuzzPackIsUndone(f *testing.F) {
	f.Add([]byte(`{"actor_id":"claude","event_type":"DECISION"}`))
	f.Add([]byte{})
	f.Add([]byte{0, 1, 2})
	f.Add([]byte(`{"prev_hash":"sha256:` + strings.Repeat("0a", 32) + `","job_seed":"` + strings.Repeat("1f", 16) + `","x":"\xff"}`))
	f.Add([]byte(`{"prev_hash":"sha256:` + strings.Repeat("0a", 40) + `","job_seed":"` + strings.Repeat("1f", 20) + `","x":"ABCDEF"}`))
	f.Add([]byte(strings.Repeat(`{"confidence":"parsed","kind":"read"},`, 40)))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > most {
			return
		}
		stored := pack.Pack(text)
		if len(stored) > len(text)+1 {
			t.Fatalf("%d bytes became %d", len(text), len(stored))
		}
		got, err := pack.Unpack(stored, most)
		if err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%q, %v; want %q", got, err, text)
		}
	})
}

// Whatever stands in a store, unpacking ends with a text within the bound or an error.
func FuzzUnpackIsBounded(f *testing.F) {
	f.Add(pack.Pack([]byte(strings.Repeat("interlock ", 100))))
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, stored []byte) {
		if text, err := pack.Unpack(stored, 4096); err == nil && len(text) > 4096 {
			t.Fatalf("%d bytes", len(text))
		}
	})
}

func TestWhatWasStoredBeforeIsReadAsItStands(t *testing.T) {
	text := []byte(`{"a":1}`)
	if got, err := pack.Unpack(text, most); err != nil || !bytes.Equal(got, text) {
		t.Fatalf("%q, %v", got, err)
	}
}

func TestOverTheBound(t *testing.T) {
	text := []byte(strings.Repeat("interlock ", 100))
	for _, stored := range [][]byte{pack.Pack(text), append([]byte{0}, text...), append([]byte("{"), text...)} {
		if _, err := pack.Unpack(stored, len(text)-1); err == nil {
			t.Error("a text over the bound is returned")
		}
	}
}

func TestDamageIsAnError(t *testing.T) {
	stored := pack.Pack([]byte(strings.Repeat("interlock ", 100)))
	for _, bad := range [][]byte{nil, {2}, stored[:2], stored[:len(stored)-1]} {
		if text, err := pack.Unpack(bad, most); err == nil {
			t.Errorf("%v became %q", bad, text)
		}
	}
}

// What is packed beside a text is found again beside it, whatever both are, and takes at most two bytes more.
func FuzzPackBesideIsUndone(f *testing.F) {
	event := `{"decision":{"impacts":[{"confidence":"parsed","kind":"network","target":"npm install"}]},"payload":{"dir":"/home","input":"npm i"}}`
	f.Add([]byte(event),
		[]byte(`{"action":{"dir":"/home","input":"npm i"},"impacts":[{"confidence":"parsed","kind":"network","target":"npm install"}]}`))
	f.Add([]byte(event), []byte(event))
	f.Add([]byte(event), []byte(strings.Repeat(event, 200)))
	f.Add([]byte(strings.Repeat(event, 600)), []byte(event))
	f.Add([]byte(event), []byte("\xfd"+event))
	f.Add([]byte{}, []byte(event))
	f.Fuzz(func(t *testing.T, beside, text []byte) {
		if len(text) > most {
			return
		}
		stored := pack.AppendBeside(nil, text, beside, 0)
		if len(stored) > len(text)+1 {
			t.Fatalf("%d bytes became %d", len(text), len(stored))
		}
		got, err := pack.UnpackBeside(stored, beside, most)
		if err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%q, %v; want %q", got, err, text)
		}
		// beside a part of it, of which only the place is known
		from := len(beside) / 3
		stored = pack.AppendBeside(nil, text, beside[from:], from)
		got, err = pack.UnpackBeside(stored, append(bytes.Repeat([]byte{'?'}, from), beside[from:]...), most)
		if err != nil || !bytes.Equal(got, text) {
			t.Fatalf("beside a part: %q, %v; want %q", got, err, text)
		}
	})
}

// Beside another text, or damaged, it is another text or an error, within the bound.
func FuzzUnpackBesideIsBounded(f *testing.F) {
	event := []byte(`{"decision":{"impacts":[{"confidence":"parsed","kind":"network","target":"npm install"}]},"payload":{"dir":"/home"}}`)
	f.Add(pack.AppendBeside(nil, bytes.Repeat(event, 100), event, 0), event)
	f.Add(pack.AppendBeside(nil, bytes.Repeat(event, 100), event, 0), event[:40])
	f.Add([]byte{2, '{', 0xfd, '0', '0'}, event)
	f.Fuzz(func(t *testing.T, stored, beside []byte) {
		if text, err := pack.UnpackBeside(stored, beside, 4096); err == nil && len(text) > 4096 {
			t.Fatalf("%d bytes", len(text))
		}
	})
}

func TestWhatStandsBesideIsNotWrittenAgain(t *testing.T) {
	impacts := `"impacts":[{"confidence":"parsed","kind":"network","reach":"external","target":"https://unheard.example/of/before"}]`
	event := []byte(`{"decision":{` + impacts + `},"door":"hook"}`)
	text := []byte(`{"action":{"input":"x"},` + impacts + `,"schema":"interlock.inputs/v1"}`)
	if with, without := len(pack.AppendBeside(nil, text, event, 0)), len(pack.Pack(text)); with > without-25 {
		t.Errorf("%d bytes beside the event, %d without it", with, without)
	}
}
