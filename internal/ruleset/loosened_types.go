package ruleset

import (
	"bytes"
	"slices"

	"interlock/internal/strictjson"
)

// loosenedTypes names the types that are gone or say anything else about what their agents may do; that are new where there were
// types, because agents of a type that nobody has defined may do nothing; and whether other bounds hold of runs. Who keeps a type, and
// who answers for it, make no difference.
func loosenedTypes(from, to *Ruleset) (out []string, err error) {
	if from.Typed() {
		names := map[string]bool{}
		for _, t := range slices.Concat(from.Types(), to.Types()) {
			if names[t.Name] {
				continue
			}
			names[t.Name] = true
			same, err := sameType(from.types[t.Name], to.types[t.Name])
			if err != nil {
				return out, err
			}
			if !same {
				out = append(out, "type "+t.Name)
			}
		}
		slices.Sort(out)
	}
	if !from.runsSet {
		return out, nil
	}
	was, err := strictjson.Marshal(from.runs)
	if err != nil {
		return out, err
	}
	is, err := strictjson.Marshal(to.runs)
	if !bytes.Equal(was, is) {
		out = append(out, "runs")
	}
	return out, err
}

func sameType(a, b *Type) (bool, error) {
	if a == nil || b == nil {
		return false, nil
	}
	var texts [2][]byte
	for i, t := range []*Type{a, b} {
		only := *t
		only.Owner, only.Accountable, only.Role, only.Models = "", "", "", nil
		only.Limits, only.Caps = nil, Caps{} // which are compared as limits
		text, err := strictjson.Marshal(only)
		if err != nil {
			return false, err
		}
		texts[i] = text
	}
	return bytes.Equal(texts[0], texts[1]), nil
}
