package shell

import (
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/lex"
)

// maxOpeners bounds the parentheses of one input, nested or not. The nesting below is estimated with quotes in mind; an
// input that misleads the estimate still can't make the parser recurse further than this, which it survives.
const maxOpeners = 8192

// maxVerbatim bounds the brackets open in here-documents that are text as they stand, which the parser survives as well.
const maxVerbatim = 2048

// nesting reports whether the shell parser may see the input: it recurses on brackets, substitutions and compound
// commands without a bound of its own, and overflowing the stack can't be recovered from. One pass, no recursion.
//
// Closing brackets inside a quoted stretch close only what was opened inside it, so that hiding them in quotes does not
// make code look shallow.
func nesting(src string) bool {
	var scan nestScan
	scan.floors = append(scan.floors, 0)
	for i := 0; i < len(src); {
		i = scan.step(src, i)
		if scan.depth > fact.MaxNesting || scan.verbatim > maxVerbatim || scan.cases > fact.MaxNesting ||
			scan.lost > fact.MaxNesting || scan.openers > maxOpeners || len(scan.floors) > 2*fact.MaxNesting {
			return false
		}
	}
	return true
}

type nestScan struct {
	depth, openers int
	cases          int    // open case commands: their patterns' brackets close without having been opened
	verbatim       int    // depth inside here-documents whose word is quoted
	lost           int    // here-documents without an end; each cost a look at all that follows
	quote          byte   // 0, ' or "
	floors         []int  // depth at the start of each quoted stretch and of each substitution in one
	inner          []byte // for each floor above the first: the quote to return to
}

func (n *nestScan) step(src string, i int) int {
	c := src[i]
	if n.quote == '\'' {
		if c == '\'' {
			n.leave()
		} else {
			n.bracket(c)
		}
		return i + 1
	}
	switch c {
	case '\\':
		return i + 2
	case '\'':
		if n.quote == 0 {
			n.enter('\'')
		}
	case '"':
		if n.quote == '"' {
			n.leave()
		} else {
			n.enter('"')
		}
	case '#':
		if n.quote == 0 && (i == 0 || lex.IsBlank(src[i-1])) {
			return lex.EndOfLine(src, i)
		}
	case '<':
		if n.quote == 0 && i+2 < len(src) && src[i+1] == '<' && src[i+2] != '<' {
			return n.heredoc(src, i+2)
		}
		if n.quote == 0 && i+2 < len(src) && src[i+1] == '<' {
			return i + 3
		}
	case '$':
		if n.quote == '"' && i+1 < len(src) && src[i+1] == '(' {
			n.enter(0)
			n.depth++
			n.openers++
			return i + 2
		}
	case ')':
		n.bracket(c)
		if n.quote == 0 && len(n.inner) > 0 && n.depth == n.floors[len(n.floors)-1] {
			n.leave()
		}
	default:
		n.bracket(c)
		if n.quote == 0 {
			n.keyword(src, i)
		}
	}
	return i + 1
}

func (n *nestScan) enter(quote byte) {
	n.inner = append(n.inner, n.quote)
	n.floors = append(n.floors, n.depth)
	n.quote = quote
}

func (n *nestScan) leave() {
	n.quote = n.inner[len(n.inner)-1]
	n.inner = n.inner[:len(n.inner)-1]
	n.floors = n.floors[:len(n.floors)-1]
}

func (n *nestScan) bracket(c byte) {
	switch c {
	case '(', '{', '[':
		n.depth++
		if c == '(' {
			n.openers++
		}
	case ')', '}', ']':
		if n.depth > n.floors[len(n.floors)-1] {
			n.depth--
		}
	}
}

// keyword counts the words that open and close compound commands.
func (n *nestScan) keyword(src string, i int) {
	if i > 0 && !lex.IsBlank(src[i-1]) && src[i-1] != ';' && src[i-1] != '(' && src[i-1] != '`' ||
		strings.IndexByte("ceifwustd", src[i]) < 0 {
		return
	}
	end := i
	for end < len(src) && end < i+9 && src[end] >= 'a' && src[end] <= 'z' {
		end++
	}
	if end < len(src) && !lex.IsBlank(src[end]) && src[end] != ';' && src[end] != ')' {
		return
	}
	switch src[i:end] {
	case "case":
		n.cases++
	case "esac":
		n.cases--
	case "if", "while", "until", "for", "select", "coproc", "time":
		n.depth++
	case "fi", "done":
		if n.depth > n.floors[len(n.floors)-1] {
			n.depth--
		}
	}
}

// heredoc skips what a here-document holds, after counting its brackets as a quoted stretch of its own.
func (n *nestScan) heredoc(src string, i int) int {
	if i < len(src) && src[i] == '-' {
		i++
	}
	for i < len(src) && (src[i] == ' ' || src[i] == '\t') {
		i++
	}
	start := i
	for i < len(src) && !lex.IsBlank(src[i]) && src[i] != ';' && src[i] != ')' && src[i] != '|' && src[i] != '>' &&
		src[i] != '<' && src[i] != '&' {
		i++
	}
	word := make([]byte, 0, 16)
	for _, c := range []byte(src[start:i]) {
		if c != '\'' && c != '"' && c != '\\' {
			word = append(word, c)
		}
	}
	if len(word) == 0 {
		return i
	}
	// What follows on the line is code; it is read after the body, which only brings brackets closer together.
	for line := lex.EndOfLine(src, i) + 1; line < len(src); {
		end := lex.EndOfLine(src, line)
		body := line
		for body < end && src[body] == '\t' {
			body++
		}
		if src[body:end] == string(word) {
			return n.around(src, i, line, end, len(word) < i-start)
		}
		line = end + 1
	}
	n.lost++
	return i
}

// around reads the rest of the line a here-document was announced on and the body, and returns where code goes on.
// A body whose word is quoted is nothing but text to the parser; it has a more generous bound, counted over all of them,
// in case this is no here-document after all.
func (n *nestScan) around(src string, rest, body, end int, quoted bool) int {
	lineEnd := lex.EndOfLine(src, rest)
	for j := rest; j < lineEnd; {
		if src[j] == '<' && j+1 < lineEnd && src[j+1] == '<' { // a second document on the line: leave it to maxOpeners
			j += 2
			continue
		}
		j = n.step(src, j)
	}
	n.enter('\'')
	before, deepest := n.depth, n.depth
	for j := lineEnd; j < body; j++ {
		if src[j] != '\'' {
			n.bracket(src[j])
			deepest = max(deepest, n.depth)
		}
	}
	if quoted {
		n.verbatim += deepest - before
		n.depth = before
	}
	if len(n.inner) > 0 {
		n.leave()
	}
	return end
}
