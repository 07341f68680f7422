package call

import (
	"strings"

	"interlock"
	"interlock/internal/lex"
)

// mutations reads the changes that a request in GraphQL asks for. Each names what it does as a tool's name would, and
// what a service deletes is gone for everybody who uses it. It reports whether the text is such a request.
func (s callRun) mutations(c *call, text string) bool {
	if len(text) > lex.MaxText || !strings.Contains(text, "mutation") || !strings.Contains(text, "{") ||
		!s.Spend(len(text)/256+1) {
		return false
	}
	fields := mutationFields(text)
	for i, field := range fields {
		if i > maxMutations || !s.afford(c) {
			break
		}
		one := s.called(field)
		serious := seriousKinds[one.kind]
		for _, also := range one.also {
			serious = serious || seriousKinds[also]
		}
		if !serious {
			continue
		}
		one.name = c.name + " " + field
		one.reach = interlock.ReachExternal
		if one.kind == interlock.ImpactDelete {
			one.reversibility = interlock.Irreversible
		}
		s.concludeCall(&one)
	}
	return len(fields) > 0
}

// maxMutations is how many changes of one request are read.
const maxMutations = 64

// mutationFields returns the names of the fields that the mutations of a document in GraphQL select, without their aliases.
func mutationFields(text string) (fields []string) {
	depth, round, mutation, begun := 0, 0, false, true // begun: an operation may begin here
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '#':
			for i < len(text) && text[i] != '\n' {
				i++
			}
			continue
		case c == '"':
			i = pastText(text, i)
			continue
		case c == '(':
			round++
		case c == ')':
			round--
		case round > 0:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth <= 0 {
				depth, mutation, begun = 0, false, true
			}
		case lex.IsNameStart(c):
			start := i
			for i < len(text) && (lex.IsNameStart(text[i]) || text[i] >= '0' && text[i] <= '9') {
				i++
			}
			name := text[start:i]
			alias := strings.HasPrefix(strings.TrimLeft(text[i:], " \t\r\n"), ":")
			directive := start > 0 && (text[start-1] == '@' || text[start-1] == '$')
			switch {
			case depth == 0 && begun:
				mutation, begun = name == "mutation", false
			case depth == 1 && mutation && !alias && !directive:
				fields = append(fields, name)
			}
			continue
		}
		i++
	}
	return fields
}

// pastText returns where a text in quotation marks, one or three, ends.
func pastText(text string, i int) int {
	if strings.HasPrefix(text[i:], `"""`) {
		if end := strings.Index(text[i+3:], `"""`); end >= 0 {
			return i + 3 + end + 3
		}
		return len(text)
	}
	for i++; i < len(text) && text[i] != '"' && text[i] != '\n'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}
