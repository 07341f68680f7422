package secret

import (
	b64 "encoding/base64"
	"strings"
)

// Credentials that a document is known by: a Secret of Kubernetes, and a private key as JSON (RFC 7517).

// How far from what they are known by they are looked for, and how many are.
const (
	maxDocument = 8 << 10
	maxEntries  = 64
)

// documents finds them. Each is looked at once.
func documents(text string) (found []Span) {
	for at, to := strings.Index(text, "kind"), 0; at >= 0; at = nextIndex(text, "kind", at+1, to) {
		if secretKind(text[at+len("kind") : min(len(text), at+32)]) {
			from := max(to, at-maxDocument)
			if cut := strings.LastIndex(text[from:at], "\n---"); cut >= 0 {
				from += cut
			}
			to = min(len(text), at+maxDocument)
			if cut := strings.Index(text[at:to], "\n---"); cut >= 0 {
				to = at + cut
			}
			found = append(found, kubernetes(text, from, to)...)
		}
	}
	for at, to := strings.Index(text, `"kty"`), 0; at >= 0; at = nextIndex(text, `"kty"`, at+1, to) {
		from := max(to, at-maxDocument)
		if open := strings.LastIndexByte(text[from:at], '{'); open >= 0 {
			from += open
		}
		to = min(len(text), at+maxDocument)
		if shut := strings.IndexByte(text[at:to], '}'); shut >= 0 {
			to = at + shut
		}
		found = append(found, webKey(text, from, to)...)
	}
	return found
}

// nextIndex is where something stands next, from the later of two places on; -1: nowhere.
func nextIndex(text, what string, from, to int) int {
	from = max(from, to)
	next := strings.Index(text[from:], what)
	if next < 0 {
		return -1
	}
	return from + next
}

// secretKind reports that what stands behind the word is "Secret".
func secretKind(text string) bool {
	text = strings.TrimLeft(text, `"' :`)
	return len(text) >= 6 && strings.EqualFold(text[:6], "secret") && (len(text) == 6 || !isWord(text[6]))
}

// kubernetes finds the values under data and stringData of a document.
func kubernetes(text string, from, to int) (found []Span) {
	for at := from; at < to; {
		next := strings.Index(text[at:to], "ata")
		if next < 0 {
			return found
		}
		at += next + len("ata")
		start := at - len("data")
		if start >= len("string") && text[start:at] == "Data" && text[start-len("string"):start] == "string" {
			start -= len("string")
		} else if start < 0 || text[start] != 'd' {
			continue
		}
		rest := strings.TrimLeft(text[at:min(to, at+8)], `"' `)
		if start > 0 && isWord(text[start-1]) || !strings.HasPrefix(rest, ":") {
			continue
		}
		var values []Span
		if values, at = entries(text, at, to, text[start] == 'd'); len(values) > 0 {
			found = append(found, values...)
		}
	}
	return found
}

// entries finds the values of the members that follow a place: in lines that are indented, or in an object. It goes on to a place.
func entries(text string, at, to int, encoded bool) (found []Span, next int) {
	for range maxEntries {
		colon := strings.IndexByte(text[at:to], ':')
		if colon < 0 {
			return found, to
		}
		at += colon + 1
		from := at
		for from < to && strings.IndexByte(" \t\r\"'{|>-\n", text[from]) >= 0 {
			from++
		}
		stop := from
		for stop < to && text[stop] > ' ' && strings.IndexByte("\"',}:", text[stop]) < 0 {
			stop++
		}
		value := text[from:stop]
		if rest := strings.TrimLeft(text[stop:min(to, stop+2)], "\"'"); !strings.HasPrefix(rest, ":") { // that would be the next name
			_, err := b64.StdEncoding.DecodeString(value)
			if len(value) >= 8 && !placeholder(value) && !openly(nameBefore(text, at)) && (!encoded && mixed(value) || encoded && err == nil) {
				found = append(found, Span{from, stop, "kubernetes-secret"})
			}
		}
		at = stop
		if rest := text[at:min(to, at+maxName)]; strings.HasPrefix(strings.TrimLeft(rest, "\"' \r\n"), "}") || unindented(rest) {
			return found, at
		}
	}
	return found, at
}

// openly reports a name in a Secret whose value is none.
func openly(name string) bool {
	words := nameWords(name)
	switch words.last() {
	case "user", "username", "host", "hostname", "port", "database", "dbname", "namespace", "crt", "url", "endpoint", "email", "region":
		return true
	}
	return false
}

// unindented reports that the next line with anything on it is not indented.
func unindented(text string) bool {
	line := strings.IndexByte(text, '\n')
	return line >= 0 && line+1 < len(text) && text[line+1] > ' '
}

// webKey finds the private part of a key that is an object.
func webKey(text string, from, to int) (found []Span) {
	for _, name := range [...]string{`"d"`, `"k"`} {
		begin := strings.Index(text[from:to], name)
		if begin < 0 {
			continue
		}
		begin += from + len(name)
		for begin < to && strings.IndexByte(": \n\t\"", text[begin]) >= 0 {
			begin++
		}
		stop := begin
		for stop < to && members[text[stop]]&urlSafe != 0 {
			stop++
		}
		if stop-begin >= 16 && !placeholder(text[begin:stop]) {
			found = append(found, Span{begin, stop, "private-key"})
		}
	}
	return found
}
