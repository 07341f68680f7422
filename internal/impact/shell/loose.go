package shell

import (
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// A clause is a stretch of text no shell can parse between two points at which a shell may take a command to begin.
type clause []looseWord

type looseWord struct {
	flow.Field
	bare   bool // unquoted and all of it known, so that it may be a keyword
	writes bool // it is what output is redirected to
	reads  bool // it is what input is redirected from
	append bool // output is added to it
}

// A looseReader cuts text into clauses whatever its syntax is. It takes every operator, bracket, line end and
// substitution for a place where a command may begin, so it finds at least the commands that any shell finds, and more.
// One pass, no recursion: what is inside a substitution is collected on a stack beside what is around it.
type looseReader struct {
	text    string
	quotes  bool // quotes and escapes hide what they enclose; otherwise they are taken away
	stack   []looseFrame
	clauses []clause
	open    bool // a quote is never closed
	strange bool // something was seen that can't be read in this way
}

// A looseFrame is the text around or inside one substitution.
type looseFrame struct {
	words  clause
	word   looseWord
	begun  bool
	double bool // inside double quotes
	tick   bool // ended by a backtick
	open   int  // brackets opened in this frame
	next   looseWord
}

// clauses reads text with its quotes honoured or taken away, and reports whether it held nothing that needs a real shell
// to be understood and whether a quote stays open to its end.
func clauses(text string, quotes bool) (list []clause, plain, open bool) {
	l := &looseReader{text: text, quotes: quotes, stack: make([]looseFrame, 1, 8)}
	for i := 0; i < len(text); {
		i = l.step(i)
	}
	for len(l.stack) > 0 {
		l.open = l.open || l.top().double
		l.endClause()
		l.stack = l.stack[:len(l.stack)-1]
	}
	return l.clauses, !l.strange, l.open
}

func (l *looseReader) top() *looseFrame { return &l.stack[len(l.stack)-1] }

func (l *looseReader) put(text string) {
	f := l.top()
	f.begun = true
	f.word.Text += text
}

func (l *looseReader) endWord() {
	f := l.top()
	if f.begun {
		f.word.writes, f.word.reads, f.word.append = f.next.writes, f.next.reads, f.next.append
		f.words = append(f.words, f.word)
		f.next = looseWord{}
	}
	f.word, f.begun = looseWord{bare: true}, false
}

func (l *looseReader) endClause() {
	l.endWord()
	f := l.top()
	if len(f.words) > 0 {
		l.clauses = append(l.clauses, f.words)
	}
	f.words, f.next = nil, looseWord{}
}

// step reads what is at i and returns where to go on.
func (l *looseReader) step(i int) int {
	f := l.top()
	if !f.begun && len(f.word.Text) == 0 {
		f.word.bare = true
	}
	c := l.text[i]
	if f.double {
		return l.quoted(i)
	}
	switch c {
	case ' ', '\t', '\r':
		l.endWord()
	case '\n', ';', '&', '|':
		l.operator(i)
	case '(':
		l.paren(i)
	case ')':
		l.closeParen()
	case '<', '>':
		return l.redirect(i)
	case '$', '`':
		return l.expansion(i)
	case '\'', '"', '\\':
		return l.quote(i)
	case '#':
		if l.quotes && !f.begun {
			return lex.EndOfLine(l.text, i)
		}
		l.put("#")
	default:
		f.word.Glob = f.word.Glob || c == '*' || c == '?' || c == '['
		if l.brace(i) {
			break
		}
		l.put(l.text[i : i+1])
	}
	return i + 1
}

func (l *looseReader) operator(i int) {
	if l.text[i] == '&' && i > 0 && (l.text[i-1] == '>' || l.text[i-1] == '<') {
		l.put("&") // 2>&1: part of a redirection
		return
	}
	if l.text[i] == '|' && i > 0 && l.text[i-1] == '>' {
		return // >|
	}
	l.endClause()
}

// paren begins a subshell, a pattern or another language's call. Attached to a word it may be zsh's glob qualifiers,
// and some of them run code.
func (l *looseReader) paren(i int) {
	f := l.top()
	if f.begun && l.quotes {
		end := strings.IndexByte(l.text[i:], ')')
		if end < 0 || end > 8 || strings.ContainsAny(l.text[i+1:i+end], "e+:'\"$`\\") {
			l.strange = true
		}
	}
	l.endClause()
	f.open++
}

func (l *looseReader) closeParen() {
	l.endClause()
	f := l.top()
	if f.open > 0 {
		f.open--
		return
	}
	if len(l.stack) > 1 && !f.tick {
		l.stack = l.stack[:len(l.stack)-1]
	}
}

// redirect notes what the next word is to a command. A here-document's body is read like everything else.
func (l *looseReader) redirect(i int) int {
	f := l.top()
	end := i
	for end < len(l.text) && strings.IndexByte("<>&|-", l.text[end]) >= 0 && end < i+3 {
		end++
	}
	operator := l.text[i:end]
	if end < len(l.text) && l.text[end] == '(' { // <( and >(
		l.endClause()
		return end
	}
	if f.begun && strings.Trim(f.word.Text, "0123456789") == "" {
		f.word, f.begun = looseWord{bare: true}, false // 2>
	}
	l.endWord()
	operator = strings.TrimRight(operator, "-")
	f.next = looseWord{writes: operator[0] == '>' || operator == "<>", reads: operator == "<", append: operator == ">>"}
	if operator == "<<" || operator == "<<<" {
		f.next = looseWord{}
	}
	return i + len(operator)
}

// expansion reads a variable or substitution: its value isn't known, what it runs is read as clauses of its own.
func (l *looseReader) expansion(i int) int {
	f := l.top()
	if l.text[i] == '`' {
		if f.tick {
			l.endClause()
			l.stack = l.stack[:len(l.stack)-1]
			return i + 1
		}
		l.unknown("`")
		l.push(true)
		return i + 1
	}
	rest := l.text[i+1:]
	switch {
	case rest == "":
		l.put("$")
	case rest[0] == '(':
		l.unknown("$()")
		l.push(false)
		return i + 2
	case rest[0] == '{':
		return l.parameter(i)
	case rest[0] == '\'' && !f.double && l.quotes:
		l.strange = true // escapes can spell anything
		l.put("$")
	case rest[0] == '"' && !f.double:
	case lex.IsNameStart(rest[0]):
		n := 1
		for n < len(rest) && (lex.IsNameStart(rest[n]) || rest[n] >= '0' && rest[n] <= '9') {
			n++
		}
		l.unknown("$" + rest[:n])
		return i + 1 + n
	case strings.IndexByte("0123456789@*#?!-$_", rest[0]) >= 0:
		l.unknown("$" + rest[:1])
		return i + 2
	default:
		l.put("$")
	}
	return i + 1
}

// parameter reads ${…}. Only the name is kept; what else is in it is read as a clause, since it may run something.
func (l *looseReader) parameter(i int) int {
	rest := l.text[i+2:]
	end := strings.IndexAny(rest, "}\n")
	if end < 0 || strings.ContainsAny(rest[:end], "'\"\\(`") || strings.Contains(rest[:end], "$(") ||
		strings.HasPrefix(rest, "!") && end < 2 {
		l.strange = true // zsh's flags can evaluate, and so can a default
		l.unknown("${")
		return i + 2
	}
	l.unknown("${" + rest[:end] + "}")
	return i + 3 + end
}

func (l *looseReader) unknown(text string) {
	if !l.quotes {
		defer l.endWord() // it may be nothing, so that what is beside it is alone
		l.endWord()
	}
	f := l.top()
	f.word.Lead = f.word.Lead || f.word.Text == ""
	f.word.Dynamic = true
	f.word.bare = false
	l.put(text)
}

func (l *looseReader) push(tick bool) {
	if len(l.stack) >= fact.MaxNesting {
		l.strange = true
		return
	}
	l.stack = append(l.stack, looseFrame{tick: tick, word: looseWord{bare: true}})
}

func (l *looseReader) quote(i int) int {
	f := l.top()
	c := l.text[i]
	if !l.quotes {
		if c == '\\' && i+1 < len(l.text) && l.text[i+1] == '\n' {
			return i + 2
		}
		return i + 1
	}
	f.word.bare = false
	switch c {
	case '"':
		f.double = true
		l.put("")
	case '\'':
		end := strings.IndexByte(l.text[i+1:], '\'')
		if end < 0 {
			l.open = true
			l.put(l.text[i+1:])
			return len(l.text)
		}
		l.put(l.text[i+1 : i+1+end])
		return i + end + 2
	case '\\':
		if i+1 < len(l.text) && l.text[i+1] != '\n' {
			l.put(l.text[i+1 : i+2])
		}
		return i + 2
	}
	return i + 1
}

// quoted reads inside double quotes, where only substitutions and variables mean something.
func (l *looseReader) quoted(i int) int {
	f := l.top()
	switch c := l.text[i]; c {
	case '"':
		f.double = false
	case '\\':
		if i+1 < len(l.text) {
			l.put(l.text[i+1 : i+2])
		}
		return i + 2
	case '$', '`':
		return l.expansion(i)
	default:
		l.put(l.text[i : i+1])
	}
	return i + 1
}

// brace reports whether the character at i is a brace that is apart from words, as around a block.
func (l *looseReader) brace(i int) bool {
	c := l.text[i]
	if c != '{' && c != '}' && c != ',' {
		return false
	}
	if !l.quotes {
		l.endWord()
		return true
	}
	alone := !l.top().begun && (i+1 == len(l.text) || lex.IsBlank(l.text[i+1]) || strings.IndexByte(";)&|", l.text[i+1]) >= 0)
	if alone && c != ',' {
		l.endClause()
		return true
	}
	if c == '{' && i+1 < len(l.text) && l.text[i+1] != '}' {
		l.strange = true // it may expand to any word
	}
	return false
}
