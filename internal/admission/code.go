package admission

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// A code is 160 random bits in Crockford's base32, in groups of four: long enough that nobody guesses it, and read out or
// typed without mistaking one letter for another (MCP-AQL 8.8.2 wants 128 bits).
const (
	codeBytes    = 20
	codeLength   = codeBytes * 8 / 5
	codeGroup    = 4
	codeAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
)

// newCode returns a fresh code as a human is shown it.
func newCode(random io.Reader) (string, error) {
	raw := make([]byte, codeBytes)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("reading randomness: %w", err)
	}
	var b strings.Builder
	bits, held := 0, uint(0)
	for _, next := range raw {
		bits, held = bits+8, held<<8|uint(next)
		for bits >= 5 {
			bits -= 5
			b.WriteByte(codeAlphabet[held>>bits&31])
		}
		held &= 1<<bits - 1
	}
	return grouped(b.String()), nil
}

func grouped(code string) string {
	var groups []string
	for i := 0; i < len(code); i += codeGroup {
		groups = append(groups, code[i:i+codeGroup])
	}
	return strings.Join(groups, "-")
}

// codeOf reads what somebody typed: in either case, with or without spaces and hyphens, O for 0, I and L for 1. Anything
// that is no code then is not one.
func codeOf(typed string) (code string, ok bool) {
	if len(typed) > 4*codeLength {
		return "", false
	}
	var b strings.Builder
	for _, r := range strings.ToUpper(typed) {
		switch {
		case r == ' ' || r == '-' || r == '\t' || r == '\n' || r == '\r':
			continue
		case r == 'O':
			r = '0'
		case r == 'I' || r == 'L':
			r = '1'
		}
		if r > 'Z' || !strings.ContainsRune(codeAlphabet, r) {
			return "", false
		}
		b.WriteRune(r)
	}
	return b.String(), b.Len() == codeLength
}

// codeHash is what is stored of a code: a hash that is worth nothing for any other challenge.
func codeHash(challenge, code string) string {
	plain, _ := codeOf(code)
	sum := sha256.Sum256([]byte("interlock/code/v1\n" + challenge + "\n" + plain))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// matches compares in constant time, whether or not there is a code to compare with.
func matches(hash, challenge, code string) bool {
	return subtle.ConstantTimeCompare([]byte(hash), []byte(codeHash(challenge, code))) == 1 && hash != ""
}

// newUUID returns a random UUID (version 4).
func newUUID(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("reading randomness: %w", err)
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	text := hex.EncodeToString(b[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:], nil
}
