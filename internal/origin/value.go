package origin

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"interlock"
	"interlock/internal/strictjson"
)

// A shape is what a value looks like.
type shape int

const (
	shapeWord    shape = iota // a short text in quotes, or a whole argument
	shapeName                 // letters with digits or joints between them: an id, an order, a repository, a password
	shapeAccount              // a long one: an account, a phone number, a key
	shapePath                 // a path
	shapeMail                 // an address of a person
	shapeLink                 // an address on the network, or the host of one
)

type value struct {
	text  string
	shape shape
}

// maxValue bounds a value, in bytes. A longer one counts by its beginning.
const maxValue = 256

// valuesOf calls yield with each value in a text that is not just any word. Short texts in quotes count where quoted is set.
func valuesOf(text string, quoted bool, yield func(value)) {
	low := strings.ToLower(escapes.Replace(text))
	start := -1
	for i := 0; i <= len(low); i++ {
		if i < len(low) && !separates(low[i]) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			word(low[start:i], yield)
			start = -1
		}
	}
	if quoted {
		quotes(low, yield)
	}
}

// separates reports whether a byte ends a value.
func separates(c byte) bool {
	return c <= ' ' || strings.IndexByte("\"'<>()[]{},;|\\`*", c) >= 0
}

// word yields what a word without spaces is, if it is something.
func word(w string, yield func(value)) {
	if !strings.Contains(w, "://") {
		if before, after, found := strings.Cut(w, "="); found && !strings.ContainsAny(before, "/@.") {
			w = after
		}
		if before, after, found := strings.Cut(w, ":"); found && after != "" && !strings.ContainsAny(before, "/@.") {
			w = after // key:value
		}
	}
	w = strings.Trim(w, ".:!?_-=#&$")
	if len(w) < 4 {
		return
	}
	if len(w) > maxValue {
		w = w[:maxValue]
	}
	for _, v := range shaped(w) {
		yield(v)
	}
}

// shaped is what one word may be known by, the most particular first.
func shaped(w string) []value {
	scheme := strings.Index(w, "://")
	switch {
	case scheme >= 0:
		return link(w[scheme+3:])
	case strings.HasPrefix(w, "www."):
		return link(w)
	case strings.HasPrefix(w, "mailto:"):
		w = w[len("mailto:"):]
	}
	if at := strings.IndexByte(w, '@'); at > 0 && strings.IndexByte(w[at:], '.') > 0 && !strings.Contains(w, "/") {
		return []value{{w, shapeMail}}
	}
	if strings.IndexByte(w, '/') >= 0 {
		first, _, _ := strings.Cut(w, "/")
		if hostLike(first) {
			return link(w)
		}
		return []value{{strings.TrimRight(w, "/"), shapePath}}
	}
	if hostLike(w) {
		return link(w)
	}
	if strings.IndexByte(w, '@') >= 0 {
		return []value{{w, shapeName}}
	}
	return name(w)
}

