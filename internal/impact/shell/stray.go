package shell

import (
	"path"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
)

// Protected places that a command line names and the description of its program says nothing of. A program that is given a
// key reads it, whatever else it does; a place behind -o or --output is written, whatever writes it; and what is copied into a
// directory with a name of its own is that name there.

// strays records what arguments name that none of the command's own impacts speaks of.
func (r *shellRun) strays(u *flow.Use, args []flow.Field, own []interlock.Impact) {
	spec := u.Spec
	reads := spec.Script != "" || spec.Code != "" || spec.Stdin != "" || runsCode(u)
	if u.Rest != nil || isDescribed(u) && len(own) == 0 && !reads {
		return // a program that only tells
	}
	before := ""
	for i := range args[1:] {
		a := &args[1+i]
		flag, value := before, a
		if before = ""; len(a.Text) > 1 && a.Text[0] == '-' {
			if before = a.Text; strings.IndexAny(a.Text, "=/~") < 0 {
				continue // nothing is attached
			}
			name, rest := attached(*a)
			flag, value = name, &rest
		}
		if i > MaxBraces || !mayStray(value) || !r.S.Spend(4) {
			continue
		}
		p := r.PlaceOf(*value, true)
		if (len(p.Traits) == 0 && p.Reach != interlock.ReachSelf && !r.S.Shadows(p.Path) && !r.putsPrograms(p.Path)) ||
			p.Reach == interlock.ReachWorkspace ||
			spokenOf(own, p.Path) {
			continue
		}
		r.stray(u, own, p, flag)
	}
}

// isDescribed reports whether a description speaks of the program, and not only of words that unknown programs share.
func isDescribed(u *flow.Use) bool {
	spec := u.Spec
	for spec.Parent != nil {
		spec = spec.Parent
	}
	return spec.Name != "?"
}

// putsInto reports whether a command puts its other operands into the place its last one names.
func putsInto(spec *know.Command) bool {
	for _, e := range spec.Impacts {
		if e.Kind == interlock.ImpactWrite && e.Target == "last" {
			return true
		}
	}
	return false
}

// attached splits an argument that begins with a dash into a flag and the value attached to it.
func attached(a flow.Field) (flag string, value flow.Field) {
	if at := strings.IndexByte(a.Text, '='); at > 0 {
		return a.Text[:at], cut(a, at+1)
	}
	if at := strings.IndexAny(a.Text, "/~"); at > 0 {
		return a.Text[:at], cut(a, at)
	}
	return a.Text, flow.Field{}
}

// mayStray reports whether a word could be a path outside the workspace at all.
func mayStray(f *flow.Field) bool {
	return f.Text != "" && !f.Lead && (f.Text[0] == '/' || f.Text[0] == '~' || f.Text[0] == '.') &&
		len(f.Text) < know.MaxGlobbed*4 && strings.IndexByte(f.Text, ' ') < 0 && !strings.Contains(f.Text, "://")
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
func (r *shellRun) stray(u *flow.Use, own []interlock.Impact, p know.Place, flag string) {
	guarded := p.Reach == interlock.ReachSelf || fact.HasTrait(p.Traits, fact.TraitStartup) ||
		fact.HasTrait(p.Traits, fact.TraitAgentConfig) || r.S.Shadows(p.Path)
	known, connects := isDescribed(u), false
	for i := range own {
		connects = connects || own[i].Kind == interlock.ImpactNetwork
	}
	switch {
	case writesBehind(flag) && r.putsPrograms(p.Path):
		r.fillsPrograms(p, u.Via)
	case guarded && writesBehind(flag):
		r.S.TouchPlace(p, interlock.Impact{Kind: interlock.ImpactWrite, Via: u.Via, Traits: []string{fact.TraitOverwrite}})
	// what goes where is for a description to say
	case fact.HasTrait(p.Traits, fact.TraitSecret) && (!known || flag == "" && !connects):
		r.S.TouchPlace(p, interlock.Impact{Kind: interlock.ImpactRead, Via: u.Via, Confidence: interlock.Inferred})
	case guarded && !known && flag == "":
		traits := []string{fact.TraitAgentConfig}
		if fact.HasTrait(p.Traits, fact.TraitStartup) {
			traits[0] = fact.TraitStartup
		}
		r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: p.Path, Reach: interlock.ReachHome, Via: u.Via,
			Reversibility: interlock.Reversible, Confidence: interlock.Unknown, Traits: traits})
	}
}

