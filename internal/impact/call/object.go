package call

import (
	"encoding/json"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/impact/web"
	"interlock/internal/lex"
)

// encodedObject reads a text that is an object or a list in JSON as that, unless it is what somebody wants to keep or say.
func (s callRun) encodedObject(c *call, key, text string, depth int) bool {
	trimmed := strings.TrimSpace(text)
	if len(trimmed) < 2 || trimmed[0] != '{' && trimmed[0] != '[' || len(trimmed) > fact.MaxInput {
		return false
	}
	if role := s.Know.ToolTable().Arguments[key]; role == "content" && !c.runs || role == "code" || role == "sql" {
		return false
	}
	if deep([]byte(trimmed)) || !s.Spend(len(trimmed)/64) {
		return false
	}
	decoder := json.NewDecoder(strings.NewReader(trimmed))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil || decoder.More() {
		return false
	}
	s.argument(c, key, value, depth+1)
	return true
}

// commandLines reads a list of a tool that runs things: one command in words, or one command line after the other.
func (s callRun) commandLines(c *call, key string, list []any) bool {
	if !c.runs || len(list) == 0 || s.Know.ToolTable().Parts["spoken"][key] {
		return false
	}
	for _, item := range list {
		if _, isText := item.(string); !isText {
			return false
		}
	}
	first := list[0].(string)
	plural := strings.HasSuffix(key, "s") && key != "args" && key != "params" && key != "arguments"
	switch line := lex.CommandLine(list); {
	case strings.ContainsAny(strings.TrimSpace(first), " \n") || plural && !strings.HasPrefix(itemAt(list, 1), "-"):
		lines := false
		for _, item := range list {
			if text, ok := item.(string); ok && s.afford(c) && s.readsAsCommand(text) {
				s.Nested(interlock.KindShell, strings.TrimLeft(strings.TrimRight(text, "\r\n"), " ;|&"))
				lines = true
			}
		}
		return lines
	case line != "" && len(list) > 1 && s.readsAsCommand(first):
		s.Nested(interlock.KindShell, line)
		return true
	}
	return false
}

func itemAt(list []any, n int) string {
	if n >= len(list) {
		return ""
	}
	word, _ := list[n].(string)
	return word
}

// seriousKinds are kinds for which the value of an argument for an operation takes the place of the verb of the name.
var seriousKinds = map[interlock.ImpactKind]bool{interlock.ImpactDelete: true, interlock.ImpactSpend: true,
	interlock.ImpactPrivilege:  true,
	interlock.ImpactCredential: true, interlock.ImpactConfigure: true, interlock.ImpactPersist: true}

// operated reads arguments that say what is to be done, as op or action, as words of the tool's name: a tool called
// manage deletes where it is told to. They can only raise what the name says.
func (s callRun) operated(c *call, folded map[string]any) {
	know := s.Know.ToolTable()
	if len(know.Parts) == 0 {
		return
	}
	s.operationIn(c, know, folded, false)
	s.operations(c, know, folded)
	for _, key := range lex.SortedNames(folded) {
		if inner, ok := folded[key].(map[string]any); ok && know.Parts["callee"][key] {
			inner = foldKeys(inner)
			s.operationIn(c, know, inner, false)
			s.operations(c, know, inner)
		}
	}
}

func (s callRun) operationIn(c *call, know *know.ToolTable, folded map[string]any, listed bool) {
	for _, key := range lex.SortedNames(folded) {
		text := firstText(folded[key])
		words := s.does(c, know, key, text, listed)
		if len(words) == 0 {
			continue
		}
		verb := firstVerb(know, words)
		kind, reversibility := verbKind(verb)
		if isHTTPMethod(text) && (key == "method" || key == "httpmethod" || text == strings.ToUpper(text) && namesRoute(folded)) {
			if strings.EqualFold(text, "DELETE") {
				s.requested(c, folded)
			}
			continue
		}
		c.acts = append(c.acts, words...)
		if verb == "" || !seriousKinds[kind] || seriousKinds[c.kind] || verb == "credential" && !aboutSecrets(know, words) {
			continue
		}
		c.verb, c.kind, c.reversibility = verb, kind, reversibility
		if kind == interlock.ImpactSpend {
			c.reach = interlock.ReachExternal
		}
		whole := call{name: c.name, words: slices.Concat(words, c.words, thingNamed(folded)), verb: verb, kind: kind,
			reversibility: reversibility, reach: c.reach}
		s.subjects(&whole, know)
		whole.paired()
		s.patterns(&whole, know)
		if whole.reach != interlock.ReachWorkspace {
			c.reach = whole.reach
		}
		c.reversibility, c.kind, c.traits = whole.reversibility, whole.kind, append(c.traits, whole.traits...)
		c.also = append(c.also, whole.also...)
		if kind == interlock.ImpactDelete {
			s.everyOne(c, know, words, folded)
		}
	}
}

// thingNamed returns the word of an argument that says what sort of thing is meant, as the name of another tool would say.
func thingNamed(folded map[string]any) []string {
	text, _ := textAt(folded, []string{"resource", "resourcetype", "type", "kind", "entity", "entitytype",
		"object", "objecttype"})
	if len(text) > 32 || strings.ContainsAny(text, " /.") {
		return nil
	}
	return lex.NameWords(text)
}

// firstText returns a text, or the only one of a list.
func firstText(value any) string {
	if list, isList := value.([]any); isList && len(list) == 1 {
		value = list[0]
	}
	text, _ := value.(string)
	return text
}

// namesRoute reports whether arguments name where a request goes, so that a method among them is one of HTTP.
func namesRoute(folded map[string]any) bool {
	_, named := textAt(folded, []string{"path", "route", "endpoint", "resource", "uri", "url"})
	return named
}

// everyOne notes that an operation is done to all there is: its name says so, or it is told to do it to many and to no some.
func (s callRun) everyOne(c *call, know *know.ToolTable, words []string, folded map[string]any) {
	every := lex.Has(words, "all", "drop", "truncate", "wipe", "purge", "everything", "flush", "destroy", "erase")
	if lex.Has(words, "many", "bulk", "multiple") {
		every = true
		for key, value := range folded {
			if know.Parts["criteria"][key] && !emptyValue(value) {
				every = false
			}
		}
	}
	if every {
		c.reversibility, c.traits = interlock.Irreversible, append(c.traits, fact.TraitBulk)
	}
}

func emptyValue(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == "" || v == "*"
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

func isHTTPMethod(text string) bool {
	switch strings.ToUpper(text) {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return true
	}
	return false
}

// requested raises a call that hands a DELETE on to a service: what goes there is gone for everybody who uses it.
func (s callRun) requested(c *call, folded map[string]any) {
	path, ok := textAt(folded, []string{"path", "route", "endpoint", "resource", "uri"})
	if !ok || !strings.HasPrefix(path, "/") || len(gather(folded, []string{"url"})) > 0 {
		return
	}
	i := interlock.Impact{Kind: interlock.ImpactDelete, Target: path, Reach: interlock.ReachExternal, Via: c.name,
		Reversibility: interlock.Irreversible, Confidence: interlock.Inferred}
	web.ServiceAPI(&s.World, &i, "DELETE", "https://service"+path, "")
	s.Add(i)
}
