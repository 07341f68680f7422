// Package modality looks at what agents send each other that is more than data of a known form: texts, images, documents. It holds the
// bytes against the media type that they are said to be, takes out every text in them that a reader of the file does not see and a model
// does (comments, metadata, what comes after the end), and says what of them it can't look at.
//
// It reads bytes and nothing else, is bounded in what it unpacks, and is a function of its arguments. It does not see pixels and hears no
// sound: those who let these in do it on a person's word.
//
// Start with Look.
package modality

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"interlock/internal/inject"
)

// The bounds of what is looked at.
const (
	MaxBytes  = 256 << 10 // of a message
	maxUnpack = 1 << 20   // bytes unpacked of one message
	maxTexts  = 256       // texts taken out of one
	maxLooked = 512 << 10 // bytes of these
)

// A Report is what was found.
type Report struct {
	Rule   string // why it must not be delivered: one of the Rule constants; empty: nothing was found against it
	At     string // where, e.g. "tEXt"
	Why    string // one clause, without anything of the content
	Unread string // what could not be looked at, so that a person has to; empty: all of it was
}

// The rules.
const (
	RuleMismatch  = "mismatch"  // it is not what it is said to be
	RuleMalformed = "malformed" // it breaks its own format
	RuleOrders    = "orders"    // a text in it that nobody sees gives orders to its reader
	RuleActive    = "active"    // it holds a program, or something that acts when it is opened
)

// The media types that are looked at; of every other one nothing is read.
const (
	JSON     = "application/json"
	Text     = "text/plain"
	Markdown = "text/markdown"
	PNG      = "image/png"
	JPEG     = "image/jpeg"
	GIF      = "image/gif"
	PDF      = "application/pdf"
)

// signatures are how files begin.
var signatures = []struct{ media, begins string }{
	{PNG, "\x89PNG\r\n\x1a\n"}, {JPEG, "\xff\xd8\xff"}, {GIF, "GIF87a"}, {GIF, "GIF89a"}, {PDF, "%PDF-"},
	{zipped, "PK\x03\x04"}, {"application/x-executable", "\x7fELF"}, {"application/x-executable", "MZ\x90"},
}

// zipped is what many formats are in.
const zipped = "application/zip"

// Kind is the media type that bytes begin like; empty if they begin like none that is known.
func Kind(data []byte) string {
	for _, s := range signatures {
		if bytes.HasPrefix(data, []byte(s.begins)) {
			return s.media
		}
	}
	return ""
}

// A found is what is in a file.
type found struct {
	texts  []placed
	looked int // bytes of the texts
	unread string
	left   int // bytes that may still be unpacked
}

type placed struct{ at, text string }

func (f *found) add(at, text string) {
	if f.looked += len(text); len(f.texts) < maxTexts && f.looked <= maxLooked {
		f.texts = append(f.texts, placed{at, text})
		return
	}
	f.leave("more texts than are looked at")
}

// leave notes what was not looked at; the first is named.
func (f *found) leave(what string) {
	if f.unread == "" {
		f.unread = what
	}
}

// Look says what speaks against delivering bytes as a media type.
func Look(media string, data []byte) Report {
	media = strings.ToLower(media)
	is := Kind(data)
	if is != "" && is != media && (is != zipped || Textual(media)) {
		return Report{Rule: RuleMismatch, Why: "begins like " + is + ", and is said to be " + name(media)}
	}
	if looked := media == PNG || media == JPEG || media == GIF || media == PDF; looked && is != media {
		return Report{Rule: RuleMismatch, Why: "does not begin like " + media}
	}
	f := &found{left: maxUnpack}
	var broken *Report
	switch media {
	case Text, Markdown, JSON:
		broken = plain(data)
	case PNG:
		broken = f.png(data)
	case JPEG:
		broken = f.jpeg(data)
	case GIF:
		broken = f.gif(data)
	case PDF:
		broken = f.pdf(data)
	default:
		f.leave("the media type " + name(media) + ", of which nothing can be looked at")
		f.strings(data)
	}
	if broken != nil {
		return *broken
	}
	for _, t := range f.texts {
		if Orders(t.text) {
			return Report{Rule: RuleOrders, At: t.at, Why: "a text that nobody sees gives orders to whoever reads it"}
		}
	}
	return Report{Unread: f.unread}
}

// name is a media type as it may be told: what is none is not repeated.
func name(media string) string {
	if len(media) > 80 || strings.ContainsFunc(media, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' }) {
		return "something else"
	}
	return media
}

// Orders reports whether a text gives orders to a model that reads it, in plain sight or disguised.
func Orders(text string) bool { return inject.Injected(text) }

// Textual reports whether something of a media type is text and nothing else.
func Textual(media string) bool { return media == Text || media == Markdown || media == JSON }

func plain(data []byte) *Report {
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return &Report{Rule: RuleMalformed, Why: "is no text in UTF-8"}
	}
	return nil
}

// strings takes every longer run of printable characters out of bytes that nobody knows the form of.
func (f *found) strings(data []byte) {
	const least = 16
	start := -1
	for i := 0; i <= len(data); i++ {
		printable := i < len(data) && (data[i] >= ' ' && data[i] < 0x7f || data[i] == '\n' || data[i] == '\t')
		switch {
		case printable && start < 0:
			start = i
		case !printable && start >= 0:
			if i-start >= least {
				f.add("text in it", string(data[start:i]))
			}
			start = -1
		}
	}
}

// latin is text in Latin-1, as most formats have it, or in UTF-8 where it is that.
func latin(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	runes := make([]rune, len(data))
	for i, c := range data {
		runes[i] = rune(c)
	}
	return string(runes)
}
