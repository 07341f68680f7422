package know

import (
	"math/rand/v2"
	"strings"
	"testing"

	"interlock/rules"
)

// TestLettersRefuseNothingMeant: comparing letters first refuses no pattern that could be filled in to be a protected name.
func TestLettersRefuseNothingMeant(t *testing.T) {
	k, err := Parse(rules.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []*PathTable{k.PathTable(), k.FoldedPaths()} {
		met, held := 0, 0
		for _, name := range disguised(table) {
			for _, keys := range []*nameKeys{&table.rootKeys, &table.homeKeys, &table.anyKeys} {
				for i, key := range keys.names {
					for _, anchored := range []bool{true, false} {
						meant := mayCoverParts([]string{key}, name, true, anchored).Covers
						if meant && !lettersSpelled(name).within(keys.has[i]) {
							t.Fatalf("%q could be %q, and its letters say it can't", name, key)
						}
						if meant && !anchored && key != "*" && IsGlob(name) && LettersOf(name) == 0 {
							t.Fatalf("%q spells nothing and is taken for %q", name, key)
						}
					}
				}
			}
			last := lastNameOf(name)
			for i := range table.wild {
				w := &table.wild[i]
				meant := w.Covers(name) || w.MayCover(name, false).Covers
				if held++; meant {
					met++
				}
				if meant && !last.mayBe(&table.wildNames[i]) {
					t.Fatalf("%q could be %q, and its letters say it can't", name, w.Parts)
				}
			}
		}
		if met == 0 || 10*met > held {
			t.Errorf("%d of %d patterns are meant: they try nothing", met, held)
		}
	}
}

// disguised are the table's own names and parts of them, as they are and with signs of patterns put in.
func disguised(table *PathTable) (out []string) {
	random := rand.New(rand.NewPCG(1, 2))
	var names []string
	for _, keys := range []*nameKeys{&table.rootKeys, &table.homeKeys, &table.anyKeys} {
		names = append(names, keys.names...)
	}
	for _, w := range table.wild {
		names = append(names, strings.ReplaceAll(w.Parts[0], "*", "made"), w.Parts[0])
	}
	signs := []string{"*", "?", "[a-z.]", "[!x]", "[", "]", "**", ".", "[.]"}
	for i, name := range names {
		out = append(out, name)
		for range 6 {
			from := random.IntN(len(name) + 1)
			to := from + random.IntN(len(name)+1-from)
			glob := name[:from] + signs[random.IntN(len(signs))] + name[to:]
			if random.IntN(2) == 0 {
				at := random.IntN(len(glob) + 1)
				glob = glob[:at] + signs[random.IntN(len(signs))] + glob[at:]
			}
			out = append(out, glob)
		}
		if name != "" && i%40 == 0 {
			out = append(out, strings.Repeat("*", MaxGlobbed)+name, strings.Repeat(name+"*", MaxGlobbed/len(name)+1))
		}
	}
	return out
}
