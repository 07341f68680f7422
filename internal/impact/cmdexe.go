package impact

import "strings"

// A cmdRun reads what cmd.exe would run: variables expanded, carets and quotes resolved, statements split at &, && and ||,
// pipes, blocks, if and for. It runs each command there is once, whatever its condition.
type cmdRun struct {
	r    *winRun
	vars map[string]field
	loop map[string]field // variables of for, by their letter
}

// cmdexe walks a command line or batch file of cmd.exe.
func (r *winRun) cmdexe(text string, in flow) (out flow) {
	s := r.s
	defer r.giveUp("cmd", r.steps, r.ps, r.batch, s.windows, r.src, &out)()
	if reason := s.enter(text); reason != "" {
		s.unknown("cmd", reason)
		return flow{}
	}
	defer s.leave()
	if s.trace != nil {
		s.trace.enter("cmd", text)
		defer s.trace.leave()
	}
	if strings.IndexByte(text, 0) >= 0 {
		s.unknown("cmd", TraitEncoding)
		return flow{}
	}
	windows, src := s.windows, r.src
	s.windows, r.src = true, text
	c := r.batch
	if c == nil {
		c = &cmdRun{r: r, vars: map[string]field{}, loop: map[string]field{}}
	}
	outer := r.batch
	r.batch = c
	out = c.script(text, in)
	r.batch = outer
	s.windows, r.src = windows, src
	if !s.spend(0) {
		s.unknown("cmd", TraitWork)
	}
	return out
}

// script walks statements.
func (c *cmdRun) script(text string, in flow) flow {
	if c.r.steps >= maxSteps {
		c.r.s.unknown("cmd", TraitNested)
		return flow{}
	}
	c.r.steps++
	defer func() { c.r.steps-- }()
	var out flow
	piped := flow{}
	first := true
	for at := 0; at < len(text); {
		at = skipAny(text, at, " \t\r\n;,=@&")
		if at >= len(text) {
			break
		}
		if !c.r.s.spend(1) {
			c.r.s.unknown("cmd", TraitWork)
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
		at = skipAny(text, next, " \t\r")
		first = false
		if at < len(text) && text[at] == '|' && (at+1 >= len(text) || text[at+1] != '|') {
			at++
			one.piped = true
			piped, first = one, false
			continue
		}
		for at < len(text) && (text[at] == '|' || text[at] == ')') {
			at++
		}
		piped = flow{}
		out = out.then(one)
	}
	return out
}

// statement walks one statement and returns where it ends.
func (c *cmdRun) statement(text string, at int, in flow) (flow, int) {
	if text[at] == '(' {
		end := closingBracket(text, at+1)
		out := c.script(text[at+1:end], in)
		rest := end + 1
		stop := c.end(text, min(rest, len(text)))
		words, io := c.words(text[min(rest, len(text)):stop], streams{in: in})
		if len(words) > 0 && strings.EqualFold(words[0].text, "else") {
			inner, next := c.statementAfter(text, skipAny(text, min(rest, len(text)), " \t\r\n")+len("else"), in)
			return out.then(inner), next
		}
		return c.r.deliver(io, out), stop
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
		return flow{}, endOfLine(text, at)
	}
	if text[at] == ':' {
		return flow{}, endOfLine(text, at)
	}
	end := c.end(text, at)
	return c.simple(text[at:end], in), end
}

func (c *cmdRun) statementAfter(text string, at int, in flow) (flow, int) {
	at = skipAny(text, at, " \t\r\n@")
	if at >= len(text) {
		return flow{}, at
	}
	if c.r.steps >= maxSteps {
		return flow{}, len(text)
	}
	c.r.steps++
	defer func() { c.r.steps-- }()
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
		at = skipAny(text, at, " \t")
		start := at
		quoted := false
		for at < len(text) && (quoted || strings.IndexByte(" \t\n(", text[at]) < 0) && !(at > start && !quoted && text[at] == '=') {
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
		rest := skipAny(text, at, " \t")
		if strings.HasPrefix(text[rest:], "==") {
			at = rest
			n--
			if at = rest; start == at {
				return at
			}
			at = skipAny(text, at+2, " \t")
			for at < len(text) && (quoted || strings.IndexByte(" \t\n(", text[at]) < 0) {
				at++
			}
			return at
		}
		switch strings.ToLower(lettersAt(text, rest)) {
		case "equ", "neq", "lss", "leq", "gtr", "geq":
			at = skipAny(text, rest+3, " \t")
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
	at = skipAny(text, at, " \t")
	for at < len(text) && (quoted || strings.IndexByte(" \t\n(", text[at]) < 0) {
		if text[at] == '"' {
			quoted = !quoted
		}
		at++
	}
	return at
}

// each walks for … %i in (…) do …: a command that gives the values, and the body for a few of them.
func (c *cmdRun) each(text string, at int, in flow) (flow, int, bool) {
	line := text[at:endOfLine(text, at)]
	mark := strings.IndexByte(line, '%')
	open := strings.IndexByte(line, '(')
	if mark < 0 || open < mark {
		return flow{}, 0, false
	}
	name := strings.Trim(line[mark:], "%")
	name = strings.ToLower(name[:min(1, len(name))])
	shut := closingBracket(text, at+open+1)
	if shut >= len(text) || name == "" {
		return flow{}, 0, false
	}
	list := text[at+open+1 : shut]
	body := skipAny(text, shut+1, " \t\r\n")
	if !strings.EqualFold(lettersAt(text, body), "do") {
		return flow{}, 0, false
	}
	body = skipAny(text, body+len("do"), " \t\r\n@")
	items := c.items(strings.ToLower(line[:mark]), list)
	end := len(text)
	if body < len(text) && text[body] != '(' {
		end = endOfLine(text, body)
	} else if body < len(text) {
		end = min(closingBracket(text, body+1)+1, len(text))
	}
	var out flow
	c.r.rounds++
	saved, had := c.loop[name]
	for i, item := range items {
		if i >= maxItems || c.r.loops > 1 && i > 0 {
			break
		}
		c.r.loops++
		c.loop[name] = item
		out = out.then(c.script(text[min(body, len(text)):end], in))
		c.r.loops--
	}
	delete(c.loop, name)
	if had {
		c.loop[name] = saved
	}
	c.r.rounds--
	return out, end, true
}

// items are the values a for goes through.
func (c *cmdRun) items(switches, list string) []field {
	list = strings.TrimSpace(list)
	unknown := field{text: "%item%", dynamic: true, lead: true}
	if strings.Contains(switches, "/f") {
		quote := list[:min(1, len(list))]
		if inner := strings.Trim(list, quote+" "); quote == "'" || quote == "`" {
			unknown.flow = taintOnly(c.script(inner, flow{}))
			return []field{unknown}
		} else if quote == `"` {
			return []field{literal(inner)}
		}
		c.simple("type "+list, flow{}) // it reads the file
		return []field{unknown}
	}
	words, _ := c.words(list, streams{})
	if strings.Contains(switches, "/l") || len(words) == 0 {
		return []field{unknown}
	}
	return words
}
