package shell

import (
	"path"
	"strings"

	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// Bounds on the modules beside a program that are followed.
const (
	maxSiblings = 6
	maxAskedFor = 10 // files wanted already, above which modules are not asked for as well
)

// siblings reads the modules beside a Python or JavaScript program that it imports and that this agent wrote: what they do
// when they are loaded, and what they offer to be called. Those of the project itself are as trusted as it is.
func (r *shellRun) siblings(kind, text string) {
	followed := 0
	for _, names := range importedBy(kind, text) {
		if followed >= maxSiblings || !r.S.Spend(8) {
			return
		}
		for _, name := range names {
			file := path.Join(r.beside, name)
			if r.loaded[file] {
				continue
			}
			if _, made := r.madeHere(r.S.Place(file)); !made && len(r.S.Wanted) >= maxAskedFor {
				continue
			}
			held, ok := r.ownText(file)
			if !ok || held == "" {
				continue
			}
			if r.loaded == nil {
				r.loaded = map[string]bool{}
			}
			r.loaded[file] = true
			followed++
			before := r.beside
			r.beside = path.Dir(file)
			r.S.Within++
			r.subshell(func() flow.Flow { return r.code(kind, held, flow.Flow{}) })
			r.S.Within--
			r.beside = before
			break
		}
	}
}

// importedBy lists, for each module that a program imports, the files that may hold it.
func importedBy(kind, text string) (files [][]string) {
	if kind == "javascript" {
		return requiredBy(text)
	}
	for line := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == '\n' || c == ';' }) {
		line = strings.TrimSpace(line)
		if len(files) >= 4*maxSiblings {
			break
		}
		if rest, ok := strings.CutPrefix(line, "import "); ok {
			for _, name := range strings.Split(rest, ",") {
				if name, _, _ = strings.Cut(strings.TrimSpace(name), " "); name != "" {
					files = append(files, moduleFiles(name))
				}
			}
		}
		if rest, ok := strings.CutPrefix(line, "from "); ok {
			from, names, _ := strings.Cut(rest, " import ")
			from = strings.Trim(from, ". ")
			if from != "" {
				files = append(files, moduleFiles(from))
			}
			for _, name := range strings.Split(strings.Trim(names, "() "), ",") {
				if name, _, _ = strings.Cut(strings.TrimSpace(name), " "); name != "" && name != "*" {
					files = append(files, moduleFiles(strings.Trim(from+"."+name, ".")))
				}
			}
		}
	}
	return files
}

// moduleFiles are the files that may hold a module of Python.
func moduleFiles(name string) []string {
	for i := 0; i < len(name); i++ {
		if c := name[i]; !lex.IsNameStart(c) && c != '.' && (c < '0' || c > '9') {
			return nil
		}
	}
	name = strings.ReplaceAll(name, ".", "/")
	return []string{name + ".py", name + "/__init__.py"}
}

// requiredBy lists the files beside it that a JavaScript program requires or imports.
func requiredBy(text string) (files [][]string) {
	for i := 0; i < len(text) && len(files) < 2*maxSiblings; {
		at := strings.Index(text[i:], "./")
		if at < 0 {
			break
		}
		i += at
		start := i
		if start > 0 && text[start-1] == '.' {
			start--
		}
		if i += 2; start == 0 || text[start-1] != '\'' && text[start-1] != '"' {
			continue
		}
		before := strings.TrimRight(text[max(0, start-12):start-1], " (")
		if !strings.HasSuffix(before, "require") && !strings.HasSuffix(before, "from") && !strings.HasSuffix(before, "import") {
			continue
		}
		name, next := lex.StringLiteral(text, start-1)
		i = max(i, next)
		if path.Ext(name) != "" {
			files = append(files, []string{name})
			continue
		}
		files = append(files, []string{name + ".js", name + ".ts", name + ".mjs", name + "/index.js"})
	}
	return files
}
