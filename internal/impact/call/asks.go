package call

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/inject"
	"interlock/internal/lex"
)

// elicits begins what follows the server's name where a server has its client's user fill in a form.
const elicits = ".elicitation/show-form"

// elicited records that a form asks for what nobody types into one: the client that shows it hands the answer to the server.
// Passwords and the like belong on a page of the server's own (MCP, elicitation).
func (s callRun) elicited(name string, object map[string]any) {
	server, rest, found := strings.Cut(name, ".")
	if !found || "."+rest != elicits {
		return
	}
	if !s.asksForSecret(object, 0) {
		return
	}
	s.Add(interlock.Impact{Kind: interlock.ImpactCredential, Target: server, Reach: interlock.ReachExternal, Via: name,
		Reversibility: interlock.Irreversible, Confidence: interlock.Inferred, Traits: []string{fact.TraitSecret}})
}

// asksForSecret reports whether any text of a form, or the name of one of its fields, speaks of a secret.
func (s callRun) asksForSecret(value any, depth int) bool {
	if !s.Spend(1) || depth > fact.MaxNesting {
		return true
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range lex.SortedNames(v) {
			if inject.SpeaksOfSecret(name) || s.asksForSecret(v[name], depth+1) {
				return true
			}
		}
	case []any:
		for _, item := range v {
			if s.asksForSecret(item, depth+1) {
				return true
			}
		}
	case string:
		return slices.ContainsFunc(strings.FieldsFunc(v, endsClause),
			func(clause string) bool { return inject.SpeaksOfSecret(clause) && !warns(clause) })
	}
	return false
}

func endsClause(r rune) bool { return strings.ContainsRune(".!?;:()[]|–—\n", r) }

// givingWords ask for something, or tell not to give it.
var givingWords = []string{"give", "enter", "type", "share", "send", "tell", "provide", "submit", "include",
	"use", "put", "write"}

// goingOnWords in a warning say that it may ask for something after all.
var goingOnWords = []string{"but", "and", "except", "only", "unless", "until", "without", "instead", "just", "then", "so",
	"forget", "please", "required",
	"needed", "need", "must", "here", "below", "now", "confirm", "fill", "paste", "reply"}

// warns reports whether a clause tells its reader not to give something away, and says nothing else: "do not give us your
// password". One that goes on may ask for it after all.
func warns(clause string) bool {
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(clause, "’", "'")))
	if len(words) > 0 && words[0] == "please" {
		words = words[1:]
	}
	switch {
	case len(words) > 2 && words[0] == "do" && words[1] == "not":
		words = words[2:]
	case len(words) > 1 && (words[0] == "don't" || words[0] == "never"):
		words = words[1:]
	default:
		return false
	}
	return slices.Contains(givingWords, words[0]) && !slices.ContainsFunc(words[1:], func(word string) bool {
		word = strings.Trim(word, `,"'`)
		return slices.Contains(givingWords, word) || slices.Contains(goingOnWords, word)
	})
}
