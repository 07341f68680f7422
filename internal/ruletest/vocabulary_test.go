package ruletest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"interlock/internal/impact/fact"
)

// The list of traits must not fall behind the constants.
func TestTraitsListIsComplete(t *testing.T) {
	files, err := filepath.Glob("../impact/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no sources found", err)
	}
	constant := regexp.MustCompile(`(?m)^\s*Trait\w+\s*=\s*"([a-z-]+)"`)
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range constant.FindAllSubmatch(source, -1) {
			if !slices.Contains(fact.Traits(), string(m[1])) {
				t.Errorf("%s: the trait %s is missing from fact.Traits", file, m[1])
			}
		}
	}
}
