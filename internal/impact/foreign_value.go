package impact

import (
	"strings"
)

// A foreignValue is what is known of a value in a program. \x00 in a text stands for a part that is not known.
type foreignValue struct {
	text   string
	name   string // the value is what this name means and nothing more is known: File, os.execute
	class  string // what made it, where that says what its methods do: path, command, lambda
	list   []foreignValue
	listed bool // it is a list, whose elements are in list as far as they are known
	glob   bool // the text is a pattern that stands for the files it matches
	quoted bool // it was written down as it is, and is no name of anything
	secret bool // it holds what a secret store held
	sent   bool // it came over a network
	number bool
}

// unknownForeign is a value nothing is known of.
func unknownForeign() foreignValue { return foreignValue{text: "\x00"} }

func textForeign(text string) foreignValue { return foreignValue{text: text, quoted: true} }

// known reports whether all of a text is known.
func (v *foreignValue) known() bool {
	return v.name == "" && !v.listed && (v.quoted || v.text != "") && strings.IndexByte(v.text, 0) < 0
}

// some reports whether at least the beginning of it is known.
func (v *foreignValue) some() bool {
	return v.name == "" && v.text != "" && v.text[0] != 0 && (!v.listed || len(v.list) > 0)
}

// string is the value as a text; what is not known in it is \x00.
func (v *foreignValue) string() string {
	switch {
	case v.listed && len(v.list) > 0:
		parts := make([]string, 0, len(v.list))
		for i := range v.list[:min(len(v.list), 64)] {
			parts = append(parts, v.list[i].string())
		}
		return strings.Join(parts, " ")
	case v.name != "" && !v.quoted || v.text == "" && !v.quoted:
		return "\x00"
	}
	return v.text
}

// joined is one value after another, as one text.
func (v foreignValue) joined(o foreignValue, with string) foreignValue {
	text := v.string() + with + o.string()
	if len(text) > maxText {
		text = text[:maxText] + "\x00"
	}
	out := foreignValue{text: text, quoted: true, glob: v.glob || o.glob, secret: v.secret || o.secret, sent: v.sent || o.sent}
	if v.class == "decoded" || o.class == "decoded" {
		out.class = "decoded"
	}
	return out
}

// elements are the values a list holds, or the value itself.
func (v *foreignValue) elements() []foreignValue {
	if v.listed {
		return v.list
	}
	return []foreignValue{*v}
}

// each is what a loop over the value gives to its variable.
func (v *foreignValue) each() foreignValue {
	if !v.listed || len(v.list) == 0 {
		if v.glob || v.listed {
			return *v
		}
		return foreignValue{text: "\x00", secret: v.secret, sent: v.sent}
	}
	out := v.list[0]
	if len(v.list) > 1 {
		out = foreignValue{listed: true, list: v.list, class: out.class}
	}
	return out
}

func (v *foreignValue) marks(o *foreignValue) {
	v.secret, v.sent = v.secret || o.secret, v.sent || o.sent
}

// maxForeignName is how long the name of a member of a member may grow.
const maxForeignName = 256
