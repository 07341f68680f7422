package engine

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// tableWith is the shipped table and one gate more, which objects with a rule of the profile, behind the gate of the rules.
func tableWith(row gate.Row, verdict interlock.Verdict, heuristic bool) gate.Table {
	row.Name = "fresh"
	row.Check = func(*ruleset.Ruleset, interlock.Snapshot, interlock.Action, impact.Analysis) []interlock.Finding {
		return []interlock.Finding{{Gate: "fresh", Rule: "profile.guard.secret-read", Layer: 3, Verdict: verdict,
			Heuristic: heuristic, Reason: "freshly objected", Impacts: []int{0}}}
	}
	return slices.Insert(slices.Clone(gate.Gates()), 1, row)
}

// decideBy decides about reading a file, to which only the added gate objects.
func decideBy(t *testing.T, table gate.Table, edit func(*interlock.Snapshot, *interlock.Action)) interlock.Decision {
	snapshot := interlock.Snapshot{Version: 1, Profile: "guard", Attended: true, Agent: interlock.AgentRecord{ID: "claude"},
		View: interlock.View{Home: "/home/dev", Workspace: "/repo"}}
	action := interlock.Action{Kind: interlock.KindShell, Input: "cat a.txt", Dir: "/repo"}
	if edit != nil {
		edit(&snapshot, &action)
	}
	return decide(table, table, "", teamRules(t), snapshot, action, analyser(t).Analyse(snapshot.View, action), nil, nil, noon)
}

// TestAGateIsItsRow: a gate that is added to the table is named, told, suppressed and put at its tier as its row says.
func TestAGateIsItsRow(t *testing.T) {
	plain := decideBy(t, tableWith(gate.Row{}, interlock.Ask, false), nil)
	if plain.Verdict != interlock.Ask || plain.Decisive() == nil || plain.Decisive().Gate != "fresh" {
		t.Fatalf("an added gate does not object: %v %+v", plain.Verdict, plain.Findings)
	}
	if plain.Decisive().Reason == "freshly objected" {
		t.Error("its reason does not tell what it is about")
	}

	silent := func(s *interlock.Snapshot, _ *interlock.Action) {
		s.Suppressions = []interlock.Suppression{order("profile.guard.secret-read")}
	}
	for _, suppressible := range []bool{false, true} {
		d := decideBy(t, tableWith(gate.Row{Suppressible: suppressible}, interlock.Ask, false), silent)
		if (d.Verdict == interlock.Allow) != suppressible {
			t.Errorf("suppressible %v: %v", suppressible, d.Verdict)
		}
	}

	step := func(s *interlock.Snapshot, _ *interlock.Action) { s.Loop = &interlock.Loop{} }
	for forbids, want := range map[bool]interlock.Tier{false: interlock.TierConfirm, true: interlock.TierDangerZone} {
		if d := decideBy(t, tableWith(gate.Row{Forbids: forbids}, interlock.Deny, false), step); d.Tier != want {
			t.Errorf("forbids %v: tier %v, want %v", forbids, d.Tier, want)
		}
	}
	found := []interlock.Finding{{Gate: "fresh", Layer: 3, Verdict: interlock.Ask}}
	for base, left := range map[bool]int{false: 1, true: 0} {
		if n := len(withoutApproved(tableWith(gate.Row{Base: base}, interlock.Ask, false), found)); n != left {
			t.Errorf("base %v: %d findings are left, want %d", base, n, left)
		}
	}
}

// TestOrderIsTheTables: of equally strict findings the one whose gate stands first is named first, wherever it was found.
func TestOrderIsTheTables(t *testing.T) {
	var found []interlock.Finding
	table := gate.Gates()
	for _, row := range table {
		found = append(found, interlock.Finding{Gate: row.Name, Layer: 2, Verdict: interlock.Deny})
	}
	found = append(found, interlock.Finding{Gate: "a gate nobody knows", Layer: 2, Verdict: interlock.Deny})
	backwards := slices.Clone(found)
	slices.Reverse(backwards)
	for n, f := range ordered(table, backwards) {
		if f.Gate != found[n].Gate {
			t.Fatalf("place %d: %s, want %s", n, f.Gate, found[n].Gate)
		}
	}
}

// TestNobodyElseKnowsGatesByName: what a gate's row says is asked of the row, in this package and in every door.
func TestNobodyElseKnowsGatesByName(t *testing.T) {
	named := regexp.MustCompile(`\bGate: +"([^"]*)"`)
	for _, path := range goFiles(t, "../..") {
		for n, line := range strings.Split(read(t, path), "\n") {
			if strings.Contains(line, ".Gate == \"") || strings.Contains(line, ".Gate != \"") || strings.Contains(line, "switch f.Gate") {
				t.Errorf("%s:%d compares a gate by its name; let the table of package gate say what it wants to know", path, n+1)
			}
			for _, m := range named.FindAllStringSubmatch(line, -1) {
				if gate.Gates().Place(m[1]) == len(gate.Gates()) {
					t.Errorf("%s:%d: gate %q has no row in the table of package gate", path, n+1, m[1])
				}
			}
		}
	}
}

// goFiles are the Go files of the module but for tests.
func goFiles(t *testing.T, root string) []string {
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			out = append(out, path)
		}
		return err
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("no files found: %v", err)
	}
	return out
}

func read(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
