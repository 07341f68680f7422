package modality

import (
	"bytes"
	"encoding/hex"
	"strings"
	"unicode/utf16"
)

// active are the names in a PDF by which something happens when it is opened or read.
var active = []string{"JavaScript", "JS", "Launch", "OpenAction", "AA", "EmbeddedFile", "EmbeddedFiles", "RichMedia", "SubmitForm",
	"ImportData", "GoToE", "XFA", "Movie", "Sound"}

// layout is what no part of this package sees of a document.
const layout = "the document as it is shown, of which only the texts were looked at"

// pdf looks for what acts in a PDF, and at every text in it, in streams as well. How it is shown is not looked at.
func (f *found) pdf(data []byte) *Report {
	if !bytes.Contains(data[max(0, len(data)-2048):], []byte("%%EOF")) {
		return malformed("", "has no end")
	}
	parts := [][]byte{data}
	for _, packed := range streams(data) {
		text, whole := f.inflate(packed)
		if !whole {
			f.leave("a stream that can't be unpacked")
			text = packed
		}
		parts = append(parts, text)
	}
	if bytes.Contains(data, []byte("/Encrypt")) {
		f.leave("an encrypted document")
	}
	for _, part := range parts {
		names := unescapedNames(part)
		for _, name := range active {
			if acts(names, name) {
				return &Report{Rule: RuleActive, At: "/" + name, Why: "holds something that acts when it is opened"}
			}
		}
		f.add("a text of the document", literals(part))
		f.strings(part)
	}
	f.leave(layout)
	return nil
}

// streams are the contents of a PDF's streams.
func streams(data []byte) (list [][]byte) {
	for len(list) < maxTexts {
		at := bytes.Index(data, []byte("stream"))
		if at < 0 {
			return list
		}
		data = data[at+len("stream"):]
		body := bytes.TrimPrefix(bytes.TrimPrefix(data, []byte("\r")), []byte("\n"))
		end := bytes.Index(body, []byte("endstream"))
		if end < 0 {
			return list
		}
		list = append(list, body[:end])
		data = body[end+len("endstream"):]
	}
	return list
}

// unescapedNames is a part of a PDF with the escapes in its names taken out: /J#61vaScript is /JavaScript.
func unescapedNames(part []byte) string {
	if bytes.IndexByte(part, '#') < 0 {
		return string(part)
	}
	var out strings.Builder
	for i := 0; i < len(part); i++ {
		if part[i] == '#' && i+2 < len(part) {
			if c, err := hex.DecodeString(string(part[i+1 : i+3])); err == nil {
				out.Write(c)
				i += 2
				continue
			}
		}
		out.WriteByte(part[i])
	}
	return out.String()
}

// acts reports whether a name is in a text by itself.
func acts(text, name string) bool {
	for {
		at := strings.Index(text, "/"+name)
		if at < 0 {
			return false
		}
		text = text[at+1+len(name):]
		if text == "" || !strings.Contains("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", text[:1]) {
			return true
		}
	}
}

// literals are the texts of a part of a PDF, one after the other: what is in parentheses, and what is written as hexadecimal
// digits. Texts of one line stand in pieces, so that no space is put between them but where lines begin.
func literals(part []byte) string {
	var out strings.Builder
	for i := 0; i < len(part); i++ {
		switch part[i] {
		case '(':
			text, next := literal(part, i+1)
			out.WriteString(shown(text))
			i = next
		case '<':
			if i+1 < len(part) && part[i+1] == '<' {
				i++
				continue
			}
			end := i + 1
			for end < len(part) && strings.IndexByte("0123456789abcdefABCDEF \r\n\t", part[end]) >= 0 {
				end++
			}
			if text, err := hex.DecodeString(strings.Join(strings.Fields(string(part[i+1:end])), "")); err == nil {
				out.WriteString(shown(text))
			}
			i = end - 1
		case '\n', '\r':
			out.WriteByte(' ')
		}
	}
	return out.String()
}

// literal is one text up to its closing parenthesis.
func literal(part []byte, i int) (text []byte, next int) {
	depth := 1
	for ; i < len(part); i++ {
		switch c := part[i]; c {
		case '\\':
			if i++; i < len(part) {
				switch part[i] {
				case 'n', 'r', 't':
					text = append(text, ' ')
				case '\n', '\r':
				default:
					if end, c := octal(part, i); end > i {
						text, i = append(text, c), end-1
						continue
					}
					text = append(text, part[i])
				}
			}
			continue
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return text, i
			}
		}
		text = append(text, part[i])
	}
	return text, i
}

// octal reads up to three octal digits.
func octal(part []byte, i int) (end int, c byte) {
	n := 0
	for end = i; end < len(part) && end < i+3 && part[end] >= '0' && part[end] <= '7'; end++ {
		n = n*8 + int(part[end]-'0')
	}
	return end, byte(n)
}

// shown is a text of a PDF, which may be of two bytes a letter.
func shown(text []byte) string {
	if !bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		return latin(text)
	}
	var units []uint16
	for i := 2; i+1 < len(text); i += 2 {
		units = append(units, uint16(text[i])<<8|uint16(text[i+1]))
	}
	return string(utf16.Decode(units))
}
