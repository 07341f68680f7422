package main

import (
	"fmt"
	"strings"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/ledger"
)

// hostile are inputs made to be slow to read: a reader that looks back at what it has read takes sixteen times as long for
// four times the input.
var hostile = []struct {
	name  string
	build func(bytes int) string
}{
	{"many small commands", numbered("echo a%d\n")},
	{"many variables", numbered("v%d=x\n")},
	{"a list of variables in pipes", numbered("v%d=x; true | cat\n")},
	{"many here-documents", repeated("cat <<E\nx\nE\n")},
	{"here-documents without an end", numbered("cat <<E%d\n")},
	{"a long pipe", repeated("cat | ")},
	{"alternatives in braces", func(bytes int) string { return "echo " + strings.Repeat("{a,b}", bytes/5) }},
	{"one long word", func(bytes int) string { return "cat " + strings.Repeat("a", bytes) }},
	{"a long pattern", func(bytes int) string { return "cat /" + strings.Repeat("*a", bytes/2) }},
	{"a path that climbs", func(bytes int) string { return "cat a" + strings.Repeat("/..", bytes/3) }},
	{"one flag again and again", func(bytes int) string { return "tar" + strings.Repeat(" -x", bytes/3) }},
	{"parameters said three times", func(bytes int) string {
		return "set --" + strings.Repeat(" a", bytes/2) + "; echo \"$@\" \"$@\" \"$@\""
	}},
	{"elements of an array", numbered("a[%d]=x\n")},
	{"a file appended to", numbered("echo x%d >> f\n")},
	{"quotes that do not close", numbered("echo 'a%d\n")},
	{"nothing but $", repeated("$")},
	{"nothing but backticks", repeated("`")},
	{"nothing but (", repeated("(")},
	{"nothing but quotes", repeated("\"")},
}

func numbered(form string) func(int) string {
	return func(bytes int) string {
		var b strings.Builder
		for n := 0; b.Len() < bytes; n++ {
			fmt.Fprintf(&b, form, n)
		}
		return b.String()
	}
}

func repeated(unit string) func(int) string {
	return func(bytes int) string { return strings.Repeat(unit, bytes/len(unit)) }
}

// decideHostile measures deciding on hostile inputs of 16, 32 and 64 KB.
func decideHostile(b *bench) error {
	evaluator, err := embedded.NewEvaluator(config.Defaults())
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n## Deciding on hostile input\n\nThe fastest of five decisions, milliseconds. Four times the input may take four times as long; sixteen would be quadratic.\n\n")
	fmt.Fprintf(b.out, "| input | 16 KB | 32 KB | 64 KB | 64 KB by 16 KB |\n|---|---:|---:|---:|---:|\n")
	for _, h := range hostile {
		var took [3]time.Duration
		for i, kb := range []int{16, 32, 64} {
			p := interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell, Input: h.build(kb << 10),
				Dir: "/repo"}, CanAsk: true,
				View: interlock.View{Home: "/home/dev", Workspace: "/repo"}}
			for n := range 5 {
				start := time.Now()
				admission.Evaluate(evaluator, admission.Case{Proposal: p}, ledger.Standing{}, start)
				if one := time.Since(start); n == 0 || one < took[i] {
					took[i] = one
				}
			}
		}
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		fmt.Fprintf(b.out, "| %s | %.2f | %.2f | %.2f | %.1f |\n", h.name, ms(took[0]), ms(took[1]), ms(took[2]),
			ms(took[2])/max(ms(took[0]), 0.001))
	}
	return nil
}
