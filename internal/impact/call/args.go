package call

import (
	"bytes"
	"encoding/json"

	"interlock/internal/impact/fact"
	"interlock/internal/lex"
	"interlock/internal/strictjson"
)

// arguments decodes a call's arguments, or records why they can't be: not an object, over a bound.
func (s callRun) arguments(tool string, raw json.RawMessage) (map[string]any, bool) {
	if len(raw) > fact.MaxInput {
		s.Unknown(tool, fact.TraitOversize)
		return nil, false
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return map[string]any{}, true
	}
	if deep(raw) {
		s.Unknown(tool, fact.TraitNested)
		return nil, false
	}
	if value, ok := strictjson.Tree(raw, asWritten); ok {
		if object, isObject := value.(map[string]any); isObject {
			return object, true
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil || object == nil {
		s.Unknown(tool, fact.TraitUnparsable)
		return nil, false
	}
	return object, true
}

// asWritten keeps a number as its digits, because many a long one is an id.
func asWritten(text string) (any, bool) { return json.Number(text), true }

// deep reports whether brackets nest beyond MaxNesting, before a recursive decoder sees them.
func deep(raw []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > fact.MaxNesting {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// foldKeys returns the object with its keys folded. Of keys that fold alike the first in order counts. Nobody writes to it: it may
// be the object itself.
func foldKeys(object map[string]any) map[string]any {
	if allFolded(object) {
		return object
	}
	out := make(map[string]any, len(object))
	for _, key := range lex.SortedNames(object) {
		if folded := lex.Fold(key); out[folded] == nil {
			out[folded] = object[key]
		}
	}
	return out
}

func allFolded(object map[string]any) bool {
	for key := range object {
		if lex.Fold(key) != key {
			return false
		}
	}
	return true
}

// textAt returns the first non-empty string under one of the folded keys.
func textAt(folded map[string]any, keys []string) (string, bool) {
	for _, key := range keys {
		if text, ok := folded[key].(string); ok && text != "" {
			return text, true
		}
	}
	return "", false
}

// gather returns every string under the keys, one level into lists.
func gather(folded map[string]any, keys []string) (texts []string) {
	for _, key := range keys {
		texts = append(texts, textsOf(folded[key])...)
	}
	return texts
}

func textsOf(value any) (texts []string) {
	switch v := value.(type) {
	case string:
		if v != "" {
			texts = []string{v}
		}
	case []any:
		for _, item := range v {
			switch one := item.(type) {
			case string:
				texts = append(texts, one)
			case map[string]any:
				if path, ok := textAt(foldKeys(one), fileTargetKeys); ok {
					texts = append(texts, path)
				}
			}
		}
	}
	return texts
}

// editTexts returns the new texts of a list of edits.
func editTexts(folded map[string]any) (texts []string) {
	for _, key := range []string{"edits", "changes", "replacements"} {
		list, _ := folded[key].([]any)
		for _, item := range list {
			if edit, ok := item.(map[string]any); ok {
				texts = append(texts, gather(foldKeys(edit), fileContentKeys)...)
			}
		}
	}
	return texts
}

// replacedTexts returns the texts that an edit takes out of a file.
func replacedTexts(folded map[string]any) []string {
	keys := []string{"oldstring", "oldstr", "oldtext", "search", "find"}
	texts := gather(folded, keys)
	for _, key := range []string{"edits", "changes", "replacements"} {
		list, _ := folded[key].([]any)
		for _, item := range list {
			if edit, ok := item.(map[string]any); ok {
				texts = append(texts, gather(foldKeys(edit), keys)...)
			}
		}
	}
	return texts
}

// flagTraits returns what arguments that are set switch on.
func (s callRun) flagTraits(folded map[string]any) (traits []string) {
	flags := s.Know.ToolTable().Flags
	for _, key := range lex.SortedNames(folded) {
		if set, ok := folded[key].(bool); ok && set && flags[key] != "" && flags[key] != "irreversible" {
			traits = append(traits, flags[key])
		}
	}
	return traits
}
