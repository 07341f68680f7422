package shell

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/windows"
	"interlock/internal/lex"
)

// windowsText analyses a command that is, or may be, for a shell of Windows. It reports whether that was all there is to
// analyse; if not, the caller reads it as bash too. What could be meant for either is read as both, so that writing it
// like the other hides nothing.
func (r *shellRun) windowsText(input string) bool {
	s := r.S
	meant, sure := s.Dialect, s.Dialect != flow.DialectGuess
	named := false // a language by what only it has, and not Windows by its paths
	if !sure {
		signs := windows.SignsOf(s.Know, input)
		if lex.IsDrive(s.View.Home) || lex.IsDrive(s.Dir) { // on a machine that speaks neither is more likely than both
			signs.Either++
			named = true
		}
		meant, sure = signs.Verdict()
		named = named || signs.PowerShell+signs.Cmd >= 2
	}
	if meant == flow.DialectGuess || meant == flow.DialectPOSIX || len(input) > fact.MaxInput {
		return false
	}
	dir := s.Dir
	other := newShellRun(s)
	got := s.Capture(func() {
		if meant == flow.DialectPowerShell {
			other.windows().PowerShell(input, flow.Flow{})
		} else {
			other.windows().CmdExe(input, flow.Flow{})
		}
	})
	s.Dir = dir
	parses := s.Dialect == flow.DialectGuess && nesting(input) && r.parse(input) != nil
	if !parses && (sure || named) {
		for _, i := range got {
			s.Add(i)
		}
		noted := len(s.Texts)
		r.alsoBash(got, func() { r.beforeError(input) }) // bash runs what comes before it
		s.Texts = s.Texts[:noted:noted]
		s.Dir = dir
		return true
	}
	if !sure { // bash it may well be: what only the other shell could not read is no sign of anything
		for _, i := range got {
			if i.Confidence != interlock.Unknown {
				s.Add(i)
			}
		}
		return false
	}
	for _, i := range got {
		s.Add(i)
	}
	noted := len(s.Texts)
	r.alsoBash(got, func() { r.script(input, flow.Flow{}) })
	s.Texts = r.sharedTexts(noted)
	s.Dir = dir
	return true
}

// alsoBash adds what a text that is taken for one of Windows does where bash reads it, as far as that is certain and has
// not been told.
func (r *shellRun) alsoBash(got []interlock.Impact, read func()) {
	for _, i := range r.S.Capture(read) {
		// What is spelled to look like another program's name is inferred, and no accident in either shell.
		certain := i.Confidence == interlock.Parsed || i.Kind != interlock.ImpactExecute && i.Has(fact.TraitObfuscated)
		if certain && !i.Has(fact.TraitDynamic) && !r.windowsOnly(i.Via) && i.Kind != interlock.ImpactRead && !told(got, i) {
			r.S.Add(i)
		}
	}
}

// sharedTexts drops those of the later texts whose program only Windows has: bash would not find it. The rest stays, for
// what patterns look for may stand in either reading.
func (r *shellRun) sharedTexts(from int) []fact.Text {
	kept := r.S.Texts[:from:from]
	for _, t := range r.S.Texts[from:] {
		if t.Kind == interlock.KindShell && r.S.Know.Described(strings.ToLower(lex.FirstWord(t.Value))) &&
			!r.windowsOnly(t.Value) && !slices.Contains(kept, t) {
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
			case fact.TraitRecursive, fact.TraitForce, fact.TraitOverwrite, fact.TraitMoved, fact.TraitGlob:
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
	name := strings.ToLower(lex.FirstWord(via))
	if name == "" || strings.ContainsAny(name, "<>$:\\") || strings.HasSuffix(name, ".exe") || r.S.Know.Windows(name) {
		return true
	}
	if r.S.Know.Lookup(name) != nil {
		return false
	}
	return r.S.Know.Lookup("cmd:"+name) != nil || r.S.Know.Lookup("ps:"+name) != nil || r.S.Know.Lookup("win:"+name) != nil ||
		windows.CmdletByVerb(r.S.Know, name) != nil
}

// windows returns what reads scripts for shells of Windows inside this one.
func (r *shellRun) windows() *windows.Run {
	if r.win == nil {
		r.win = &windows.Run{Walk: &r.Walk, Host: r}
	}
	return r.win
}

// Wrote reports whether a bare name is a program this action put where it is looked for first.
func (r *shellRun) Wrote(name string) bool {
	_, ok := r.files[r.S.Place(name).Path]
	return ok
}

// Exported sets a variable that what runs has in its environment.
func (r *shellRun) Exported(name string, f flow.Field) {
	r.variable(name, f)
	r.set(name, flow.VarValue(f))
}
