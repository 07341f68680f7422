package program

import (
	"slices"
	"strings"

	"interlock/internal/impact/place"
	"interlock/internal/lex"
)

const maxLooked = 8 // files a program reads that are wanted, if it runs something it computes

// stands is what a program reads from a file: what it wrote there itself, or what the door has read. A file that was not read
// is remembered, because the program may run what stands in it.
func (r *codeRun) stands(target codeValue) (codeValue, bool) {
	if held, ok := r.files[target.text()]; ok {
		return held, true
	}
	paths := pathsOf(target)
	if len(paths) != 1 || target.dynamic || strings.ContainsAny(paths[0], "*?") {
		return codeValue{}, false
	}
	p := r.s.Place(paths[0])
	if text, ok := r.s.View.Scripts[p.Path]; ok && text != "" && len(text) <= lex.MaxText {
		return codeValue{texts: []string{text}, is: "open"}, true
	}
	if name := place.UnreadOf(p); name != "" && len(r.looked) < maxLooked {
		r.looked = append(r.looked, name)
	}
	return codeValue{}, false
}

// wantsRead notes that the program runs something it computes, perhaps from the files it has read.
func (r *codeRun) wantsRead() {
	for _, name := range r.looked {
		r.s.Want(name)
	}
}

// runsFile reads a file of the same language that the program runs: runpy.run_path, require("./x").
func (r *codeRun) runsFile(target codeValue) {
	for _, path := range pathsOf(target) {
		if strings.ContainsAny(path, "*?") {
			continue
		}
		p := r.s.Place(path)
		if text, ok := r.s.ScriptAt(p); ok && !slices.Contains(r.ran, p.Path) {
			r.ran = append(r.ran, p.Path)
			r.inner(text)
		}
	}
}

// runsModule reads a module that lies beside the program where it is named as a file: require("./tools").
func (r *codeRun) runsModule(name codeValue) {
	for _, text := range name.texts {
		if !r.script || len(text) > 256 || strings.ContainsAny(text, "\x00*?: ") {
			continue
		}
		if strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") || strings.HasPrefix(text, "/") {
			if dot := strings.LastIndexByte(text, '.'); dot <= strings.LastIndexByte(text, '/') {
				text += ".js"
			}
			r.runsFile(codeValue{texts: []string{text}})
		}
	}
}
