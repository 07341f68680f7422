package classify

import (
	"strings"

	"interlock/internal/personal"
	"interlock/internal/secret"
)

// The bounds on what is read over the ends of lines: characters of one line, and of all.
const (
	maxBroken = 512
	maxChain  = 4 << 10
)

// broken adds tokens and numbers that a line break stands in, as it does where lines are folded.
func (r *Ruleset) broken(text string, all []found) []found {
	seen := 0 // up to here tokens were looked for
	for at := strings.IndexByte(text, '\n'); at >= 0; {
		if r.personal {
			all = r.brokenNumber(text, at, all)
		}
		if r.secrets && at >= seen {
			all, seen = r.brokenToken(text, at, all)
		}
		next := strings.IndexByte(text[at+1:], '\n')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return all
}

// around returns where the text before a line break ends and that behind it begins.
func around(text string, at int) (before, behind int) {
	before, behind = at, at+1
	for before > 0 && at-before < 64 && isBlank(text[before-1]) {
		before--
	}
	if before > 0 && text[before-1] == '\\' { // as shells go on in the next line
		before--
	}
	for behind < len(text) && behind-at < 64 && (isBlank(text[behind]) || text[behind] == '>') { // as mail quotes
		behind++
	}
	return before, behind
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

func inToken(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '+' || c == '/' || c == '='
}

// brokenToken looks for a token over a line break, and over those behind it as long as lines are one word. Before next all was seen.
func (r *Ruleset) brokenToken(text string, at int, all []found) (_ []found, next int) {
	next = at + 1
	before, behind := around(text, at)
	if before == 0 || behind >= len(text) || !inToken(text[before-1]) || !inToken(text[behind]) {
		return all, next
	}
	from := before
	for from > 0 && before-from < maxBroken && inToken(text[from-1]) {
		from--
	}
	if !mayGoOn(text, from, before, behind) {
		return all, next
	}
	var v view
	out := make([]byte, 0, 2*(before-from)+64)
	add := func(from, to int) {
		for i := from; i < to; i++ {
			out, v.places = append(out, text[i]), append(v.places, int32(i))
		}
	}
	add(from, before)
	for behind < len(text) && len(out) < maxChain {
		end := behind
		for end < len(text) && end-behind < maxBroken && inToken(text[end]) {
			end++
		}
		add(behind, end)
		behind = end
		if end < len(text) && text[end] == '\r' {
			end++
		}
		if end == len(text) || text[end] != '\n' {
			break
		}
		_, more := around(text, end)
		if more == len(text) || !inToken(text[more]) {
			break
		}
		behind, next = more, end+1
	}
	v.text, v.places = string(out), append(v.places, int32(behind))
	for _, s := range secret.Find(v.text) {
		if start, end := v.place(s.Start), v.place(s.End-1)+1; strings.IndexByte(text[start:end], '\n') >= 0 {
			if rule := r.rule("secret", s.Kind, ""); rule >= 0 {
				all = append(all, found{start, end, s.Kind, "", rule})
			}
		}
	}
	return all, next
}

// mayGoOn reports whether what ends a line and what begins the next can be one token: long, with a digit, and not the time at which
// lines of logs begin.
func mayGoOn(text string, from, before, behind int) bool {
	digits := 0
	for at := from; at < before; at++ {
		if text[at] >= '0' && text[at] <= '9' {
			digits++
		}
	}
	end := behind
	for end < len(text) && end-behind < maxBroken && inToken(text[end]) {
		if text[end] >= '0' && text[end] <= '9' {
			digits++
		}
		end++
	}
	timed := end+1 < len(text) && text[end] == ':' && inNumber(text[end+1])
	whole := end < len(text) && (text[end] == '\n' || text[end] == '\r') // then the digits may be in the next line
	return (digits > 0 || whole) && !timed && before-from+end-behind >= 16
}

// brokenNumber looks for a number over a line break that needs no word beside it: of a card, an account or a person.
func (r *Ruleset) brokenNumber(text string, at int, all []found) []found {
	before, behind := around(text, at)
	if before == 0 || behind >= len(text) || !inNumber(text[before-1]) || !inNumber(text[behind]) {
		return all
	}
	from, to := before, behind
	for from > 0 && before-from < 40 && (inNumber(text[from-1]) || isBlank(text[from-1]) || text[from-1] == '\n') {
		from--
	}
	for from < before && (isBlank(text[from]) || text[from] == '\n') {
		from++
	}
	for letters := 0; from > 0 && letters < 2 && text[from-1] >= 'A' && text[from-1] <= 'Z'; letters++ { // an account's country
		from--
	}
	for to < len(text) && to-behind < 40 && (inNumber(text[to]) || isBlank(text[to]) || text[to] == '\n') {
		to++
	}
	for to > behind && (isBlank(text[to-1]) || text[to-1] == '\n') {
		to--
	}
	if from > 0 && inToken(text[from-1]) && text[from-1] != '=' || to < len(text) && inToken(text[to]) ||
		to+1 < len(text) && (text[to] == ':' || text[to] == '.') && inNumber(text[to+1]) {
		return all
	}
	digits, formed := 0, false
	for _, c := range []byte(text[from:to]) {
		if c >= '0' && c <= '9' {
			digits++
		}
		formed = formed || c == '-' || c >= 'A'
	}
	if digits < 9 || digits > 34 || !formed && (digits < 13 || digits > 19) {
		return all
	}
	for _, between := range []string{"", " "} {
		v := unfolded(text, from, to, between)
		for _, s := range personal.Find(v.text) {
			start, end := v.place(s.Start), v.place(s.End-1)+1
			rule := r.rule("personal", s.Kind, string(s.Tier))
			if s.Tier == personal.High && rule >= 0 && strings.IndexByte(text[start:end], '\n') >= 0 {
				return append(all, found{start, end, s.Kind, string(s.Tier), rule})
			}
		}
	}
	return all
}

// unfolded is a part of a text with its line breaks, and the blanks beside them, replaced. A sign stands before it, because of a text
// that is nothing but a number more is believed.
func unfolded(text string, from, to int, between string) view {
	v := view{places: []int32{int32(from), int32(from)}}
	out := []byte("| ")
	for at := from; at < to; {
		end := at
		for end < to && (isBlank(text[end]) || text[end] == '\n') {
			end++
		}
		piece := text[at:max(end, at+1)]
		if strings.IndexByte(piece, '\n') >= 0 {
			piece = between
		}
		for range len(piece) {
			v.places = append(v.places, int32(at))
		}
		out = append(out, piece...)
		at = max(end, at+1)
	}
	v.text, v.places = string(out), append(v.places, int32(to))
	return v
}

func inNumber(c byte) bool { return c >= '0' && c <= '9' || c == '-' }