// writesBehind reports whether a flag is one that names what is written, in the way programs agree on.
func writesBehind(flag string) bool {
	flag = strings.TrimSuffix(flag, ":")
	name := strings.ToLower(strings.TrimLeft(flag, "-"))
	switch {
	case flag == "-o" || name == "femit-bin" || flag == "-O" || name == "dest" || name == "destination" || name == "prefix" ||
		name == "target-dir":
		return true
	}
	return strings.HasPrefix(name, "out") && flag != name
}

// merges records what a copy into a directory becomes there under a name of its own, where that is a protected place:
// cp -a made/.claude ~ writes ~/.claude.
func (r *shellRun) merges(u *flow.Use, own []interlock.Impact) {
	n := len(u.Operands)
	if n < 2 || !writesInto(own) {
		return
	}
	into := u.Operands[n-1]
	if into.Dynamic && into.Lead || isRemote(into.Text) {
		return
	}
	for i := range own { // the place is a protected one itself
		if own[i].Kind == interlock.ImpactWrite &&
			(own[i].Has(fact.TraitStartup) || own[i].Has(fact.TraitAgentConfig) || own[i].Has(fact.TraitSelf)) {
			return
		}
	}
	for i, from := range u.Operands[:n-1] {
		if i > MaxBraces || !r.S.Spend(8) {
			return
		}
		name := path.Base(from.Text)
		if from.Text == "" || isRemote(from.Text) {
			continue
		}
		if whole := strings.HasSuffix(from.Text, "/.") || name == ".." || name == "." || name == ".*" || u.Via == "rsync" &&
			strings.HasSuffix(from.Text, "/") || has(u, "-T") || has(u, "--no-target-directory"); whole {
			r.mergesWhole(u, into)
			continue
		}
		p := r.S.Place(strings.TrimSuffix(into.Text, "/") + "/" + name)
		held := r.S.HoldsSelf(p.Path)
		if held {
			p.Reach = interlock.ReachSelf
		}
		if !held && p.Reach != interlock.ReachSelf && !fact.HasTrait(p.Traits, fact.TraitStartup) &&
			!fact.HasTrait(p.Traits, fact.TraitAgentConfig) ||
			p.Reach == interlock.ReachWorkspace || spokenOf(own, p.Path) {
			continue
		}
		r.S.TouchPlace(p, interlock.Impact{Kind: interlock.ImpactWrite, Via: u.Via, Reach: p.Reach,
			Confidence: interlock.Inferred, Traits: []string{fact.TraitOverwrite}})
	}
}

// mergesWhole records that all of a folder is put into a place where hidden names mean start-up files.
func (r *shellRun) mergesWhole(u *flow.Use, into flow.Field) {
	p := r.PlaceOf(into, true)
	if p.Reach == interlock.ReachWorkspace || !(fact.HasTrait(p.Traits, fact.TraitRoot) || r.S.HoldsSelf(p.Path)) {
		return
	}
	r.S.TouchPlace(p, interlock.Impact{Kind: interlock.ImpactWrite, Via: u.Via, Confidence: interlock.Inferred,
		Traits: []string{fact.TraitOverwrite, fact.TraitStartup}})
}

// writesInto reports whether the last operand is written.
func writesInto(own []interlock.Impact) bool {
	for i := range own {
		if own[i].Kind == interlock.ImpactWrite && !own[i].Has(fact.TraitDryRun) {
			return true
		}
	}
	return false
}
