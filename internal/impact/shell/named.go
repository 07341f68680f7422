package shell

import "strings"

// printers are words by which languages print what follows.
var printers = []string{"puts", "print", "printf", "println", "echo", "say", "p", "write", "IO.puts", "console.log"}

// environments are what comes before the name of a variable of the environment, in the languages that are not read whole.
var environments = []string{"ENV[", "ENV.fetch(", "$ENV{", "%ENV{", "getenv(", "$_ENV[", "$_SERVER[", "ENVIRON[",
	"System.get_env(", "Sys.getenv(", "env(", "process.env.", "process.env["}

// printedNamed is the variable, named as a secret, whose value a program in one of many languages prints as it is: the printing
// word, perhaps a text, and the variable, with nothing around it that takes a part of it.
func (r *shellRun) printedNamed(text string) string {
	for _, sign := range environments {
		for rest, from := text, 0; r.S.Spend(1 + len(rest)/64); {
			at := strings.Index(rest, sign)
			if at < 0 {
				break
			}
			name, after := variableAt(rest[at+len(sign):])
			if name != "" && shownWhole(after) && printsBefore(text[:from+at]) {
				if named := r.secretName(name); named != "" {
					return named
				}
			}
			rest, from = rest[at+len(sign):], from+at+len(sign)
		}
	}
	return ""
}

// printsOf is the variable, named as a secret, that is all of an expression whose value is printed.
func (r *shellRun) printsOf(text string) string {
	text = strings.TrimRight(strings.TrimSpace(text), "; ")
	for _, sign := range [...]string{"process.env.", "process.env["} {
		if rest, is := strings.CutPrefix(text, sign); is {
			if name, after := variableAt(rest); after == "" {
				return r.secretName(name)
			}
		}
	}
	return ""
}

// variableAt is the name that is at the beginning, in quotes or without, and what follows behind its bracket.
func variableAt(text string) (name, after string) {
	text = strings.TrimLeft(text, `"'`)
	end := 0
	for end < len(text) && end < 128 && (isCallName(text[end])) {
		end++
	}
	name, after = text[:end], strings.TrimLeft(text[end:], `"'`)
	if after != "" && strings.IndexByte("])}", after[0]) >= 0 {
		after = after[1:]
	}
	return name, strings.TrimLeft(after, " ")
}

// shownWhole reports whether nothing takes a part of a value or asks about it, as far as what follows says.
func shownWhole(after string) bool {
	return after == "" || strings.IndexByte(";)}\n\",+", after[0]) >= 0 || after[0] == '.' && len(after) > 1 &&
		strings.IndexByte(" \"'", after[1]) >= 0
}

// printsBefore reports whether a statement begins with a word that prints, and nothing but texts follows it.
func printsBefore(before string) bool {
	before = before[max(0, len(before)-120):]
	if at := strings.LastIndexAny(before, ";{}\n"); at >= 0 && !strings.HasSuffix(before, "#{") && !strings.HasSuffix(before, "${") {
		before = before[at+1:]
	}
	before = strings.TrimSpace(before)
	for _, word := range printers {
		rest, is := strings.CutPrefix(before, word)
		if !is && strings.HasSuffix(before, "."+word+"(") { // io.write(
			return true
		}
		if !is || rest != "" && isCallName(rest[0]) {
			continue
		}
		return onlyTexts(strings.TrimSuffix(rest, "os."))
	}
	return false
}

// onlyTexts reports whether nothing but texts is there, and what joins them: no function or operator around what follows.
func onlyTexts(code string) bool {
	quote := byte(0)
	for i := 0; i < len(code); i++ {
		c := code[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case isCallName(c) || strings.IndexByte("#!?=", c) >= 0:
			return false
		}
	}
	return true
}
