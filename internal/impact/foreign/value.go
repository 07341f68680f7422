package foreign

import (
	"strings"

	"interlock/internal/lex"
)

// A Value is what is known of a value in a program. \x00 in a text means a part that is not known.
type Value struct {
	Text   string
	Name   string // the value is what this name means and nothing more is known: File, os.execute
	Class  string // what made it, where that says what its methods do: path, command, lambda
	list   []Value
	listed bool // it is a list, whose elements are in list as far as they are known
	Glob   bool // the text is a pattern that represents the files it matches
	Quoted bool // it was written down as it is, and is no name of anything
	secret bool // it holds what a secret store held
	Sent   bool // it came over a network
	number bool

	variable string // it is this variable of the environment
}

// UnknownValue is a value nothing is known of.
func UnknownValue() Value { return Value{Text: "\x00"} }

func textForeign(text string) Value { return Value{Text: text, Quoted: true} }

// Known reports whether all of a text is known.
func (v *Value) Known() bool {
	return v.Name == "" && !v.listed && (v.Quoted || v.Text != "") && strings.IndexByte(v.Text, 0) < 0
}

// Some reports whether at least the beginning of it is known.
func (v *Value) Some() bool {
	return v.Name == "" && v.Text != "" && v.Text[0] != 0 && (!v.listed || len(v.list) > 0)
}

// String is the value as a text; what is not known in it is \x00.
func (v *Value) String() string {
	switch {
	case v.listed && len(v.list) > 0:
		parts := make([]string, 0, len(v.list))
		for i := range v.list[:min(len(v.list), 64)] {
			parts = append(parts, v.list[i].String())
		}
		return strings.Join(parts, " ")
	case v.Name != "" && !v.Quoted || v.Text == "" && !v.Quoted:
		return "\x00"
	}
	return v.Text
}

// joined is one value after another, as one text.
func (v Value) joined(o Value, with string) Value {
	text := v.String() + with + o.String()
	if len(text) > lex.MaxText {
		text = text[:lex.MaxText] + "\x00"
	}
	out := Value{Text: text, Quoted: true, Glob: v.Glob || o.Glob, secret: v.secret || o.secret, Sent: v.Sent || o.Sent}
	if v.Class == "decoded" || o.Class == "decoded" {
		out.Class = "decoded"
	}
	return out
}

// elements are the values a list holds, or the value itself.
func (v *Value) elements() []Value {
	if v.listed {
		return v.list
	}
	return []Value{*v}
}

// each is what a loop over the value gives to its variable.
func (v *Value) each() Value {
	if !v.listed || len(v.list) == 0 {
		if v.Glob || v.listed {
			return *v
		}
		return Value{Text: "\x00", secret: v.secret, Sent: v.Sent}
	}
	out := v.list[0]
	if len(v.list) > 1 {
		out = Value{listed: true, list: v.list, Class: out.Class}
	}
	return out
}

func (v *Value) marks(o *Value) {
	v.secret, v.Sent = v.secret || o.secret, v.Sent || o.Sent
}

// maxForeignName is how long the name of a member of a member may grow.
const maxForeignName = 256
