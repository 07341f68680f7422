package pack_test

import (
	"bytes"
	"strings"
	"testing"

	"interlock/internal/pack"
)

// TestChecked: what is stored with a checksum is read like everything else; no bit of it, and nothing of its length or name, can
// change and it be sound.
func TestChecked(t *testing.T) {
	for _, text := range []string{`{"a":1}`, "no JSON", "",
		strings.Repeat(`{"rule":"deny","hash":"`+strings.Repeat("0a", 32)+`"}`, 40)} {
		stored := pack.Checked([]byte(text), "one")
		if got, err := pack.Unpack(stored, most); err != nil || string(got) != text {
			t.Errorf("%q, %v; want %q", got, err, text)
		}
		sound := func(stored []byte, name string) bool {
			is, _ := pack.Sound(stored, name)
			return is
		}
		if _, known := pack.Sound(pack.Pack([]byte(text)), "one"); known || !sound(stored, "one") || sound(stored, "two") {
			t.Errorf("what is sound of %q is not told from what is not", text)
		}
		for i := range stored {
			changed := bytes.Clone(stored)
			changed[i] ^= 1
			if sound(changed, "one") || sound(stored[:i], "one") {
				t.Fatalf("sound though byte %d of %d is another or missing", i, len(stored))
			}
		}
	}
	for _, damaged := range [][]byte{{4}, make([]byte, 33), pack.Checked(nil, "")[:20],
		append([]byte{4}, pack.Checked([]byte("a text"), "")...)} {
		if len(damaged) > 0 {
			damaged[0] = 4
		}
		if got, err := pack.Unpack(damaged, most); err == nil {
			t.Errorf("%v is read as %q", damaged, got)
		}
	}
}
