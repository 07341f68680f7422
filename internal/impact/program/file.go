package program

import (
	"slices"
	"sort"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/place"
	"interlock/internal/lex"
)

const maxLooked = 8 // files a program reads that are wanted, if it runs something it computes

// stands is what a program reads from a file: what it wrote there itself, or what the door has read. A file that was not read
// is remembered, because the program may run what is in it.
func (r *codeRun) stands(target codeValue) (codeValue, bool) {
	if held, ok := r.files[target.text()]; ok {
		return held, true
	}
	paths := pathsOf(target)
	if len(paths) != 1 || target.dynamic || strings.ContainsAny(paths[0], "*?") {
		return codeValue{}, false
	}
	p := r.s.Place(paths[0])
	if text, ok := r.written(p.Path); ok {
		return codeValue{texts: []string{text}, is: "open"}, true
	}
	marks := codeMarks(0)
	if r.broughtHere(p.Path) {
		marks = markNetwork
	}
	if text, ok := r.s.View.Scripts[p.Path]; ok && text != "" && len(text) <= lex.MaxText {
		return codeValue{texts: []string{text}, is: "open", marks: marks}, true
	}
	if name := place.UnreadOf(p); name != "" && len(r.looked) < maxLooked {
		r.looked = append(r.looked, name)
	}
	return codeValue{dynamic: marks != 0, is: "open", marks: marks}, marks != 0
}

// broughtHere reports whether a file came over a network, in an earlier action or by a command around this program.
func (r *codeRun) broughtHere(path string) bool {
	held := r.s.Files[path]
	before := r.s.FetchedBefore(path)
	r.earlier = r.earlier || before || held.Network && held.Fetched
	return before || held.Network
}

// ranFetched says of code that came over a network whether this program fetched it or found it here.
func (r *codeRun) ranFetched() string {
	if r.earlier {
		return fact.TraitFetchedRun
	}
	return fact.TraitDownloadRun
}

// brings says of a file the program writes that its content came over a network, for whatever runs it later.
func (r *codeRun) brings(path string, content codeValue) {
	if content.marks&markNetwork == 0 {
		return
	}
	p := r.s.Place(path)
	if r.s.Files != nil {
		r.s.Files[p.Path] = flow.Flow{Network: true, Written: true, Source: p.Path}
	}
	for n := len(r.s.Impacts) - 1; n >= 0; n-- {
		if i := &r.s.Impacts[n]; i.Kind == interlock.ImpactWrite && i.Target == p.Path && r.s.Spend(1) {
			if !i.Has(fact.TraitDownload) && !i.Has(fact.TraitFetched) {
				i.Traits = append(i.Traits[:len(i.Traits):len(i.Traits)], fact.TraitFetched)
				sort.Strings(i.Traits)
			}
			return
		}
	}
}

// written is the text of a file that the script around the program wrote before it ran.
func (r *codeRun) written(path string) (string, bool) {
	held, ok := r.s.Files[path]
	return held.Text, ok && held.Known && held.Written && held.Text != "" && len(held.Text) <= lex.MaxText
}

// goesOn says of a copy of a file that came over a network that it did, too, once the copy is written.
func (r *codeRun) goesOn(from string, to codeValue) {
	if paths := pathsOf(to); len(paths) == 1 && r.broughtHere(r.s.Place(from).Path) {
		r.brings(paths[0], codeValue{marks: markNetwork})
	}
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
		text, ok := r.written(p.Path)
		if !ok {
			text, ok = r.s.ScriptAt(p)
		}
		if ok && !slices.Contains(r.ran, p.Path) {
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

// putInFiles judges what the program has put into files, as far as that is known, as what a file tool puts there.
func (r *codeRun) putInFiles() {
	for _, name := range lex.SortedNames(r.files) {
		content := r.files[name]
		if content.dynamic || len(content.texts) != 1 || r.s.Readers == nil || r.s.Readers.Written == nil ||
			!r.s.Spend(8+len(content.texts[0])/64) {
			continue
		}
		r.s.Readers.Written(r.s, string(r.kind), name, content.texts[0])
	}
}
