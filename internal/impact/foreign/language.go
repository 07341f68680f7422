package foreign

import (
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// Read follows a program.
func Read(l *know.Language, text string, host Host, inline bool, args []Value) {
	switch l.Syntax {
	case "lisp":
		readLisp(l, text, host, inline)
		return
	case "tcl", "cmake":
		readWords(l, text, host, inline, args)
		return
	}
	if l.Syntax == "php" {
		text = lex.BetweenTags(text)
	}
	toks, ok := tokens(l, text, host.Spend)
	if !ok {
		host.TooDeep()
		return
	}
	r := &Run{lang: l, host: host, toks: toks, inline: inline, vars: map[string]Value{}, defined: map[string]bool{}}
	r.given = &Value{listed: true, list: args}
	for i := range toks {
		if toks[i].kind != foreignName {
			continue
		}
		if i > 0 && toks[i-1].kind == foreignName &&
			(defines(toks[i-1].text) || i > 1 && toks[i-2].kind == foreignName && defines(toks[i-2].text)) {
			r.defined[toks[i].text] = true
		}
		if i+2 < len(toks) && toks[i+1].kind == foreignOp && (toks[i+1].text == "<-" || toks[i+1].text == "=") &&
			defines(toks[i+2].text) {
			r.defined[toks[i].text] = true
		}
	}
	r.statements("")
}

// defines reports whether a word gives a name to a function.
func defines(word string) bool {
	switch word {
	case "sub", "def", "defp", "function", "fun", "fn", "func", "method", "lambda", "proc", "package", "class", "module",
		"defmodule", "macro":
		return true
	}
	return false
}
