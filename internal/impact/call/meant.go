package call

import (
	"strings"

	"interlock"
	"interlock/internal/impact/place"
	"interlock/internal/impact/shell"
	"interlock/internal/lex"
)

// meant reads what a call does that shows in its name and arguments together: the variables it sets, the processes it ends, the
// requests it answers.
func (s callRun) meant(c *call, object map[string]any) {
	if c.kind == interlock.ImpactRead {
		return
	}
	if setsVariables(c.words) {
		s.variablesSet(c, object)
	}
	if lex.Has(c.words, endingWords...) || lex.Has(c.acts, endingWords...) {
		s.endsOwn(c, object)
	}
	s.answersRequest(c, object)
}

// endingWords in a tool's name or in what it is told to do end a process or keep it from working.
var endingWords = []string{"kill", "pkill", "killall", "taskkill", "terminate", "stop", "suspend", "signal", "end",
	"halt", "shutdown",
	"disable", "pause", "freeze", "restart", "quit", "abort"}

// setsVariables reports whether a name is that of a tool that sets variables of the environment. One for variables as
// such counts, too: what no program obeys is harmless under any name.
func setsVariables(words []string) bool {
	for i, word := range words {
		switch word {
		case "setenv", "putenv", "setx", "env", "envs", "environ", "environment", "envvar", "envvars":
			return true
		case "variable", "variables", "var", "vars":
			return i > 0
		}
	}
	return false
}

// variablesSet judges every variable that the arguments set, however they say so: a name and a value, NAME=value, an
// object from names to values, or a list of any of these.
func (s callRun) variablesSet(c *call, object map[string]any) {
	folded := foldKeys(object)
	name, named := textAt(folded, []string{"name", "key", "variable", "var", "varname", "envname", "variablename",
		"envkey", "envvar"})
	value, _ := textAt(folded, []string{"value", "val", "envvalue", "to", "newvalue", "content"})
	if named {
		s.exported(name + "=" + value)
	}
	for _, key := range lex.SortedNames(object) {
		if !s.afford(c) {
			return
		}
		switch v := object[key].(type) {
		case string:
			if shell.IsName(key) && key == strings.ToUpper(key) {
				s.exported(key + "=" + v)
			} else if v != value {
				s.exported(v)
			}
		case map[string]any:
			if !holdsEnvironment(lex.Fold(key)) { // those are read as they stand
				s.variablesSet(c, v)
			}
		case []any:
			for i, item := range v {
				if i >= shell.MaxBraces || holdsEnvironment(lex.Fold(key)) {
					break
				}
				switch one := item.(type) {
				case string:
					s.exported(one)
				case map[string]any:
					s.variablesSet(c, one)
				}
			}
		}
	}
}

// endsOwn reads the names of processes and services that a call ends, for Interlock's own.
func (s callRun) endsOwn(c *call, object map[string]any) {
	for _, text := range textsBelow(object, 0) {
		name := strings.ToLower(strings.TrimSpace(text))
		for _, ending := range [...]string{".exe", ".service"} {
			name = strings.TrimSuffix(name, ending)
		}
		if name = name[strings.LastIndexAny(name, "/\\")+1:]; place.OwnProgram("/bin/" + name) {
			s.clientRun("pkill " + lex.ShellQuote(name))
			return
		}
	}
}

// asksHow is the operation of Interlock's own door by which an agent asks what has become of a request of its own.
const asksHow = "confirm_operation"

// answersRequest reads a call that is handed the number of a request that waits for a person, and changes something:
// whatever the tool is called, an agent has no business with it but to look, to tell somebody and to write it down,
// and to ask Interlock's own door what has become of it.
func (s callRun) answersRequest(c *call, object map[string]any) {
	operation, _ := foldKeys(object)["operation"].(string)
	if c.kind == interlock.ImpactMessage || c.verb == "create" || operation == asksHow ||
		strings.Join(c.words, "_") == asksHow {
		return
	}
	for _, text := range textsBelow(object, 0) {
		if isRequestNumber(text) {
			s.clientRun("interlock approve " + text)
			return
		}
	}
}

// isRequestNumber reports whether a text is what a request of Interlock is called, and nothing else.
func isRequestNumber(text string) bool {
	number, ok := strings.CutPrefix(text, "apr_")
	return ok && len(number) >= 12 && len(number) <= 40 && strings.Trim(number, "0123456789abcdef") == ""
}

// textsBelow returns the texts of an object, those in objects and lists in it among them, as far down as arguments go.
func textsBelow(value any, depth int) (texts []string) {
	if depth > 4 {
		return nil
	}
	switch v := value.(type) {
	case string:
		if len(v) <= 128 {
			texts = []string{v}
		}
	case []any:
		for _, item := range v {
			texts = append(texts, textsBelow(item, depth+1)...)
		}
	case map[string]any:
		for _, name := range lex.SortedNames(v) {
			texts = append(texts, textsBelow(v[name], depth+1)...)
		}
	}
	return texts
}
