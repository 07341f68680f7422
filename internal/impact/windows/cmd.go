package windows

import (
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// A cmdRun reads what cmd.exe would run: variables expanded, carets and quotes resolved, statements split at &, && and ||,
// pipes, blocks, if and for. It runs each command there is once, whatever its condition.
type cmdRun struct {
	r    *Run
	vars map[string]flow.Field
	loop map[string]flow.Field // variables of for, by their letter
}

// CmdExe walks a command line or batch file of cmd.exe.
func (r *Run) CmdExe(text string, in flow.Flow) (out flow.Flow) {
	s := r.S
	defer r.giveUp("cmd", r.Steps, r.ps, r.batch, s.Windows, r.Src, &out)()
	if reason := s.Enter(text); reason != "" {
		s.Unknown("cmd", reason)
		return flow.Flow{}
	}
	defer s.Leave()
	if s.Trace != nil {
		s.Trace.Enter("cmd", text)
		defer s.Trace.Leave()
	}
	if strings.IndexByte(text, 0) >= 0 {
		s.Unknown("cmd", fact.TraitEncoding)
		return flow.Flow{}
	}
	windows, src := s.Windows, r.Src
	s.Windows, r.Src = true, text
	c := r.batch
	if c == nil {
		c = &cmdRun{r: r, vars: map[string]flow.Field{}, loop: map[string]flow.Field{}}
	}
	outer := r.batch
	r.batch = c
	out = c.script(text, in)
	r.batch = outer
	s.Windows, r.Src = windows, src
	if !s.Spend(0) {
		s.Unknown("cmd", fact.TraitWork)
	}
	return out
}

// script walks statements.
func (c *cmdRun) script(text string, in flow.Flow) flow.Flow {
	if c.r.Steps >= fact.MaxSteps {
		c.r.S.Unknown("cmd", fact.TraitNested)
		return flow.Flow{}
	}
	c.r.Steps++
	defer func() { c.r.Steps-- }()
	var out flow.Flow
	piped := flow.Flow{}
	first := true
	for at := 0; at < len(text); {
		at = lex.SkipAny(text, at, " \t\r\n;,=@&")
		if at >= len(text) {
			break
		}
		if !c.r.S.Spend(1) {
			c.r.S.Unknown("cmd", fact.TraitWork)
			return out
		}
		given := in
		if !first {
			given = piped
		}
		one, next := c.statement(text, at, given)
		if next <= at {
			next = at + 1
		}
		at = lex.SkipAny(text, next, " \t\r")
		first = false
		if at < len(text) && text[at] == '|' && (at+1 >= len(text) || text[at+1] != '|') {
			at++
			one.Piped = true
			piped, first = one, false
			continue
		}
		for at < len(text) && (text[at] == '|' || text[at] == ')') {
			at++
		}
		piped = flow.Flow{}
		out = out.Then(one)
	}
	return out
}

// statement walks one statement and returns where it ends.
func (c *cmdRun) statement(text string, at int, in flow.Flow) (flow.Flow, int) {
	if text[at] == '(' {
		end := closingBracket(text, at+1)
		out := c.script(text[at+1:end], in)
		rest := end + 1
		stop := c.end(text, min(rest, len(text)))
		words, io := c.words(text[min(rest, len(text)):stop], flow.Streams{In: in})
		if len(words) > 0 && strings.EqualFold(words[0].Text, "else") {
			inner, next := c.statementAfter(text, lex.SkipAny(text, min(rest, len(text)), " \t\r\n")+len("else"), in)
			return out.Then(inner), next
		}
		return c.r.Deliver(io, out), stop
	}
	word := strings.ToLower(lettersAt(text, at))
	switch word {
	case "if":
		return c.statementAfter(text, c.condition(text, at+len(word)), in)
	case "else", "do":
		return c.statementAfter(text, at+len(word), in)
	case "for":
		if out, next, ok := c.each(text, at+len(word), in); ok {
			return out, next
		}
	case "rem":
		return flow.Flow{}, lex.EndOfLine(text, at)
	}
	if text[at] == ':' {
		return flow.Flow{}, lex.EndOfLine(text, at)
	}
	end := c.end(text, at)
	return c.simple(text[at:end], in), end
}

func (c *cmdRun) statementAfter(text string, at int, in flow.Flow) (flow.Flow, int) {
	at = lex.SkipAny(text, at, " \t\r\n@")
	if at >= len(text) {
		return flow.Flow{}, at
	}
	if c.r.Steps >= fact.MaxSteps {
		return flow.Flow{}, len(text)
	}
	c.r.Steps++
	defer func() { c.r.Steps-- }()
	return c.statement(text, at, in)
}

func lettersAt(text string, at int) string {
	end := at
	for end < len(text) && end < at+8 && text[end]|0x20 >= 'a' && text[end]|0x20 <= 'z' {
		end++
	}
	if end < len(text) && strings.IndexByte(" \t\r\n(\"", text[end]) < 0 {
		return ""
	}
	return text[at:end]
}

// closingBracket returns where the bracket closes that was just opened.
func closingBracket(text string, at int) int {
	depth, quoted := 1, false
	for ; at < len(text); at++ {
		switch text[at] {
		case '^':
			at++
		case '"':
			quoted = !quoted
		case '\n':
			quoted = false
		case '(':
			if !quoted {
				depth++
			}
		case ')':
			if !quoted {
				if depth--; depth == 0 {
					return at
				}
			}
		}
	}
	return len(text)
}

// end returns where a simple command ends.
func (c *cmdRun) end(text string, at int) int {
	quoted, depth := false, 0
	for ; at < len(text); at++ {
		switch text[at] {
		case '^':
			if !quoted {
				at++
			}
		case '"':
			quoted = !quoted
		case '\n':
			return at
		case '(':
			if !quoted {
				depth++
			}
		case ')':
			if !quoted {
				depth--
			}
		case '&', '|':
			if !quoted && !(text[at] == '&' && at > 0 && (text[at-1] == '>' || text[at-1] == '<')) {
				return at
			}
		}
		if depth < 0 {
			return at
		}
	}
	return len(text)
}

// condition moves past the condition of an if.
func (c *cmdRun) condition(text string, at int) int {
	for n := 0; n < 6; n++ {
		at = lex.SkipAny(text, at, " \t")
		start := at
		quoted := false
		for at < len(text) && (quoted || strings.IndexByte(" \t\n(", text[at]) < 0) &&
			!(at > start && !quoted && text[at] == '=') {
			if text[at] == '"' {
				quoted = !quoted
			}
			at++
		}
		word := strings.ToLower(text[start:at])
		switch {
		case word == "/i" || word == "not":
			n--
			if start == at {
				return at
			}
			continue
		case word == "exist" || word == "defined" || word == "errorlevel" || word == "cmdextversion":
			return conditionWord(text, at, quoted)
		}
		if strings.HasPrefix(text[at:], "==") { // a==b
			return conditionWord(text, at+2, quoted)
		}
		rest := lex.SkipAny(text, at, " \t")
		if strings.HasPrefix(text[rest:], "==") {
			at = rest
			n--
			if at = rest; start == at {
				return at
			}
			at = lex.SkipAny(text, at+2, " \t")
			for at < len(text) && (quoted || strings.IndexByte(" \t\n(", text[at]) < 0) {
				at++
			}
			return at
		}
		switch strings.ToLower(lettersAt(text, rest)) {
		case "equ", "neq", "lss", "leq", "gtr", "geq":
			at = lex.SkipAny(text, rest+3, " \t")
			for at < len(text) && strings.IndexByte(" \t\n(", text[at]) < 0 {
				at++
			}
			return at
		}
		return at
	}
	return at
}

// conditionWord returns the index after what a condition looks at or compares with.
func conditionWord(text string, at int, quoted bool) int {
	at = lex.SkipAny(text, at, " \t")
	for at < len(text) && (quoted || strings.IndexByte(" \t\n(", text[at]) < 0) {
		if text[at] == '"' {
			quoted = !quoted
		}
		at++
	}
	return at
}

// each walks for … %i in (…) do …: a command that gives the values, and the body for a few of them.
func (c *cmdRun) each(text string, at int, in flow.Flow) (flow.Flow, int, bool) {
	line := text[at:lex.EndOfLine(text, at)]
	mark := strings.IndexByte(line, '%')
	open := strings.IndexByte(line, '(')
	if mark < 0 || open < mark {
		return flow.Flow{}, 0, false
	}
	name := strings.Trim(line[mark:], "%")
	name = strings.ToLower(name[:min(1, len(name))])
	shut := closingBracket(text, at+open+1)
	if shut >= len(text) || name == "" {
		return flow.Flow{}, 0, false
	}
	list := text[at+open+1 : shut]
	body := lex.SkipAny(text, shut+1, " \t\r\n")
	if !strings.EqualFold(lettersAt(text, body), "do") {
		return flow.Flow{}, 0, false
	}
	body = lex.SkipAny(text, body+len("do"), " \t\r\n@")
	items := c.items(strings.ToLower(line[:mark]), list)
	end := len(text)
	if body < len(text) && text[body] != '(' {
		end = lex.EndOfLine(text, body)
	} else if body < len(text) {
		end = min(closingBracket(text, body+1)+1, len(text))
	}
	var out flow.Flow
	c.r.Rounds++
	saved, had := c.loop[name]
	for i, item := range items {
		if i >= fact.MaxItems || c.r.Loops > 1 && i > 0 {
			break
		}
		c.r.Loops++
		c.loop[name] = item
		out = out.Then(c.script(text[min(body, len(text)):end], in))
		c.r.Loops--
	}
	delete(c.loop, name)
	if had {
		c.loop[name] = saved
	}
	c.r.Rounds--
	return out, end, true
}

// items are the values a for goes through.
func (c *cmdRun) items(switches, list string) []flow.Field {
	list = strings.TrimSpace(list)
	unknown := flow.Field{Text: "%item%", Dynamic: true, Lead: true}
	if strings.Contains(switches, "/f") {
		quote := list[:min(1, len(list))]
		if inner := strings.Trim(list, quote+" "); quote == "'" || quote == "`" {
			unknown.Flow = flow.TaintOnly(c.script(inner, flow.Flow{}))
			return []flow.Field{unknown}
		} else if quote == `"` {
			return []flow.Field{flow.Literal(inner)}
		}
		c.simple("type "+list, flow.Flow{}) // it reads the file
		return []flow.Field{unknown}
	}
	words, _ := c.words(list, flow.Streams{})
	if strings.Contains(switches, "/l") || len(words) == 0 {
		return []flow.Field{unknown}
	}
	return words
}
