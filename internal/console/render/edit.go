package render

import (
	"encoding/json"
	"strings"
)

// An EditLine is one line of a file edit.
type EditLine struct {
	Sign string // "-", "+" or " "
	Text string
}

// DiffLines takes a unified difference apart.
func DiffLines(diff string) []EditLine {
	var out []EditLine
	for _, line := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n") {
		if line != "" {
			out = append(out, EditLine{Sign: line[:1], Text: line[1:]})
		}
	}
	return out
}

// editNames are the arguments by which tools that edit files name what goes and what comes.
var editNames = [][2]string{
	{"old_string", "new_string"}, {"old_str", "new_str"}, {"old_text", "new_text"}, {"oldText", "newText"},
	{"", "content"}, {"", "file_text"}, {"", "text"},
}

// MaxChanges bounds a rendered edit; the whole text is above it in any case.
const MaxChanges = 2000

// EditOf renders a display's file edit line by line. It is made from the display alone, which is what is signed, and is
// empty where the display holds no edit that can be told so.
func EditOf(display string) []EditLine {
	head, body, found := strings.Cut(display, "\n\n")
	if !found || !strings.HasPrefix(head, "kind: file") && !strings.HasPrefix(head, "kind: tool") {
		return nil
	}
	var arguments map[string]json.RawMessage
	if json.Unmarshal([]byte(strings.TrimSpace(body)), &arguments) != nil {
		return nil
	}
	var out []EditLine
	var edits []map[string]json.RawMessage
	if json.Unmarshal(arguments["edits"], &edits) == nil {
		for _, edit := range edits {
			out = append(out, editOne(edit)...)
		}
	}
	if out = append(out, editOne(arguments)...); len(out) > MaxChanges {
		return nil
	}
	return out
}

func editOne(arguments map[string]json.RawMessage) []EditLine {
	for _, names := range editNames {
		var before, after string
		if names[0] != "" && json.Unmarshal(arguments[names[0]], &before) != nil ||
			json.Unmarshal(arguments[names[1]], &after) != nil {
			continue
		}
		return editLines(before, after)
	}
	return nil
}

// editLines marks what two texts have in common at their beginning and end, and everything between as gone and come.
func editLines(before, after string) []EditLine {
	old, fresh := splitLines(before), splitLines(after)
	first := 0
	for first < len(old) && first < len(fresh) && old[first] == fresh[first] {
		first++
	}
	last := 0
	for last < len(old)-first && last < len(fresh)-first && old[len(old)-1-last] == fresh[len(fresh)-1-last] {
		last++
	}
	var out []EditLine
	add := func(sign string, texts []string) {
		for _, text := range texts {
			out = append(out, EditLine{Sign: sign, Text: text})
		}
	}
	add(" ", old[:first])
	add("-", old[first:len(old)-last])
	add("+", fresh[first:len(fresh)-last])
	add(" ", old[len(old)-last:])
	return out
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
