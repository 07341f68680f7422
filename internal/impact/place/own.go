package place

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
)

// ownProgram is the beginning of the names of Interlock's programs.
const ownProgram = "interlock"

// OwnProgram reports whether a path names one of Interlock's programs by the file's name: where programs stand, or in a
// directory that is only known when it runs and looks like one. What a project that is called interlock keeps is not meant.
func OwnProgram(path string) bool {
	dir, name, inDir := path, path, false
	if at := strings.LastIndexByte(path, '/'); at >= 0 {
		dir, name, inDir = path[:at], path[at+1:], true
	}
	name = strings.TrimSuffix(name, ".exe")
	switch glob := know.IsGlob(name); {
	case name == ownProgram || name == ownProgram+"-hook":
	case glob && strings.Contains(dir, ownProgram) && know.MatchGlob(name, ownProgram):
	default:
		return false
	}
	if strings.ContainsAny(dir, "$`") {
		low := strings.ToLower(dir)
		return inDir && (strings.Contains(low, "bin") || strings.Contains(low, ownProgram))
	}
	parent := dir[strings.LastIndexByte(dir, '/')+1:]
	return inDir && (parent == "bin" || parent == "sbin" || parent == "libexec" || parent == ownProgram)
}

// replaces reports whether a change to a path puts something in the place of Interlock's program. Below the workspace it is
// what a build makes.
func replaces(p *know.Place, i *interlock.Impact) bool {
	switch i.Kind {
	case interlock.ImpactWrite, interlock.ImpactDelete, interlock.ImpactPrivilege:
		return (i.Reach != interlock.ReachWorkspace || strings.ContainsAny(p.Path, "$`")) && OwnProgram(p.Path)
	}
	return false
}

// OwnCopy records that Interlock's program gets another name, under which what it is told to do is not recognised, if that is
// what is at the source. What lies in the workspace is what a build has made there.
func (w *World) OwnCopy(source, name, via string) {
	p := w.Place(source)
	if source != ownProgram && (p.Reach == interlock.ReachWorkspace && !strings.ContainsAny(p.Path, "$`") ||
		!OwnProgram(p.Path)) {
		return
	}
	w.Add(interlock.Impact{Kind: interlock.ImpactConfigure, Target: name, Reach: interlock.ReachWorkspace, Via: via,
		Reversibility: interlock.Reversible, Traits: []string{fact.TraitSelfCopy}})
}
