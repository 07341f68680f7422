package pack

import (
	"bytes"
	"crypto/sha256"
)

// Checked returns a long text as it is stored under a name, so that [Sound] can tell without unpacking it whether it is still
// what was stored there.
func Checked(text []byte, name string) []byte {
	stored := Append([]byte{checked}, text)
	sum := checksum(stored, name)
	return append(stored, sum[:]...)
}

// Sound reports whether something stored is, byte for byte, what [Checked] made for a name, and whether it was stored so that
// this can be told. It is against what decays or is mixed up, not against somebody who writes another text with the checksum of that
// one: against them there is the digest of the text.
func Sound(stored []byte, name string) (sound, known bool) {
	if len(stored) == 0 || stored[0] != checked {
		return false, false
	}
	end := len(stored) - sha256.Size
	if end < 1 {
		return false, true
	}
	sum := checksum(stored[:end], name)
	return bytes.Equal(sum[:], stored[end:]), true
}

// checksum is over the name too, so that what is sound under one name is not under another.
func checksum(stored []byte, name string) (sum [sha256.Size]byte) {
	h := sha256.New()
	h.Write([]byte(name)) // a hash takes everything
	h.Write([]byte{'\n'})
	h.Write(stored)
	return [sha256.Size]byte(h.Sum(sum[:0]))
}
