package ruleset_test

import (
	"slices"
	"strings"
	"testing"

	"interlock/internal/ruleset"
)

// TestMaso: a tier is from 0 to 3, of several documents the highest is in force, and one that becomes lower denies less.
func TestMaso(t *testing.T) {
	load := func(documents ...string) (*ruleset.Ruleset, error) {
		user := map[string][]byte{}
		for n, text := range documents {
			user[string(rune('a'+n))+".yaml"] = []byte(text)
		}
		return ruleset.Load(nil, user)
	}
	for name, c := range map[string]struct {
		documents []string
		tier      int
		refusal   string
	}{
		"nothing is said": {nil, 0, ""},
		"one":             {[]string{"maso: {tier: 2}"}, 2, ""},
		"the highest":     {[]string{"maso: {tier: 1}", "maso: {tier: 3}", "maso: {tier: 0}"}, 3, ""},
		"too high":        {[]string{"maso: {tier: 4}"}, 0, "tier must be from 0, which is off, to 3"},
		"below":           {[]string{"maso: {tier: -1}"}, 0, "tier must be from 0, which is off, to 3"},
		"a word":          {[]string{"maso: {tier: high}"}, 0, "maso"},
		"not known":       {[]string{"maso: {tiers: 1}"}, 0, "tiers"},
	} {
		set, err := load(c.documents...)
		switch {
		case c.refusal == "" && err != nil, c.refusal != "" && (err == nil || !strings.Contains(err.Error(), c.refusal)):
			t.Errorf("%s: %v", name, err)
		case err == nil && set.Maso().Tier != c.tier:
			t.Errorf("%s: tier %d", name, set.Maso().Tier)
		}
	}
	high, _ := load("maso: {tier: 2}")
	low, _ := load("maso: {tier: 1}")
	for _, c := range []struct {
		from, to *ruleset.Ruleset
		loosens  bool
	}{{high, low, true}, {low, high, false}, {high, high, false}} {
		if less, err := ruleset.Loosened(c.from, c.to); err != nil || slices.Contains(less, "maso") != c.loosens {
			t.Errorf("%v, %v", less, err)
		}
	}
	if high.Digest() == low.Digest() {
		t.Error("a tier is no part of what names a ruleset")
	}
}
