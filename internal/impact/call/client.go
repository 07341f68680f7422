package call

import (
	"encoding/json"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/lex"
)

// A tool that is named after a program's trade and handed its orders in arguments (a command of Redis, an operation
// on a collection, the mounts of a container, the address to push to) does what the program would do. What is put
// together here is the command line of that program, so that what is known of it judges the call. clientCalls returns
// the arguments that are read with that.
func (s callRun) clientCalls(c *call, object map[string]any) (taken map[string]bool) {
	names := lex.NameWords(c.name)
	switch {
	case lex.Has(names, "redis", "valkey", "keydb", "dragonfly"):
		return s.redis(c, object)
	case lex.Has(names, "mongo", "mongodb", "mongosh", "documentdb", "atlas"), collectionNamed(object):
		return s.mongo(c, names, object)
	}
	if c.kind == interlock.ImpactRead {
		return nil
	}
	if lex.Has(names, "git") && lex.Has(names, "config") {
		s.configured(object)
	}
	if lex.Has(names, "docker", "podman", "nerdctl", "container", "containers", "pod", "pods") {
		s.container(object)
	}
	if lex.Has(c.words, "push") || lex.Has(names, "git") && lex.Has(c.words, "remote", "clone", "fetch", "pull") {
		s.pushed(c, object)
	}
	return nil
}

// configured reads a setting of git that a call gives a value.
func (s callRun) configured(object map[string]any) {
	folded := foldKeys(object)
	key, _ := textAt(folded, []string{"key", "name", "setting", "option", "configkey"})
	value, _ := textAt(folded, []string{"value", "val", "configvalue", "newvalue"})
	if key != "" && value != "" && len(key)+len(value) < lex.MaxText {
		s.clientRun("git config " + lex.ShellQuote(key) + " " + lex.ShellQuote(value))
	}
}

// clientRun judges a command line that a tool amounts to.
func (s callRun) clientRun(line string) { s.Nested(interlock.KindShell, line) }

// commandKeys are what a client's command is called in arguments, and what follows it.
var (
	commandKeys = []string{"command", "cmd", "commandname", "operation", "op", "query", "statement", "script", "argv"}
	operandKeys = []string{"args", "arguments", "argv", "params", "parameters", "argument"}
)

// redis reads a command of Redis, with its words in one text, in a list, or in two arguments.
func (s callRun) redis(c *call, object map[string]any) map[string]bool {
	taken, line := map[string]bool{}, ""
	for _, keys := range [][]string{commandKeys, operandKeys} {
		for _, name := range lex.SortedNames(object) {
			if taken[name] || !lex.Has([]string{lex.Fold(name)}, keys...) {
				continue
			}
			words := operandText(object[name])
			if _, isObject := object[name].(map[string]any); isObject || words == "" {
				continue
			}
			line += " " + words
			taken[name] = true
		}
	}
	if line == "" || strings.ContainsAny(line, "\n`") {
		return nil
	}
	if strings.ContainsAny(line, ";|&$<>") && !strings.Contains(line, "'") {
		line = " " + lex.ShellQuote(strings.TrimSpace(line)) // of no shell
	}
	s.clientRun("redis-cli" + line)
	return taken
}

// collectionNamed reports whether a call names a collection, as tools of document stores do, whatever they are called, or a database
// and a command that is an object.
func collectionNamed(object map[string]any) bool {
	folded := foldKeys(object)
	_, named := textAt(folded, []string{"collection", "collectionname"})
	_, database := textAt(folded, []string{"db", "database", "dbname"})
	_, command := folded["command"].(map[string]any)
	return named || database && command
}

