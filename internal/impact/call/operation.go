package call

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// doings are keys whose value says what is to be done where nothing else says it: beside a tool whose name does not, and in a
// list of operations.
var doings = lex.Set([]string{"type", "kind", "mutation", "mutationtype", "changetype", "requesttype", "do", "event"})

// states are keys whose value says what a machine is to become.
var states = lex.Set([]string{"state", "power", "powerstate", "desiredstate", "targetstate", "desiredstatus", "runstate"})

// endings are what states of machines are brought about by.
var endings = map[string]string{"off": "shutdown", "stopped": "shutdown", "halted": "shutdown", "suspended": "stop",
	"rebooting": "reboot", "terminated": "terminate", "destroyed": "destroy", "deleted": "delete", "absent": "delete",
	"removed": "delete", "disabled": "disable"}

// does returns the words that an argument says are to be done, or nothing if it says no such thing.
func (s callRun) does(c *call, know *know.ToolTable, key, text string, listed bool) []string {
	if text == "" || len(text) > 64 || strings.ContainsAny(text, " /") {
		return nil
	}
	words := lex.NameWords(text)
	switch {
	case know.Parts["operation"][key]:
		return switchedOff(words)
	case c.kind == interlock.ImpactRead || len(words) == 0:
		return nil
	case states.Has(key):
		if ending := endings[words[len(words)-1]]; ending != "" && c.speaksOf(know, "infrastructure") {
			return []string{ending}
		}
	case doings.Has(key) && (listed || c.verb == "" || key == "mutation"):
		if words = switchedOff(words); know.Verbs[words[0]] != "" && (len(words) <= 2 || listed) {
			return words
		}
	}
	return nil
}

// switchedOff says in one word what two say of a machine: power off, turn off, power cycle.
func switchedOff(words []string) []string {
	if len(words) == 2 && lex.Has(words[:1], "power", "turn", "switch", "shut") {
		switch words[1] {
		case "off", "down":
			return []string{"shutdown"}
		case "cycle":
			return []string{"reboot"}
		}
	}
	if len(words) == 1 && lex.Has(words, "poweroff", "halt", "powerdown") {
		return []string{"shutdown"}
	}
	return words
}

// lists are keys of lists whose items are operations.
var lists = lex.Set([]string{"operations", "ops", "operation", "actions", "changes", "mutations", "requests", "steps", "batch",
	"commands", "tasks", "writes", "transactions", "transaction", "instructions", "events", "updates", "calls", "items", "list"})

// operations reads a list of operations, each saying what it does, as what the call does. What changes a text
// piece by piece names a place in it (JSON Patch: /a/b), and takes nothing from anybody.
func (s callRun) operations(c *call, know *know.ToolTable, folded map[string]any) {
	if c.kind == interlock.ImpactRead {
		return
	}
	for _, key := range lex.SortedNames(folded) {
		list, isList := folded[key].([]any)
		if !isList || !lists.Has(key) {
			continue
		}
		for n, item := range list {
			object, isObject := item.(map[string]any)
			if !isObject || n >= fact.MaxItems || !s.Spend(1) {
				break
			}
			if one := foldKeys(object); !pointsInto(one) {
				was := c.kind
				s.operationIn(c, know, one, true)
				if c.kind == interlock.ImpactDelete && was != c.kind { // one of many, under a name that says nothing of it
					c.reversibility, c.reach = interlock.Irreversible, interlock.ReachExternal
				}
			}
		}
	}
}

// pointsInto reports whether an operation is on a piece of a document: a path from its root, and nothing a web server would have.
func pointsInto(folded map[string]any) bool {
	path, _ := folded["path"].(string)
	op, _ := folded["op"].(string)
	return strings.HasPrefix(path, "/") && slices.Contains([]string{"add", "remove", "replace", "move", "copy", "test"}, op)
}

// typesInto reports whether a tool's name says that it types into what runs already: a session, a pane, a program's input.
func typesInto(words []string) bool {
	return lex.Has(words, "send", "write", "put", "feed") &&
		lex.Has(words, "input", "inputs", "pane", "session", "line", "prompt")
}
