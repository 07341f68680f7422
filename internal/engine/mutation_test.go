package engine

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact/fact"
)

// A respelling writes a script otherwise so that it still does the same.
type respelling struct {
	name   string
	benign bool // it is how people write, so that what passes must pass so spelled
	weak   bool // nobody can know for certain that it still does the same, so that asking is enough
	hidden bool // what runs is decoded first; one such layer is taken off, so that asking is enough for two
	apply  func(r *rand.Rand, script string) (string, bool)
}

func respellings() []respelling {
	var out []respelling
	for _, list := range [][]respelling{wordSpellings(), wrappers(), places(), encodings(), pathSpellings(), flagSpellings(), layouts()} {
		out = append(out, list...)
	}
	return out
}

var (
	mutations    = flag.Int("mutations", 40, "how many times each command of testdata/mutation is spelled otherwise")
	mutationSeed = flag.Uint64("mutation-seed", 1, "what the choice of spellings begins with")
)

// A plainCommand is one row of testdata/mutation.
type plainCommand struct {
	kind, command string
	verdict       interlock.Verdict // as it is spelled there
}

func readCommands(t *testing.T, name string) []plainCommand {
	t.Helper()
	file, err := os.Open("testdata/mutation/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var out []plainCommand
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		var c plainCommand
		c.kind, line, _ = strings.Cut(line, " ")
		if c.command = strings.TrimLeft(line, " "); c.command == "" {
			t.Fatalf("%s: a row without a command", name)
		}
		c.verdict, _ = verdictOf(t, c.command)
		out = append(out, c)
	}
	return out
}

// verdictOf decides a script, and reports whether it was too deep or too long to be read to its end. What is behind such a
// bound can't be known, and asking is all that is promised.
func verdictOf(t *testing.T, script string) (verdict interlock.Verdict, bounded bool) {
	action := interlock.Action{Kind: interlock.KindShell, Tool: "Bash", Input: script, Dir: "/home/user/project"}
	snapshot := standing()
	analysis := analyser(t).Analyse(snapshot.View, action)
	for _, i := range analysis.Impacts {
		bounded = bounded || i.Confidence == interlock.Unknown && (i.Has(fact.TraitNested) || i.Has(fact.TraitWork))
	}
	return Decide(shipped(t), snapshot, action, analysis, nil, nil, noon).Verdict, bounded
}

// TestMutationTable holds that the bad are stopped and the benign pass when they are spelled plainly.
func TestMutationTable(t *testing.T) {
	for _, file := range []string{"bad.txt", "benign.txt"} {
		rows := readCommands(t, file)
		if len(rows) < 120 {
			t.Errorf("%s has %d rows, fewer than 120", file, len(rows))
		}
		for _, c := range rows {
			if (c.verdict == interlock.Allow) != (file == "benign.txt") {
				t.Errorf("%s: %q is %v", file, c.command, c.verdict)
			}
		}
	}
}

// TestRespelledBadCommandsStayStopped spells every known-bad command otherwise, again and again, and holds that no
// spelling loosens its verdict.
func TestRespelledBadCommandsStayStopped(t *testing.T) {
	respellAll(t, "bad.txt", func(respelling) bool { return true }, func(c plainCommand, weak bool, got interlock.Verdict) bool {
		if weak {
			return got.Compare(interlock.Ask) >= 0
		}
		return got.Compare(c.verdict) >= 0
	})
}

// TestRespelledBenignCommandsPass spells every benign command as people do, and holds that each still passes.
func TestRespelledBenignCommandsPass(t *testing.T) {
	respellAll(t, "benign.txt", func(s respelling) bool { return s.benign }, func(_ plainCommand, _ bool, got interlock.Verdict) bool {
		return got == interlock.Allow
	})
}

const maxChain = 3 // respellings on top of one another

func respellAll(t *testing.T, file string, usable func(respelling) bool, holds func(c plainCommand, weak bool, got interlock.Verdict) bool) {
	var usables []respelling
	for _, s := range respellings() {
		if usable(s) {
			usables = append(usables, s)
		}
	}
	seen := map[string]bool{}
	for row, c := range readCommands(t, file) {
		for n := range *mutations {
			choice := rand.New(rand.NewPCG(*mutationSeed, uint64(row)<<32|uint64(n)))
			chain := make([]link, 1+choice.IntN(maxChain))
			for i := range chain {
				chain[i] = link{usables[choice.IntN(len(usables))], choice.Uint64()}
			}
			fails := func(chain []link) bool {
				script, weak := respell(c.command, chain)
				got, bounded := verdictOf(t, script)
				return !holds(c, weak || bounded, got)
			}
			if !fails(chain) {
				continue
			}
			chain = smallest(chain, fails)
			script, _ := respell(c.command, chain)
			got, _ := verdictOf(t, script)
			key := c.command
			for _, l := range chain {
				key += "\x00" + l.name
			}
			if !seen[key] {
				seen[key] = true
				t.Errorf("%v -> %v: %q\n\tseed %d, row %d, round %d: %s\n\t%.400q", c.verdict, got, c.command, *mutationSeed, row, n, names(chain), script)
			}
		}
	}
}

// A link is a respelling with the random choices it makes.
type link struct {
	respelling
	seed uint64
}

// respell applies the links that fit, in order, and reports whether one of them leaves doubt. One encoding on top of another
// does: one layer is sure to be taken off, and what stands beneath a second may be asked about instead of denied, as the
// threat model says. It may never pass.
func respell(script string, chain []link) (string, bool) {
	weak, layers := false, 0
	for _, l := range chain {
		out, ok := l.apply(rand.New(rand.NewPCG(l.seed, 0)), script)
		if !ok || len(out) > 64<<10 || parseScript(out) == nil {
			continue
		}
		if l.hidden || strings.HasPrefix(l.name, "printf ") || strings.Contains(l.name, "escapes") {
			layers++
		}
		script, weak = out, weak || l.weak || layers > 1
	}
	return script, weak
}

// smallest drops links that the failure does not need.
func smallest(chain []link, fails func([]link) bool) []link {
	for i := 0; i < len(chain); {
		shorter := append(append([]link(nil), chain[:i]...), chain[i+1:]...)
		if fails(shorter) {
			chain, i = shorter, 0
			continue
		}
		i++
	}
	return chain
}

func names(chain []link) string {
	var out []string
	for _, l := range chain {
		out = append(out, fmt.Sprintf("%s (%d)", strings.ReplaceAll(l.name, "\n", `\n`), l.seed))
	}
	return strings.Join(out, ", then ")
}
