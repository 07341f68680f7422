package lex

import (
	"bytes"
	"compress/gzip"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Decode undoes one encoding. Output is bounded like any other text that is followed.
func Decode(scheme, text string) (string, bool) {
	var out []byte
	var err error
	switch scheme {
	case "base64":
		out, err = DecodeBase64(text)
	case "base32":
		out, err = base32.StdEncoding.DecodeString(StripBlanks(text))
	case "hex":
		out, err = hex.DecodeString(StripBlanks(strings.ReplaceAll(text, `\x`, "")))
	case "reverse":
		for _, line := range strings.SplitAfter(text, "\n") {
			body, hadNewline := strings.CutSuffix(line, "\n")
			for i := len(body); i > 0; {
				c, n := utf8.DecodeLastRuneInString(body[:i])
				out = utf8.AppendRune(out, c)
				i -= n
			}
			if hadNewline {
				out = append(out, '\n')
			}
		}
	case "rot13":
		out = []byte(text)
		for i, c := range out {
			switch {
			case c|0x20 >= 'a' && c|0x20 <= 'm':
				out[i] += 13
			case c|0x20 >= 'n' && c|0x20 <= 'z':
				out[i] -= 13
			}
		}
	case "gzip":
		out, err = gunzip(text)
	default:
		return "", false
	}
	if err != nil || len(out) > MaxText || !utf8.Valid(out) && scheme != "base64" {
		return "", false
	}
	return string(out), true
}

func DecodeBase64(text string) ([]byte, error) {
	clean := StripBlanks(text)
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(clean, "-_") {
		encoding = base64.RawURLEncoding
	}
	return encoding.DecodeString(strings.TrimRight(clean, "="))
}

func StripBlanks(text string) string {
	return strings.Map(func(c rune) rune {
		if c == ' ' || c == '\n' || c == '\r' || c == '\t' {
			return -1
		}
		return c
	}, text)
}

func gunzip(text string) ([]byte, error) {
	z, err := gzip.NewReader(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err = io.Copy(&b, io.LimitReader(z, MaxText+1))
	return b.Bytes(), err
}

// DecodeUTF16 reads little-endian UTF-16, which PowerShell's encoded commands hold.
func DecodeUTF16(raw []byte) string {
	units := make([]uint16, 0, len(raw)/2)
	for i := 0; i+1 < len(raw); i += 2 {
		units = append(units, uint16(raw[i])|uint16(raw[i+1])<<8)
	}
	return string(utf16.Decode(units))
}

const (
	MaxText = 1 << 16
)
