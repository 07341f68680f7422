package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxLiteral bounds the command lines that are taken apart for a standing yes, in bytes.
const maxLiteral = 4096

// LiteralWords are the words of a command line that is one program with its arguments and nothing more: no second command, no
// assignment, no redirection, and nothing that any shell would expand or read in its own way. Of any other line there are none.
// stars lets * stand in words that are not quoted: for the author of a pattern.
func LiteralWords(line string, stars bool) []string {
	if len(line) > maxLiteral || strings.IndexByte(line, 0) >= 0 {
		return nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) != 1 || len(file.Last) > 0 {
		return nil
	}
	stmt := file.Stmts[0]
	call, plain := stmt.Cmd.(*syntax.CallExpr)
	if !plain || len(call.Assigns) > 0 || len(call.Args) == 0 || len(stmt.Redirs) > 0 || len(stmt.Comments) > 0 || stmt.Negated ||
		stmt.Background || stmt.Coprocess || stmt.Disown || stmt.Semicolon.IsValid() {
		return nil
	}
	words := make([]string, 0, len(call.Args))
	for n, arg := range call.Args {
		word, ok := literalWord(arg, stars)
		if !ok || n == 0 && (word == "" || strings.Contains(word, "=")) {
			return nil
		}
		words = append(words, word)
	}
	return words
}

// literalWord is what a word of plain characters and quoted texts says to every shell.
func literalWord(word *syntax.Word, stars bool) (string, bool) {
	var b strings.Builder
	for n, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			for i := 0; i < len(part.Value); i++ {
				if c := part.Value[i]; !meansItself(c) && !(stars && c == '*') && !(c == '=' && n+i > 0) {
					return "", false
				}
			}
			b.WriteString(part.Value)
		case *syntax.SglQuoted:
			if part.Dollar || stars && strings.Contains(part.Value, "*") {
				return "", false
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			if part.Dollar {
				return "", false
			}
			for _, inner := range part.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok || strings.ContainsAny(lit.Value, "$`\\!") || stars && strings.Contains(lit.Value, "*") {
					return "", false
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), !strings.ContainsAny(b.String(), "\n\r")
}

// meansItself reports whether a byte that is not quoted means itself to every shell, wherever in a word it is.
func meansItself(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-./:,+@%", c) >= 0
}
