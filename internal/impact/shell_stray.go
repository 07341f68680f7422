package impact

import (
	"path"
	"strings"

	"interlock"
)

// Protected places that a command line names and the description of its program says nothing of. A program that is given a
// key reads it, whatever else it does; a place behind -o or --output is written, whoever writes it; and what is copied into a
// directory with a name of its own is that name there.

// strays records what arguments name that none of the command's own impacts speaks of.
func (r *shellRun) strays(u *use, args []field, own []interlock.Impact) {
	spec := u.spec
	reads := spec.script != "" || spec.code != "" || spec.stdin != "" || runsCode(u)
	if u.rest != nil || u.isDescribed() && len(own) == 0 && !reads {
		return // a program that only tells
	}
	before := ""
	for i, a := range args[1:] {
		flag, value := before, a
		if before = ""; len(a.text) > 1 && a.text[0] == '-' {
			flag, value = attached(a)
			before = a.text
		}
		if i > maxBraces || !mayStray(value) || !r.s.spend(4) {
			continue
		}
		p := r.placeOf(value, true)
		if (len(p.Traits) == 0 && p.Reach != interlock.ReachSelf) || p.Reach == interlock.ReachWorkspace || spokenOf(own, p.Path) {
			continue
		}
		r.stray(u, own, p, flag)
	}
}

// isDescribed reports whether a description speaks of the program, and not only of words that unknown programs share.
func (u *use) isDescribed() bool {
	spec := u.spec
	for spec.parent != nil {
		spec = spec.parent
	}
	return spec.name != "?"
}

// putsInto reports whether a command puts its other operands into the place its last one names.
func putsInto(spec *command) bool {
	for _, e := range spec.impacts {
		if e.kind == interlock.ImpactWrite && e.target == "last" {
			return true
		}
	}
	return false
}

// attached splits an argument that begins with a dash into a flag and the value attached to it.
func attached(a field) (flag string, value field) {
	if at := strings.IndexByte(a.text, '='); at > 0 {
		return a.text[:at], cut(a, at+1)
	}
	if at := strings.IndexAny(a.text, "/~"); at > 0 {
		return a.text[:at], cut(a, at)
	}
	return a.text, field{}
}

// mayStray reports whether a word could be a path outside the workspace at all.
func mayStray(f field) bool {
	return f.text != "" && !f.lead && len(f.text) < maxGlobbed*4 && strings.IndexByte(f.text, ' ') < 0 && !strings.Contains(f.text, "://") &&
		(f.text[0] == '/' || f.text[0] == '~' || strings.HasPrefix(f.text, "..") || strings.HasPrefix(f.text, "."))
}

// spokenOf reports whether impacts name a path.
func spokenOf(own []interlock.Impact, target string) bool {
	for i := range own {
		if own[i].Target == target {
			return true
		}
	}
	return false
}

// stray records what a program does with a protected place that it is given.
func (r *shellRun) stray(u *use, own []interlock.Impact, p place, flag string) {
	guarded := p.Reach == interlock.ReachSelf || hasTrait(p.Traits, TraitStartup) || hasTrait(p.Traits, TraitAgentConfig)
	known, connects := u.isDescribed(), false
	for i := range own {
		connects = connects || own[i].Kind == interlock.ImpactNetwork
	}
	switch {
	case guarded && writesBehind(flag):
		r.s.touchPlace(p, interlock.Impact{Kind: interlock.ImpactWrite, Via: u.via, Traits: []string{TraitOverwrite}})
	case hasTrait(p.Traits, TraitSecret) && (!known || flag == "" && !connects): // what goes where is for a description to say
		r.s.touchPlace(p, interlock.Impact{Kind: interlock.ImpactRead, Via: u.via, Confidence: interlock.Inferred})
	case guarded && !known && flag == "":
		traits := []string{TraitAgentConfig}
		if hasTrait(p.Traits, TraitStartup) {
			traits[0] = TraitStartup
		}
		r.s.add(interlock.Impact{Kind: interlock.ImpactExecute, Target: p.Path, Reach: interlock.ReachHome, Via: u.via,
			Reversibility: interlock.Reversible, Confidence: interlock.Unknown, Traits: traits})
	}
}

// writesBehind reports whether a flag is one that names what is written, in the way programs agree on.
func writesBehind(flag string) bool {
	name := strings.ToLower(strings.TrimLeft(flag, "-"))
	switch {
	case flag == "-o" || flag == "-O" || name == "dest" || name == "destination" || name == "prefix" || name == "target-dir":
		return true
	}
	return strings.HasPrefix(name, "out") && flag != name
}

// merges records what a copy into a directory becomes there under a name of its own, where that is a protected place:
// cp -a made/.claude ~ writes ~/.claude.
func (r *shellRun) merges(u *use, own []interlock.Impact) {
	n := len(u.operands)
	if n < 2 || !writesInto(own) {
		return
	}
	into := u.operands[n-1]
	if into.dynamic && into.lead || isRemote(into.text) {
		return
	}
	for i := range own { // the place is a protected one itself
		if own[i].Kind == interlock.ImpactWrite && (own[i].Has(TraitStartup) || own[i].Has(TraitAgentConfig) || own[i].Has(TraitSelf)) {
			return
		}
	}
	for i, from := range u.operands[:n-1] {
		if i > maxBraces || !r.s.spend(8) {
			return
		}
		name := path.Base(from.text)
		if from.text == "" || isRemote(from.text) {
			continue
		}
		if whole := strings.HasSuffix(from.text, "/.") || name == ".." || name == "." || name == ".*"; whole {
			r.mergesWhole(u, into)
			continue
		}
		p := r.s.place(strings.TrimSuffix(into.text, "/") + "/" + name)
		held := r.s.holdsSelf(p.Path)
		if held {
			p.Reach = interlock.ReachSelf
		}
		if !held && p.Reach != interlock.ReachSelf && !hasTrait(p.Traits, TraitStartup) && !hasTrait(p.Traits, TraitAgentConfig) ||
			p.Reach == interlock.ReachWorkspace || spokenOf(own, p.Path) {
			continue
		}
		r.s.touchPlace(p, interlock.Impact{Kind: interlock.ImpactWrite, Via: u.via, Reach: p.Reach, Confidence: interlock.Inferred, Traits: []string{TraitOverwrite}})
	}
}

// mergesWhole records that all of a folder is put into a place where hidden names mean start-up files.
func (r *shellRun) mergesWhole(u *use, into field) {
	p := r.placeOf(into, true)
	if p.Reach == interlock.ReachWorkspace || !(hasTrait(p.Traits, TraitRoot) || r.s.holdsSelf(p.Path)) {
		return
	}
	r.s.touchPlace(p, interlock.Impact{Kind: interlock.ImpactWrite, Via: u.via, Confidence: interlock.Inferred,
		Traits: []string{TraitOverwrite, TraitStartup}})
}

// writesInto reports whether the last operand is written.
func writesInto(own []interlock.Impact) bool {
	for i := range own {
		if own[i].Kind == interlock.ImpactWrite && !own[i].Has(TraitDryRun) {
			return true
		}
	}
	return false
}
