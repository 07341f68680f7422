package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// lisp reads the functions of Emacs that run a command or delete something: shell-command, call-process, delete-file,
// delete-directory. Their names are several of other languages, joined by dashes.
func (f *foreignScan) lisp(last string, start, end int) int {
	if f.kind != "other" {
		return end
	}
	before := f.text[max(0, start-len("call-")-2):start]
	if last == "command" || last == "process" {
		for _, more := range [...]string{"-to-string", "-on-region", "-region"} {
			if strings.HasPrefix(f.text[end:], more) {
				end += len(more)
			}
		}
		args, next, _ := lex.LiteralArguments(f.text, end)
		if len(args) == 0 {
			return end
		}
		if strings.HasSuffix(before, "shell-") || strings.HasSuffix(before, "call-") || strings.HasSuffix(before, "start-") {
			f.command(args[0])
		}
		return next
	}
	args, next, _ := lex.LiteralArguments(f.text, end)
	if len(args) == 0 || !strings.HasSuffix(before, "delete-") {
		return end
	}
	i := interlock.Impact{Kind: interlock.ImpactDelete, Via: f.kind, Traits: []string{fact.TraitInline}}
	if rest := f.text[next:]; last == "directory" && strings.HasPrefix(strings.TrimLeft(rest, " "), "t") {
		i.Traits = append(i.Traits, fact.TraitRecursive)
	}
	f.r.S.TouchPlace(f.r.PlaceOf(flow.Literal(args[0]), true), i)
	return next
}
