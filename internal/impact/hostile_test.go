package impact_test

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/impacttest"
)

// A pumped is an input made to be slow to read, of any size: what stands between « and » is repeated, and what stands between ‹
// and › as often; № is the number of the round. A reader that looks back at what it has read, or reads it again, takes four times
// as long for twice the input.
type pumped struct {
	kind    string // of the action, or the shell of Windows that it is for
	pattern string
}

// hostile reads the patterns that every reader is held to.
func hostile(t testing.TB) (list []pumped) {
	t.Helper()
	data, err := os.ReadFile("testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		kind, quoted, _ := strings.Cut(strings.TrimSpace(line), " ")
		pattern, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, pumped{kind, pattern})
	}
	if len(list) < 900 {
		t.Fatalf("%d patterns", len(list))
	}
	return list
}

// text writes a pattern out to about so many bytes.
func (p pumped) text(bytes int) string {
	var parts []string // every second one is repeated
	fixed, round := 0, 0
	for rest := p.pattern; rest != ""; {
		at := strings.IndexAny(rest, "«‹")
		if at < 0 {
			parts, fixed = append(parts, rest), fixed+len(rest)
			break
		}
		end := "»"
		if strings.HasPrefix(rest[at:], "‹") {
			end = "›"
		}
		unit, after, _ := strings.Cut(rest[at+len(end):], end)
		parts, fixed = append(parts, rest[:at], unit), fixed+at
		round, rest = round+len(unit)+2*strings.Count(unit, "№"), after
	}
	rounds := max(1, (bytes-fixed)/max(1, round))
	var b strings.Builder
	for i, part := range parts {
		switch {
		case i%2 == 0:
			b.WriteString(part)
		case strings.Contains(part, "№"):
			for n := range rounds {
				b.WriteString(strings.ReplaceAll(part, "№", strconv.Itoa(n)))
			}
		default:
			b.WriteString(strings.Repeat(part, rounds))
		}
	}
	return b.String()
}

// action is the action whose input, or whose arguments, the pattern makes.
func (p pumped) action(bytes int) interlock.Action {
	a := interlock.Action{Kind: interlock.Kind(p.kind), Dir: hostileView.Workspace}
	text := p.text(bytes)
	switch a.Kind {
	case interlock.KindFile:
		a.Tool, a.Arguments = "write", []byte(text)
	case interlock.KindHTTP:
		a.Arguments = []byte(text)
	case interlock.KindTool:
		a.Tool, a.Arguments = "run_task", []byte(text)
	case "powershell", "cmd":
		a.Kind, a.Tool, a.Input = interlock.KindShell, p.kind, text
	default:
		a.Input = text
	}
	return a
}

var hostileView = interlock.View{Home: "/home/dev", Workspace: "/home/dev/project"}

// cost is what an analysis of a pattern of some size is charged with, and the bytes it allocates.
func (p pumped) cost(analyser *impact.Analyser, bytes int) (steps, allocated int) {
	action := p.action(bytes)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	steps = analyser.Steps(hostileView, action)
	runtime.ReadMemStats(&after)
	return steps, int(after.TotalAlloc - before.TotalAlloc)
}

// holds reports the bounds that inputs of this pattern break: reading them ends, and what it allocates is charged: no step
// allocates much more than a kilobyte, so that no input of any length allocates more than there are steps for.
func (p pumped) holds(t testing.TB, analyser *impact.Analyser) {
	t.Helper()
	const bytes = 8 << 10
	steps, allocated := p.cost(analyser, bytes)
	if steps > 2*fact.MaxWork+bytes {
		t.Errorf("%s %q: %d steps, and there are %d", p.kind, p.pattern, steps, fact.MaxWork)
	}
	if allocated > 8<<20+steps*3/2<<10 {
		t.Errorf("%s %q: %d KB for %d steps", p.kind, p.pattern, allocated>>10, steps)
	}
}

func TestHostileInputIsBounded(t *testing.T) {
	analyser := impact.NewAnalyser(impacttest.Knowledge(t))
	for _, p := range hostile(t) {
		p.holds(t, analyser)
	}
}

// TestOverTheBoundIsUnknown: what there is no work left for is unknown, and said to be, whatever was found before.
func TestOverTheBoundIsUnknown(t *testing.T) {
	analyser := impact.NewAnalyser(impacttest.Knowledge(t))
	over := 0
	for i, p := range hostile(t) {
		action := p.action(130 << 10)
		if i%32 != 0 || analyser.Steps(hostileView, action) <= fact.MaxWork {
			continue
		}
		over++
		said := false
		for _, i := range analyser.Analyse(hostileView, action).Impacts {
			said = said || i.Confidence == interlock.Unknown
		}
		if !said {
			t.Errorf("%s %q: over the bound, and nothing is unknown", p.kind, p.pattern)
		}
	}
	if over < 4 {
		t.Errorf("%d of the patterns are over the bound", over)
	}
}

// TestAnalysisEnds: an analysis that nobody waits for any more ends, and what is left is unknown.
func TestAnalysisEnds(t *testing.T) {
	analyser := impact.NewAnalyser(impacttest.Knowledge(t))
	stop := make(chan struct{})
	close(stop)
	action := pumped{"shell", "«rm -rf a№; »"}.action(64 << 10)
	whole := analyser.Analyse(hostileView, action)
	ended := analyser.AnalyseUntil(stop, hostileView, action)
	if len(ended.Impacts) >= len(whole.Impacts) || len(ended.Impacts) == 0 ||
		ended.Impacts[len(ended.Impacts)-1].Confidence != interlock.Unknown {
		t.Errorf("%d impacts of %d, %+v", len(ended.Impacts), len(whole.Impacts), ended.Impacts)
	}
}

// FuzzHostile looks for repetitions that are slower to read than the bounds allow.
func FuzzHostile(f *testing.F) {
	kinds := []string{"shell", "powershell", "cmd", "sql", "python", "javascript", "hint", "text"}
	for _, seed := range [][3]string{{"", "cd d;", ""}, {"echo ", "$(", ")"}, {"a=", "x", "; echo $a"}, {"select ", "(", ""},
		{"f(", "a,", ")"}, {"", "{", ""}, {"ignore ", "all ", "instructions"}, {"", "[[ a ]] && ", ""}} {
		for n := range kinds {
			f.Add(byte(n), seed[0], seed[1], seed[2])
		}
	}
	analyser := impact.NewAnalyser(impacttest.Knowledge(f))
	f.Fuzz(func(t *testing.T, kind byte, before, unit, after string) {
		if unit == "" || len(before)+len(unit)+len(after) > 256 || strings.ContainsAny(before+unit+after, "«»‹›") {
			t.Skip()
		}
		pumped{kinds[int(kind)%len(kinds)], before + "«" + unit + "»" + after}.holds(t, analyser)
	})
}

// BenchmarkHostile reads each hostile input at 130 KB.
func BenchmarkHostile(b *testing.B) {
	analyser := impact.NewAnalyser(impacttest.Knowledge(b))
	for _, p := range hostile(b) {
		action := p.action(130 << 10)
		b.Run(p.kind+" "+strings.ReplaceAll(p.pattern, "/", "÷"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				analyser.Analyse(hostileView, action)
			}
		})
	}
}
