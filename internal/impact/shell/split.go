package shell

import (
	"strings"

	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
)

// maxSplits bounds how often a text of arguments is taken apart in another's place. Nobody can say what is beyond it.
const maxSplits = 64

// splitOperand returns the arguments that stand in the last flag's place if its value is a text of them: options, variables and a
// command line. It returns nil where the value is none.
func splitOperand(u *flow.Use) []flow.Field {
	if len(u.Flags) == 0 {
		return nil
	}
	last := u.Flags[len(u.Flags)-1]
	if !last.Option.Split || strings.TrimSpace(last.Value.Text) == "" {
		return nil
	}
	words, ok := splitString(last.Value.Text)
	if !ok { // it is refused by who reads it, as far as we know
		words = strings.Fields(last.Value.Text)
	}
	if len(words) == 0 {
		return nil
	}
	fields := flow.Literals(words)
	fields[0].Glob = know.IsGlob(fields[0].Text)
	for i := range fields {
		fields[i].Dynamic = last.Value.Dynamic
	}
	return fields
}

// splitString takes a text apart as env -S does: by blanks, with quotes and its own escapes, up to a comment. It reports false
// where env would refuse the text. Variables stay as they are written.
func splitString(text string) (words []string, ok bool) {
	var word []byte
	begun, quote := false, byte(0)
	end := func() {
		if begun {
			words, word, begun = append(words, string(word)), nil, false
		}
	}
	for i := 0; i < len(text); i++ {
		b := text[i]
		switch {
		case quote == 0 && strings.IndexByte(" \t\n\v\f\r", b) >= 0:
			end()
		case quote == 0 && b == '#' && !begun:
			return words, true
		case quote == 0 && (b == '\'' || b == '"'), quote == b:
			quote, begun = quote^b, true
		case b == '\\' && quote == '\'' && (i+1 == len(text) || text[i+1] != '\'' && text[i+1] != '\\'):
			word, begun = append(word, b), true
		case b == '\\':
			if i++; i == len(text) {
				return nil, false
			}
			switch escaped := strings.IndexByte(`fnrtv`, text[i]); {
			case text[i] == '_' && quote == 0:
				end()
			case text[i] == '_':
				word = append(word, ' ')
			case text[i] == 'c':
				end()
				return words, quote == 0
			case escaped >= 0:
				word, begun = append(word, "\f\n\r\t\v"[escaped]), true
			case strings.IndexByte(`"#$'\`, text[i]) >= 0:
				word, begun = append(word, text[i]), true
			default:
				return nil, false
			}
		default:
			word, begun = append(word, b), true
		}
	}
	end()
	return words, quote == 0
}
