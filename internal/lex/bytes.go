package lex

import (
	"strings"
	"unicode/utf8"
)

// minText is from how many bytes on they are told to be text.
const minText = 8

// PlainText is bytes as a text, or nothing if they are none: UTF-8, or UTF-16 in either order, with a mark of it or of mostly Latin
// letters.
func PlainText(raw []byte) string {
	if !Textual(raw) {
		return ""
	}
	switch little, big := inUTF16(raw); {
	case big:
		swapped := make([]byte, len(raw)&^1)
		for at := 0; at < len(swapped); at += 2 {
			swapped[at], swapped[at+1] = raw[at+1], raw[at]
		}
		raw = swapped
	case !little:
		return string(raw)
	}
	return strings.TrimPrefix(DecodeUTF16(raw), "\ufeff")
}

// Textual reports bytes of which three quarters at least are text: in one that is cut from a longer one, or steers a terminal, not all
// are.
func Textual(raw []byte) bool {
	if little, big := inUTF16(raw); little || big {
		return true
	}
	good := 0
	for at := 0; at < len(raw); {
		c := raw[at]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != 0x7f || c == '\n' || c == '\t' || c == '\r' {
				good++
			}
			at++
			continue
		}
		_, n := utf8.DecodeRune(raw[at:])
		if n > 1 {
			good += n
		}
		at += n
	}
	return len(raw) >= minText && good*4 >= len(raw)*3
}

// inUTF16 reports UTF-16: by the mark of its order, or of Latin letters, which every other byte gives away: it is nought.
func inUTF16(raw []byte) (little, big bool) {
	var zeros [2]int
	head := raw[:min(len(raw), 64)]
	for at, c := range head {
		if c == 0 {
			zeros[at%2]++
		}
	}
	if len(raw) >= 2 && (raw[0] == 0xff && raw[1] == 0xfe || raw[0] == 0xfe && raw[1] == 0xff) {
		return raw[0] == 0xff, raw[0] == 0xfe
	}
	most := len(head) * 3 / 8
	return zeros[1] > most && zeros[0] == 0, zeros[0] > most && zeros[1] == 0
}
