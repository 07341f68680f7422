package config

import (
	"slices"
	"testing"

	"interlock"
	"interlock/internal/ruleset"
	"interlock/rules"
)

// TestStrictness: of the profiles that count as stricter than another, each asks or denies wherever that one does: every kind, reach,
// reversibility and confidence, with every one and two of the traits that their tables speak of.
func TestStrictness(t *testing.T) {
	set, err := ruleset.Load(rules.Defaults(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for below, above := range stricterProfiles() {
		for _, name := range above {
			mild, okMild := set.Profile(below)
			strict, okStrict := set.Profile(name)
			if !okMild || !okStrict {
				t.Fatalf("there is no profile %s or %s", below, name)
			}
			holds(t, mild, strict)
		}
	}
}

// holds fails if one profile is not as strict as another somewhere.
func holds(t *testing.T, mild, strict *ruleset.Profile) {
	t.Helper()
	if strict.Trust > mild.Trust || strict.Risk > mild.Risk || strict.Empty.Compare(mild.Empty) < 0 {
		t.Errorf("%s trusts %s, asks from %d on and says %s to nothing; %s %s, %d and %s", strict.Name, strict.Trust, strict.Risk,
			strict.Empty, mild.Name, mild.Trust, mild.Risk, mild.Empty)
	}
	wrong := 0
	impacts(spokenOf(mild, strict), func(i *interlock.Impact) {
		if says(strict, i).Compare(says(mild, i)) < 0 && wrong < 3 {
			wrong++
			t.Errorf("%s says %s to %+v, and %s %s", strict.Name, says(strict, i), *i, mild.Name, says(mild, i))
		}
	})
}

func says(p *ruleset.Profile, i *interlock.Impact) interlock.Verdict {
	if row := p.Row(i); row != nil {
		return row.Verdict
	}
	return interlock.Ask
}

// spokenOf are the traits that the tables of profiles speak of.
func spokenOf(profiles ...*ruleset.Profile) (traits []string) {
	for _, p := range profiles {
		for _, row := range p.Rows {
			traits = slices.Concat(traits, row.When.Traits.All, row.When.Traits.Any, row.When.Traits.None)
		}
	}
	slices.Sort(traits)
	return slices.Compact(traits)
}

func impacts(traits []string, each func(*interlock.Impact)) {
	sets := [][]string{nil}
	for n, one := range traits {
		sets = append(sets, []string{one})
		for _, other := range traits[n+1:] {
			sets = append(sets, []string{one, other})
		}
	}
	for _, kind := range interlock.ImpactKinds() {
		for _, reach := range interlock.Reaches() {
			for _, reversibility := range interlock.Reversibilities() {
				for _, confidence := range interlock.Confidences() {
					for _, set := range sets {
						each(&interlock.Impact{Kind: kind, Reach: reach, Reversibility: reversibility, Confidence: confidence,
							Traits: set, Target: "/opt/x", Via: "git push"})
					}
				}
			}
		}
	}
}
