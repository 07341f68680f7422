package windows

import (
	"strings"

	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// Signs counts what in a text speaks for which shell.
type Signs struct{ PowerShell, Cmd, Either int }

// Verdict is the shell most signs speak for, and whether there are enough of them to be sure.
func (g Signs) Verdict() (flow.Dialect, bool) {
	if g.PowerShell+g.Cmd+g.Either < 2 {
		return flow.DialectGuess, false
	}
	sure := g.PowerShell+g.Cmd >= 3 || g.PowerShell+g.Cmd+g.Either >= 4
	if g.PowerShell > 0 && g.PowerShell >= g.Cmd {
		return flow.DialectPowerShell, sure
	}
	return flow.DialectCmd, sure
}

// SignsOf looks for what only a shell of Windows would mean anything by. What is quoted, and the body of a here-document, is
// data that says nothing about the shell it is given in; where the quotes don't add up, all of it counts. Two passes at most.
func SignsOf(k *know.Knowledge, text string) Signs {
	if g, closed := countSigns(k, text, true); closed {
		return g
	}
	g, _ := countSigns(k, text, false)
	return g
}

// countSigns counts the signs in a text, in all of it or only outside what is quoted, and reports whether every quote is closed.
func countSigns(k *know.Knowledge, text string, heed bool) (Signs, bool) {
	var g Signs
	start := true // a command may begin here
	q := quoting{text: text, heed: heed}
	for i := 0; i < len(text) && i < lex.MaxText; i++ {
		if !start && text[i] >= 'a' && text[i] <= 'z' {
			continue // inside a word a letter is a sign of nothing
		}
		if end, skipped := q.step(i, start); skipped {
			i, start = end, true
			continue
		}
		c := text[i]
		if q.quoted() && !q.counts(i) || q.heed && q.comment && c != '\n' {
			start = false
			continue
		}
		switch c {
		case ' ', '\t':
			continue
		case '\n', ';', '|', '(', '{', '&', '=', '@', '\r':
			if c == '@' && i+1 < len(text) && (text[i+1] == '{' || text[i+1] == '\'' || text[i+1] == '"') && i > 0 &&
				lex.IsBlank(text[i-1]) {
				g.PowerShell++
			}
			if c == '&' && start && i+1 < len(text) && text[i+1] != '&' && (i == 0 || text[i-1] != '&') {
				g.call(text, i)
			}
			start = true
			continue
		}
		i += signsAt(k, text, i, start, &g, &q)
		start = false
	}
	return g, !q.single && !q.double
}

// signsAt weighs what is at i and returns how many further bytes belong to it.
func signsAt(k *know.Knowledge, text string, i int, start bool, g *Signs, q *quoting) int {
	c := text[i]
	switch c {
	case '-':
		if !q.single && !q.double && i > 1 && text[i-1] == ' ' && strings.IndexByte(")'\"", text[i-2]) >= 0 {
			g.joins(text[i+1:], text[i-2] == ')')
		}
	case '$':
		g.dollar(text, i, start && !q.single)
	case '%':
		g.percent(text, i)
	case '[':
		if start && !q.single {
			g.bracket(text, i)
		}
	case ']':
		if strings.HasPrefix(text[i:], "]::") {
			g.PowerShell += 3
		}
	case '\\':
		g.backslash(text, i)
	}
	switch {
	case start && lex.IsNameStart(c):
		q.runs(text[i:])
		return weighWord(k, text, i, g)
	case c == '.' && len(text) >= i+4 && strings.EqualFold(text[i:i+4], ".exe"):
		g.Either++
		if from := max(0, i-80); i > 0 && lex.IsNameStart(text[i-1]) && strings.IndexByte(text[from:i], '\\') >= 0 {
			g.Either += 3 // a program by a path with backslashes
		}
	}
	return 0
}

// A quoting knows what in a text is quoted, in a comment or the body of a here-document, as a POSIX shell sees it.
type quoting struct {
	text                    string
	heed                    bool // it matters; otherwise nothing counts as quoted
	single, double, comment bool
	program                 bool // what is quoted is where a command is
	shell                   bool // a shell of Windows was named, and what is quoted behind it may be its code
	opened                  int  // where the quotes were opened
	bodies                  []string
	lost                    bool // a here-document had no end
}

// step takes notice of the byte at i. Where the body of a here-document begins it returns where that ends.
func (q *quoting) step(i int, start bool) (int, bool) {
	c := q.text[i]
	switch {
	case c == '\n':
		q.comment = false
		if len(q.bodies) > 0 {
			return q.skip(i), true
		}
	case q.comment || c != '#' && i > 0 && q.text[i-1] == '\\' && !q.single && q.heed && (c == '\'' || c == '"'):
	case c == '#' && !q.single && !q.double && (i == 0 || lex.IsBlank(q.text[i-1])):
		q.comment = true // an apostrophe in a remark opens nothing
	case c == '\'' && !q.double:
		q.single = !q.single
		q.open(i, start, q.single)
	case c == '"' && !q.single:
		q.double = !q.double
		q.open(i, start, q.double)
	case c == '<' && q.heed && !q.lost && !q.single:
		q.document(i)
	}
	return i, false
}

func (q *quoting) open(i int, start, opens bool) {
	if opens {
		q.opened, q.program = i, start
	}
}

func (q *quoting) quoted() bool { return q.heed && (q.single || q.double) }

// counts reports whether a quoted byte says something all the same: the quotes stand where a command does or behind a shell
// of Windows, or it belongs to the beginning of a path that is an argument of its own.
func (q *quoting) counts(i int) bool {
	return q.program || q.shell || i-q.opened <= len(`"HKLM:\`) && strings.IndexByte(`\%$`, q.text[i]) >= 0 &&
		strings.IndexByte(q.text[q.opened:i], ' ') < 0
}

// runs takes notice of the word in a command's place.
func (q *quoting) runs(rest string) {
	switch strings.ToLower(lettersAt(rest, 0)) {
	case "powershell", "pwsh", "cmd":
		q.shell = true
	}
}

// document notes the word that ends the here-document whose operator is at i.
func (q *quoting) document(i int) {
	rest := q.text[i:]
	if !strings.HasPrefix(rest, "<<") || strings.HasPrefix(rest, "<<<") || i > 0 && q.text[i-1] == '<' {
		return
	}
	if q.double && !strings.Contains(q.text[q.opened:i][max(0, i-q.opened-64):], "$(") {
		return
	}
	rest = strings.TrimLeft(strings.TrimPrefix(rest[2:], "-"), " \t")
	end := strings.IndexAny(rest, " \t\r\n;|&()<>")
	if end < 0 {
		return
	}
	if word := strings.Trim(rest[:end], `'"\`); word != "" && (lex.IsNameStart(word[0]) || word[0] == '_') {
		q.bodies = append(q.bodies, word)
	}
}

// skip returns where the last of the here-documents ends that begin behind the line end at i, or i if one never does.
func (q *quoting) skip(i int) int {
	at := i + 1
	for _, word := range q.bodies {
		for {
			if at >= len(q.text) {
				q.lost, q.bodies = true, nil
				return i
			}
			end := lex.EndOfLine(q.text, at)
			line := strings.Trim(q.text[at:end], "\t\r")
			at = end + 1
			if line == word {
				break
			}
		}
	}
	q.bodies = nil
	return min(at, len(q.text)) - 1
}
