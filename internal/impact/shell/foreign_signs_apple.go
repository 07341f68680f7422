package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/lex"
)

// tells reads what AppleScript has other programs do: a terminal that is told what to run, a Finder that deletes, and the
// same in its JavaScript.
func (f *foreignScan) tells() {
	for _, name := range [...]string{"do script ", "write text ", "doShellScript(", "doScript(", "keystroke "} {
		rest := f.text
		for range 8 {
			at := strings.Index(rest, name)
			if at < 0 {
				break
			}
			rest = rest[at+len(name):]
			args, next, _ := lex.LiteralArguments(rest, 0)
			if rest = rest[min(next, len(rest)):]; len(args) > 0 {
				f.command(args[0])
			}
		}
	}
	low := strings.ToLower(f.text)
	if strings.Contains(low, "empty trash") || strings.Contains(low, "empty the trash") || strings.Contains(low, ".emptytrash") {
		f.finderDeletes("what lies in the trash", interlock.Irreversible)
	}
	for rest := low; strings.Contains(low, "finder"); {
		at := strings.Index(rest, "delete")
		if at < 0 {
			break
		}
		if rest = rest[at+len("delete"):]; rest != "" && strings.IndexByte(" (\n", rest[0]) >= 0 {
			f.finderDeletes(firstLine(rest), interlock.Window)
			break
		}
	}
}

// finderDeletes records that the Finder deletes something of the person whose screen it is.
func (f *foreignScan) finderDeletes(what string, back interlock.Reversibility) {
	f.r.S.Add(interlock.Impact{Kind: interlock.ImpactDelete, Target: what, Reach: interlock.ReachHome, Via: "Finder",
		Reversibility: back, Confidence: interlock.Inferred, Traits: []string{fact.TraitInline, fact.TraitBulk}})
}

// firstLine is a text's first line, shortened to what a person reads.
func firstLine(text string) string {
	text, _, _ = strings.Cut(strings.Trim(text, " (\n"), "\n")
	return text[:min(len(text), 80)]
}
