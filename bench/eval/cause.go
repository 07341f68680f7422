package main

import (
	"encoding/json"
	"path"
	"sort"
	"strings"

	"interlock"
)

// A cause is what a decision came from, in a few fixed words: cases with one cause are mended together.
type cause struct {
	Rule       string `json:"rule"`       // the decisive rule; "no impact" or "no objection" where nothing stopped the action
	Kind       string `json:"kind"`       // of the impact the rule points at, else of the gravest one
	Reach      string `json:"reach"`      // likewise
	Confidence string `json:"confidence"` // likewise
	Class      string `json:"class"`      // the table that describes the first command, "undescribed", or the kind of action
}

func causeOf(d interlock.Decision, action interlock.Action, known map[string]string) cause {
	c := cause{Rule: "no objection", Kind: "-", Reach: "-", Confidence: "-", Class: class(action, known)}
	f := d.Decisive()
	switch {
	case f != nil:
		c.Rule = f.Rule
	case len(d.Impacts) == 0:
		c.Rule = "no impact"
	}
	worst := gravest(d.Impacts)
	if f != nil && len(f.Impacts) > 0 && f.Impacts[0] < len(d.Impacts) {
		worst = &d.Impacts[f.Impacts[0]]
	}
	if worst != nil {
		c.Kind, c.Reach, c.Confidence = string(worst.Kind), string(worst.Reach), string(worst.Confidence)
	}
	return c
}

// gravest is the impact that is hardest to undo, and of equal ones the one that reaches furthest.
func gravest(impacts []interlock.Impact) *interlock.Impact {
	var worst *interlock.Impact
	rank := func(i *interlock.Impact) int {
		return 10*place(interlock.Reversibilities(), i.Reversibility) + place(interlock.Reaches(), i.Reach)
	}
	for n := range impacts {
		if worst == nil || rank(&impacts[n]) > rank(worst) {
			worst = &impacts[n]
		}
	}
	return worst
}

func place[T comparable](list []T, value T) int {
	for n, v := range list {
		if v == value {
			return n
		}
	}
	return len(list)
}

// class names the table of knowledge that describes the first command of a shell action; of other actions it is their kind.
func class(action interlock.Action, known map[string]string) string {
	if action.Kind != interlock.KindShell {
		return string(action.Kind)
	}
	word := firstCommand(action.Input)
	if table, ok := known[word]; ok {
		return table
	}
	if strings.ContainsAny(word, "$`(){}\"'") || word == "" {
		return "syntax"
	}
	return "undescribed"
}

// firstCommand is the name of the first command of a script as it is written, past what runs another command. It need not be
// exact: it only sorts cases.
func firstCommand(script string) string {
	skip := false
	for _, word := range strings.Fields(script) {
		name, _, assignment := strings.Cut(word, "=")
		switch {
		case skip:
			skip = false
		case assignment && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == "",
			strings.HasPrefix(word, "-"):
		case word == "sudo" || word == "env" || word == "nohup" || word == "time" || word == "if" || word == "then" ||
			word == "!" || word == "{" || word == "(" || word == "do" || word == "while":
		case strings.HasPrefix(word, "#"):
			return ""
		default:
			return strings.ToLower(strings.TrimRight(path.Base(strings.ReplaceAll(word, "\\", "/")), ";&|"))
		}
	}
	return ""
}

// commandTables says in which table of the default knowledge each command is.
func commandTables(documents map[string][]byte) map[string]string {
	tables := map[string]string{}
	names := make([]string, 0, len(documents))
	for name := range documents {
		if path.Dir(name) == "commands" {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		var table struct {
			Commands map[string]json.RawMessage `json:"commands"`
		}
		if json.Unmarshal(documents[name], &table) != nil {
			continue // no table
		}
		for commands := range table.Commands { // any order: a command is in one place
			for _, command := range strings.Split(commands, "|") {
				tables[strings.ToLower(command)] = strings.TrimSuffix(path.Base(name), ".yaml")
			}
		}
	}
	return tables
}
