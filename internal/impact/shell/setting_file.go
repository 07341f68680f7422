package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// settingsOf judges each setting that a file holds which this action wrote whole, as pseudo-command name describes them: sections
// in brackets, and lines key = value. It reports whether the file's text is known.
func (r *shellRun) settingsOf(u *flow.Use, name string, file flow.Field, otherwise []interlock.Impact) bool {
	path := r.PlaceOf(file, true).Path
	held, made := r.files[path]
	if file.Dynamic || file.Glob || !made || !held.Known || !held.Written || !r.S.Spend(len(held.Text)/16) {
		return false
	}
	if !r.settingsText(u, name, held.Text) {
		return false
	}
	r.obeys = append(r.obeys, settingsFile{path, held.Text, otherwise})
	return true
}

// settingsText judges each setting of a text, and reports whether all of it was understood.
func (r *shellRun) settingsText(u *flow.Use, name, text string) bool {
	if strings.Contains(text, "\\\n") { // a line that goes on in the next
		return false
	}
	section := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if head, rest, ok := strings.Cut(line, "]"); ok && strings.HasPrefix(head, "[") {
			group, part, named := strings.Cut(head[1:], " ")
			if section = group + "."; named {
				section += strings.Trim(part, "\"") + "."
			}
			line = strings.TrimSpace(rest)
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if !r.S.Spend(8) {
			return false
		}
		r.setting(u, name, flow.Literal(section+strings.TrimSpace(key)+"="+strings.TrimSpace(value)))
	}
	return true
}

// A settingsFile is a file with settings that was judged by the text this action wrote into it.
type settingsFile struct {
	path, text string
	otherwise  []interlock.Impact // what it counts as with any other text
}

// changedSince judges the files with settings that were judged by a text which they did not keep.
func (r *shellRun) changedSince() {
	for _, file := range r.obeys {
		if held := r.files[file.path]; !held.Known || held.Text != file.text {
			for _, i := range file.otherwise {
				r.S.Add(i)
			}
		}
	}
}

// installedEditor reports whether a command is the path of a described program of the system that runs nothing it is not told to,
// and so does what its name alone would: /usr/bin/vim is vim.
func (r *shellRun) installedEditor(text string) bool {
	program := lex.FirstWord(text)
	if !lex.SystemProgram(program) || program != strings.TrimSpace(text) {
		return false
	}
	name, _ := lex.BaseName(program)
	spec := r.S.Know.Lookup(name)
	return spec != nil && spec.Script == "" && spec.Code == "" && spec.Wraps == "" && (spec.Stdin == "" || spec.Stdin == "vim")
}