// link is an address without its scheme and query, and its host.
func link(w string) []value {
	if cut := strings.IndexAny(w, "?#"); cut >= 0 {
		w = w[:cut]
	}
	w = strings.TrimRight(strings.TrimPrefix(w, "www."), "/.")
	host, _, deeper := strings.Cut(w, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	if len(host) < 4 {
		return nil
	}
	if !deeper {
		return []value{{host, shapeLink}}
	}
	return []value{{w, shapeLink}, {host, shapeLink}}
}

// hostLike reports whether a word could be the name of a host: labels of letters and digits, the last of letters.
func hostLike(w string) bool {
	host, _, _ := strings.Cut(w, ":")
	dot := strings.LastIndexByte(host, '.')
	if dot <= 0 || len(host)-dot < 3 {
		return false
	}
	for i := 0; i < len(host); i++ {
		c := host[i]
		letter := c >= 'a' && c <= 'z'
		if !letter && (i > dot || c != '.' && c != '-' && c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return true
}

// name is a word that is no plain word and no date, time or amount.
func name(w string) []value {
	letters, digits, joints, other := 0, 0, 0, 0
	for i := 0; i < len(w); i++ {
		switch c := w[i]; {
		case c >= 'a' && c <= 'z':
			letters++
		case c >= '0' && c <= '9':
			digits++
		case c == '_' || c == '-' || c == '+':
			joints++
		default:
			other++
		}
	}
	switch {
	case isDate(w), letters == 0 && other > 0:
		return nil
	case digits >= 6 && len(w) >= 8:
		return []value{{w, shapeAccount}}
	case letters > 0 && digits > 0, letters == 0 && digits >= 6, joints > 0 && strings.IndexByte(w, '_') > 0:
		return []value{{w, shapeName}}
	}
	return nil
}

// isDate reports whether a word begins like 2024-05-19 or is one like 19-05-2024.
func isDate(w string) bool {
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	parts := strings.SplitN(w, "-", 3)
	if len(parts) != 3 || !digits(parts[0]) || !digits(parts[1]) || parts[2] == "" {
		return false
	}
	return len(parts[0]) == 4 && len(parts[1]) == 2 || len(parts[0]) <= 2 && len(parts[1]) <= 2
}

// quotes yields what is between two quotes, if it is short. Which of them open is not asked: what is between two
// quoted texts is hardly ever anything.
func quotes(low string, yield func(value)) {
	for _, mark := range []byte{'\'', '"', '`'} {
		before := -1
		for i := 0; i < len(low); i++ {
			if low[i] != mark {
				continue
			}
			if before >= 0 && i-before <= 66 {
				if inner := strings.TrimSpace(low[before+1 : i]); short(inner) {
					yield(value{inner, shapeWord})
				}
			}
			before = i
		}
	}
}

func short(text string) bool {
	return len(text) >= 4 && len(text) <= 64 && !strings.Contains(text, "\n") && strings.Count(text, " ") < 8
}

// A use is a value in an action and what it is there for.
type use struct {
	value
	key   string // the argument it is in, without joints; empty in a command
	prose bool   // it is in words for people
	more  []value
}

// names are the value and what else it is known by.
func (u use) names() []string {
	out := []string{u.text}
	for _, v := range u.more {
		out = append(out, v.text)
	}
	return out
}

func (u use) path() bool    { return u.shape == shapePath && !u.prose }
func (u use) network() bool { return u.shape == shapeLink && !u.prose }

// target reports whether the value may say what the action is done to.
func (u use) target() bool { return !u.prose && u.shape != shapeWord }

// goes reports whether the value may say where something goes: to whom, to which account, to which host.
func (u use) goes() bool {
	if u.shape == shapeMail || u.shape == shapeLink {
		return true
	}
	return u.shape != shapeWord && u.key != "" && receives(u.key)
}

// receiverWords name arguments that say who gets something.
var receiverWords = [...]string{"recipient", "receiver", "iban", "payee", "beneficiary", "address", "destination", "account",
	"phone", "webhook", "wallet", "collaborator", "owner",
	"member", "invitee", "attendee", "password", "sshkey", "publickey", "username", "userid"}

func receives(key string) bool {
	for _, w := range receiverWords {
		if strings.Contains(key, w) {
			return true
		}
	}
	return key == "to" || key == "cc" || key == "bcc"
}

// proseWords name arguments that hold words for people, or content.
var proseWords = [...]string{"body", "content", "message", "text", "description", "comment", "subject", "summary", "note",
	"title", "caption", "query", "prompt", "reason", "newstr", "oldstr"}

func prosaic(key, text string) bool {
	for _, w := range proseWords {
		if strings.Contains(key, w) {
			return true
		}
	}
	return !receives(key) && (len(text) > 400 || strings.Count(text, " ") > 12) // however long, who gets it is no talk
}

// maxUses bounds how many values of an action are looked at.
const maxUses = 512

// uses returns the values in an action, and whether these are all. In a command line, which holds everything, only addresses
// count.
func uses(action interlock.Action) (out []use, all bool) {
	if len(action.Arguments) == 0 {
		valuesOf(head(action.Input), false, func(v value) {
			if len(out) < maxUses && (v.shape == shapeMail || v.shape == shapeLink || v.shape == shapePath) {
				out = append(out, use{value: v})
			}
		})
		return joined(out), len(out) < maxUses && len(action.Input) <= maxText
	}
	var object any
	if json.Unmarshal(action.Arguments, &object) != nil {
		return nil, false
	}
	all = walk(object, "", 0, &out)
	return joined(out), all && len(out) < maxUses
}

func head(text string) string { return text[:min(len(text), maxText)] }

// walk adds the values below a node, and reports whether it has looked at all of it.
func walk(node any, key string, depth int, out *[]use) (all bool) {
	if depth > 16 || len(*out) >= maxUses {
		return false
	}
	all = true
	switch v := node.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = walk(v[name], folded(name), depth+1, out) && all
		}
	case []any:
		for _, item := range v {
			all = walk(item, key, depth+1, out) && all
		}
	case string:
		all = len(v) <= maxText
		v = head(v)
		prose, before := prosaic(key, v), len(*out)
		valuesOf(v, false, func(one value) {
			if len(*out) < maxUses {
				*out = append(*out, use{value: one, key: key, prose: prose})
			}
		})
		if whole := strings.ToLower(strings.TrimSpace(v)); short(whole) && (len(*out) == before || strings.Contains(whole, " ")) {
			*out = append(*out, use{value: value{whole, shapeWord}, key: key, prose: prose})
		}
	}
	return all
}

// folded is an argument's name in small letters without joints.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}

// joined makes one of an address and its host, which stand beside each other.
func joined(list []use) []use {
	out := list[:0]
	for _, u := range list {
		if n := len(out); n > 0 && u.shape == shapeLink && out[n-1].shape == shapeLink &&
			strings.HasPrefix(out[n-1].text, u.text+"/") {
			out[n-1].more = append(out[n-1].more, u.value)
			continue
		}
		out = append(out, u)
	}
	return out
}

// Text is what a JSON value says: its strings, one under the other. Anything that is no JSON is taken as it is.
func Text(raw []byte) string {
	value, ok := strictjson.Tree(raw, asDouble)
	if !ok && json.Unmarshal(raw, &value) != nil {
		return string(raw)
	}
	var b strings.Builder
	b.Grow(len(raw))
	spoken(value, 0, &b)
	return b.String()
}

// asDouble reads a number as encoding/json does for an any.
func asDouble(text string) (any, bool) {
	value, err := strconv.ParseFloat(text, 64)
	return value, err == nil
}

func spoken(node any, depth int, b *strings.Builder) {
	if depth > 32 {
		return
	}
	switch v := node.(type) {
	case string:
		b.WriteString(v)
		b.WriteByte('\n')
	case float64:
		b.WriteString(strconv.FormatFloat(v, 'f', -1, 64))
		b.WriteByte('\n')
	case []any:
		for _, item := range v {
			spoken(item, depth+1, b)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			spoken(v[name], depth+1, b)
		}
	}
}

// escapes are line ends and tabs as JSON inside a text spells them.
var escapes = strings.NewReplacer(`\n`, "\n", `\r`, "\n", `\t`, " ")
