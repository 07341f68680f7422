package impact

import (
	"strconv"
	"strings"
	"sync"

	"interlock"
	"interlock/internal/strictjson"
)

// A callEffect is what one library call does, from rules/code.yaml.
type callEffect struct {
	kind    interlock.ImpactKind
	what    string // path, url, host, shell, sql, code, maybe-code, copy, request, none
	method  string // of a request
	arg     int
	reach   interlock.Reach
	traits  []string
	needs   []string // modules of which one must be imported
	copying bool
}

// lazyCalls is the table of library calls, decoded when a program is first analysed.
type lazyCalls struct {
	raw  []byte
	once sync.Once
	done map[string]map[string]callEffect // by language and qualified name
	err  error
}

// calls returns the table of one language. Without a table every call is one that nothing is known of.
func (k *Knowledge) calls(language string) map[string]callEffect {
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

func parseCalls(described map[string]map[string]string) (map[string]map[string]callEffect, error) {
	out := make(map[string]map[string]callEffect, len(described))
	for _, language := range sortedNames(described) {
		table := make(map[string]callEffect, len(described[language]))
		for _, name := range sortedNames(described[language]) {
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

func parseCallEffect(text string) (callEffect, error) {
	fields := strings.Fields(text)
	var e callEffect
	if len(fields) < 2 {
		return e, interlock.Errorf(interlock.CodeInvalid, "", "%q needs a kind and what it is done to", text)
	}
	switch fields[0] {
	case "copy":
		e.kind, e.copying = interlock.ImpactWrite, true
	case "request":
		e.kind, e.what, e.method = interlock.ImpactNetwork, "request", fields[1]
	default:
		if !knownKind(fields[0]) {
			return e, interlock.Errorf(interlock.CodeInvalid, "", "%q is no kind of impact", fields[0])
		}
		e.kind = interlock.ImpactKind(fields[0])
	}
	if e.what == "" {
		e.what = fields[1]
		switch e.what {
		case "path", "url", "host", "shell", "sql", "code", "maybe-code", "none":
		default:
			return e, interlock.Errorf(interlock.CodeInvalid, "", "%q is no target", e.what)
		}
	}
	for _, field := range fields[2:] {
		if n, err := strconv.Atoi(field); err == nil {
			e.arg = n
			continue
		}
		if strings.HasPrefix(field, "[") {
			e.needs = strings.Split(strings.Trim(field, "[]"), "|")
			continue
		}
		if reach := interlock.Reach(field); knownReach(reach) {
			e.reach = reach
			continue
		}
		e.traits = append(e.traits, field)
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