// mongo reads what a tool does to a document store: code for its shell, a command as an object, or an operation that its name or an
// argument gives, on what a filter leaves over.
func (s callRun) mongo(c *call, names []string, object map[string]any) map[string]bool {
	taken, folded := map[string]bool{}, foldKeys(object)
	for _, name := range lex.SortedNames(object) {
		switch key := lex.Fold(name); value := object[name].(type) {
		case string:
			if lex.Has([]string{key}, "code", "script", "command", "cmd", "eval", "expression", "query", "js") &&
				strings.Contains(value, "db.") {
				s.clientRun("mongosh --eval " + lex.ShellQuote(value))
				taken[name] = true
			}
		case map[string]any:
			if key == "command" || key == "cmd" || key == "runcommand" || key == "document" || key == "body" {
				s.documentCommand(c, value)
			}
		case []any:
			if key == "pipeline" || key == "stages" {
				s.pipeline(c, value)
			}
		}
	}
	words := append(append([]string(nil), c.words...), c.acts...)
	operation := strings.Join(words, "")
	every := emptyFilter(folded)
	switch {
	// what it does is said already
	case c.kind == interlock.ImpactRead && len(c.acts) == 0, fact.HasTrait(c.traits, fact.TraitBulk):
	case strings.Contains(operation, "dropdatabase"), strings.Contains(operation, "dropcollection"),
		lex.Has(words, "drop") && !strings.Contains(operation, "index"):
		s.emptied(c, "drop")
	case lex.Has(words, "delete", "remove") && every && !lex.Has(words, "one", "index", "field"):
		s.emptied(c, "deleteMany")
	case lex.Has(words, "update", "replace") && lex.Has(words, "many", "all") && every:
		s.emptied(c, "updateMany")
	}
	return taken
}

// emptyFilter reports whether a call that works on some of a collection says no more about which ones than that all are meant.
func emptyFilter(folded map[string]any) bool {
	for _, key := range []string{"filter", "query", "q", "where", "criteria", "selector", "match", "condition",
		"conditions", "id",
		"ids", "documentid", "_id"} {
		value := folded[key]
		if text, isText := value.(string); isText && strings.HasPrefix(strings.TrimSpace(text), "{") {
			var inner map[string]any
			if json.Unmarshal([]byte(text), &inner) == nil {
				value = inner
			}
		}
		if !emptyValue(value) {
			return false
		}
	}
	return true
}

// emptied records that all of a collection or a database goes or becomes something else.
func (s callRun) emptied(c *call, operation string) {
	i := interlock.Impact{Kind: interlock.ImpactDelete, Target: "database", Reach: interlock.ReachWorkspace,
		Via: c.name + " " + operation, Reversibility: interlock.Irreversible,
		Traits: []string{fact.TraitDatabase, fact.TraitBulk}}
	s.Add(i)
}

// documentCommand reads a command of a document store as it goes over the wire: an object whose first member says what is done.
func (s callRun) documentCommand(c *call, command map[string]any) {
	for _, name := range lex.SortedNames(command) {
		switch lex.Fold(name) {
		case "dropdatabase", "drop", "dropallusersfromdatabase", "dropallrolesfromdatabase", "shutdown", "dropuser":
			s.emptied(c, name)
		case "deletes", "updates":
			list, _ := command[name].([]any)
			for _, item := range list {
				one, _ := item.(map[string]any)
				folded := foldKeys(one)
				limit, limited := folded["limit"].(json.Number)
				multi, _ := folded["multi"].(bool)
				if emptyFilter(folded) && (multi || limited && limit.String() == "0") {
					s.emptied(c, name)
				}
			}
		}
	}
}

// pipeline reads the stages of an aggregation for one that puts its result in the place of a collection.
func (s callRun) pipeline(c *call, stages []any) {
	for _, stage := range stages {
		if one, isObject := stage.(map[string]any); isObject && one["$out"] != nil {
			s.emptied(c, "$out")
		}
	}
}

// pushed reads the address that a repository is pushed to or that becomes one of its remotes.
func (s callRun) pushed(c *call, object map[string]any) {
	folded := foldKeys(object)
	for _, key := range []string{"remote", "repository", "repo", "remoteurl", "url", "to", "destination", "target", "uri",
		"pushurl", "upstream"} {
		text, _ := folded[key].(string)
		if text == "" || !isRepositoryAddress(text) || !s.afford(c) {
			continue
		}
		switch {
		case lex.Has(c.words, "push"):
			s.clientRun("git push " + lex.ShellQuote(text))
		case lex.Has(c.words, "remote"):
			s.clientRun("git remote add other " + lex.ShellQuote(text))
		case strings.Contains(text, "::"):
			s.clientRun("git clone " + lex.ShellQuote(text))
		}
	}
}

// isRepositoryAddress reports whether a text is an address of a repository and no name of a remote.
func isRepositoryAddress(text string) bool {
	if strings.Contains(text, "::") {
		return true // a helper that git runs
	}
	if strings.ContainsAny(text, " \n") || strings.HasPrefix(text, "-") {
		return false
	}
	host, rest, scp := strings.Cut(text, ":")
	return strings.Contains(text, "://") || scp && rest != "" && !strings.Contains(host, "/")
}
