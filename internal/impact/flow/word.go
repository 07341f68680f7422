package flow

import (
	"strings"

	"interlock/internal/lex"
)

// SpelledOut writes a command as a person would type it.
func SpelledOut(args []Field) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		if a.Text == "" || strings.ContainsAny(a.Text, " \t\n;|&<>()\"") && !a.Dynamic {
			b.WriteString("'" + a.Text + "'")
			continue
		}
		b.WriteString(a.Text)
	}
	return b.String()
}

// A Value is what a variable holds.
type Value struct {
	Field
	Gone bool     // it was unset
	Ref  bool     // it is another name of the variable it holds the name of
	List []Field  // an array's elements
	Keys []string // of the elements, if it is a table or has been given elements one by one

	Grown *Elements // where list and keys lie, if they were added one by one
}

// Elements are an array's, with those that later values of it have added: a value is the first so many of them.
type Elements struct {
	List []Field
	Keys []string
}

func VarValue(f Field) Value { return Value{Field: f} }

// A Field is one argument after expansion, as far as that can be known. What is not known stays in text as it was
// written, so that a person recognises it.
type Field struct {
	Text    string
	Dynamic bool // some part is not known
	Lead    bool // it begins with a part that is not known
	Unset   bool // the unknown lead is a plain variable this script never set
	Glob    bool // it holds unquoted pattern characters
	Quoted  bool // it is a path whose pattern characters are quoted, so that they mean themselves
	All     bool // it means every file there is in a directory
	Each    bool // a loop gives it another value in each round
	Depth   int  // it means what lies anywhere below: wholeTree, namedBelow
	Odd     bool // it is spelled to hide what it is
	Flow    Flow // what flowed into it from substitutions
}

func Literal(text string) Field { return Field{Text: text} }

func Literals(words []string) []Field {
	out := make([]Field, len(words))
	for i, w := range words {
		out[i].Text = w
	}
	return out
}

func Join(a, b Field) Field {
	if a.Text == "" && !a.Dynamic && !a.Odd {
		b.Flow.Taint(a.Flow)
		return b
	}
	if a.Text += b.Text; len(a.Text) > lex.MaxText {
		a.Text, a.Dynamic = a.Text[:lex.MaxText], true
	}
	a.Dynamic, a.Glob, a.Odd, a.Each = a.Dynamic || b.Dynamic, a.Glob || b.Glob, a.Odd || b.Odd, a.Each || b.Each
	a.Flow.Taint(b.Flow)
	return a
}
