package impact

import (
	"slices"
	"strings"

	"interlock"
)

// windowsText analyses a command that is, or may be, for a shell of Windows. It reports whether that was all there is to
// analyse; if not, the caller reads it as bash too. What could be meant for either is read as both, so that writing it
// like the other hides nothing.
func (r *shellRun) windowsText(input string) bool {
	s := r.s
	meant, sure := s.dialect, s.dialect != dialectGuess
	named := false // a language by what only it has, and not Windows by its paths
	if !sure {
		signs := s.know.signsOf(input)
		if isDrive(s.view.Home) || isDrive(s.dir) { // on a machine that speaks neither is more likely than both
			signs.either++
			named = true
		}
		meant, sure = signs.verdict()
		named = named || signs.powershell+signs.cmd >= 2
	}
	if meant == dialectGuess || meant == dialectPOSIX || len(input) > MaxInput {
		return false
	}
	dir := s.dir
	other := newShellRun(s)
	got := s.capture(func() {
		if meant == dialectPowerShell {
			other.windows().powershell(input, flow{})
		} else {
			other.windows().cmdexe(input, flow{})
		}
	})
	s.dir = dir
	parses := s.dialect == dialectGuess && nesting(input) && r.parse(input) != nil
	if !parses && (sure || named) {
		for _, i := range got {
			s.add(i)
		}
		noted := len(s.texts)
		r.alsoBash(got, func() { r.beforeError(input) }) // bash runs what stands before it
		s.texts = s.texts[:noted:noted]
		s.dir = dir
		return true
	}
	if !sure { // bash it may well be: what only the other shell could not read is no sign of anything
		for _, i := range got {
			if i.Confidence != interlock.Unknown {
				s.add(i)
			}
		}
		return false
	}
	for _, i := range got {
		s.add(i)
	}
	noted := len(s.texts)
	r.alsoBash(got, func() { r.script(input, flow{}) })
	s.texts = r.sharedTexts(noted)
	s.dir = dir
	return true
}

// alsoBash adds what a text that is taken for one of Windows does where bash reads it, as far as that is certain and has
// not been told.
func (r *shellRun) alsoBash(got []interlock.Impact, read func()) {
	for _, i := range r.s.capture(read) {
		// What is spelled to look like another program's name is inferred, and no accident in either shell.
		certain := i.Confidence == interlock.Parsed || i.Kind != interlock.ImpactExecute && i.Has(TraitObfuscated)
		if certain && !i.Has(TraitDynamic) && !r.windowsOnly(i.Via) && i.Kind != interlock.ImpactRead && !told(got, i) {
			r.s.add(i)
		}
	}
}

// sharedTexts drops those of the later texts whose program only Windows has: bash would not find it. The rest stays, for
// what patterns look for may stand in either reading.
func (r *shellRun) sharedTexts(from int) []Text {
	kept := r.s.texts[:from:from]
	for _, t := range r.s.texts[from:] {
		if t.Kind == interlock.KindShell && r.s.know.described(strings.ToLower(firstWord(t.Value))) && !r.windowsOnly(t.Value) && !slices.Contains(kept, t) {
			kept = append(kept, t)
		}
	}
	return kept
}

// told reports whether a reading already says as much as an impact of the other: the same kind, the same reach, and no trait
// but those of how thoroughly it is done.
func told(reading []interlock.Impact, other interlock.Impact) bool {
	for _, i := range reading {
		if i.Kind != other.Kind || i.Reach != other.Reach {
			continue
		}
		all := true
		for _, trait := range other.Traits {
			switch trait {
			case TraitRecursive, TraitForce, TraitOverwrite, TraitMoved, TraitGlob:
			default:
				all = all && i.Has(trait)
			}
		}
		if all {
			return true
		}
	}
	return false
}

// windowsOnly reports whether a program's name is one that only Windows has, or no program's. A name that both have, as rm
// and curl, is not: the line may be meant for bash after all, where `rem x & rm -rf ~` is no remark.
func (r *shellRun) windowsOnly(via string) bool {
	name := strings.ToLower(firstWord(via))
	if name == "" || strings.ContainsAny(name, "<>$:\\") || strings.HasSuffix(name, ".exe") || r.s.know.windows(name) {
		return true
	}
	if r.s.know.lookup(name) != nil {
		return false
	}
	return r.s.know.lookup("cmd:"+name) != nil || r.s.know.lookup("ps:"+name) != nil || r.s.know.lookup("win:"+name) != nil || r.s.know.cmdletByVerb(name) != nil
}

// windows returns what reads scripts for shells of Windows inside this one.
func (r *shellRun) windows() *winRun {
	if r.win == nil {
		r.win = &winRun{walk: &r.walk, windowsHost: r}
	}
	return r.win
}

// wrote reports whether a bare name is a program this action put where it is looked for first.
func (r *shellRun) wrote(name string) bool {
	_, ok := r.files[r.s.place(name).Path]
	return ok
}

// exported sets a variable that what runs has in its environment.
func (r *shellRun) exported(name string, f field) {
	r.variable(name, f)
	r.set(name, varValue(f))
}
