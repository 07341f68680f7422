package know

import (
	"strconv"
	"strings"
	"sync"

	"interlock"
	"interlock/internal/lex"
	"interlock/internal/strictjson"
)

// A CallEffect is what one library call does, from rules/code.yaml.
type CallEffect struct {
	Kind    interlock.ImpactKind
	What    string // path, url, host, shell, sql, code, maybe-code, copy, request, none
	Method  string // of a request
	Arg     int
	Reach   interlock.Reach
	Traits  []string
	Needs   []string // modules: one of them must be imported
	Copying bool
}

// lazyCalls is the table of library calls, decoded when a program is first analysed.
type lazyCalls struct {
	raw  []byte
	once sync.Once
	done map[string]map[string]CallEffect // by language and qualified name
	err  error
}

// Calls returns the table of one language. Without a table every call is one that nothing is known of.
func (k *Knowledge) Calls(language string) map[string]CallEffect {
	if k == nil || k.code == nil {
		return nil
	}
	k.code.once.Do(func() {
		if k.code.raw == nil {
			return
		}
		var described map[string]map[string]string
		if k.code.err = strictjson.Decode(k.code.raw, &described); k.code.err == nil {
			k.code.done, k.code.err = parseCalls(described)
		}
	})
	return k.code.done[language]
}

func parseCalls(described map[string]map[string]string) (map[string]map[string]CallEffect, error) {
	out := make(map[string]map[string]CallEffect, len(described))
	for _, language := range lex.SortedNames(described) {
		table := make(map[string]CallEffect, len(described[language]))
		for _, name := range lex.SortedNames(described[language]) {
			effect, err := parseCallEffect(described[language][name])
			if err != nil {
				return nil, interlock.Errorf(interlock.CodeInvalid, "/"+language+"/"+name, "%v", err)
			}
			table[name] = effect
		}
		out[language] = table
	}
	return out, nil
}

func parseCallEffect(text string) (CallEffect, error) {
	fields := strings.Fields(text)
	var e CallEffect
	if len(fields) < 2 {
		return e, interlock.Errorf(interlock.CodeInvalid, "", "%q needs a kind and what it is done to", text)
	}
	switch fields[0] {
	case "copy":
		e.Kind, e.Copying = interlock.ImpactWrite, true
	case "request":
		e.Kind, e.What, e.Method = interlock.ImpactNetwork, "request", fields[1]
	default:
		if !knownKind(fields[0]) {
			return e, interlock.Errorf(interlock.CodeInvalid, "", "%q is no kind of impact", fields[0])
		}
		e.Kind = interlock.ImpactKind(fields[0])
	}
	if e.What == "" {
		e.What = fields[1]
		switch e.What {
		case "path", "url", "host", "shell", "sql", "code", "maybe-code", "none":
		default:
			return e, interlock.Errorf(interlock.CodeInvalid, "", "%q is no target", e.What)
		}
	}
	for _, field := range fields[2:] {
		if n, err := strconv.Atoi(field); err == nil {
			e.Arg = n
			continue
		}
		if strings.HasPrefix(field, "[") {
			e.Needs = strings.Split(strings.Trim(field, "[]"), "|")
			continue
		}
		if reach := interlock.Reach(field); knownReach(reach) {
			e.Reach = reach
			continue
		}
		e.Traits = append(e.Traits, field)
	}
	return e, nil
}

func knownReach(reach interlock.Reach) bool {
	for _, r := range interlock.Reaches() {
		if r == reach {
			return true
		}
	}
	return false
}
