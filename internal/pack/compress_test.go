package pack

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Texts of every length up to the bound that hold copies of themselves, of the dictionary and of nothing are found again, also when
// the room's numbers have gone round, and whatever texts were compressed in it before.
func TestCompressedTextsAreUndone(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	b := new(room)
	for n := range 400 {
		if n%40 == 0 {
			b.base = -uint32(n/40) * shortText // about to go round
		}
		var text []byte
		for most := random.IntN(shortText) + 1; len(text) < most; {
			part := 1 + random.IntN(600)
			switch random.IntN(4) {
			case 0:
				for range part {
					text = append(text, byte(random.Uint32()))
				}
			case 1:
				from := random.IntN(len(dictionary1) - part)
				text = append(text, dictionary1[from:from+part]...)
			case 2:
				from := random.IntN(len(text) + 1)
				text = append(text, text[from:min(len(text), from+part)]...)
			default:
				text = append(text, bytes.Repeat([]byte("ab"), part)...)
			}
			text = text[:min(len(text), most)]
		}
		block := b.compress(nil, text)
		if got, err := dictionary().Decode(nil, block); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("text %d of %d bytes: %v", n, len(text), err)
		}
	}
}

// BenchmarkAppend is packing an event of a decision.
func BenchmarkAppend(b *testing.B) {
	text := fmt.Appendf(nil, `{"actor_id":"bench","content_hash":"sha256:%064x","event_id":"%064x","event_type":"DECISION","job_seed":"%032x",`+
		`"payload":{"action":{"dir":"/repo","input":"git diff HEAD~17 -- src/main.go | head -50","kind":"shell"},"answer":"allow",`+
		`"impacts":[{"confidence":"parsed","kind":"read","reach":"workspace","reversibility":"readonly","target":"/repo","via":"git"}],`+
		`"verdict":"allow"},"prev_hash":"sha256:%064x","sequence_index":7}`, 5, 6, 7, 8)
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		out = Append(out[:0], text)
	}
	b.ReportMetric(float64(len(out)), "stored-B")
}
