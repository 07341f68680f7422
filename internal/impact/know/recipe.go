package know

import (
	"fmt"
	"slices"
	"strings"
)

// checkRecipe refuses a recipe of a format that nobody reads.
func checkRecipe(recipe string) error {
	for part := range strings.SplitSeq(recipe, ";") {
		kind, _, _ := strings.Cut(strings.TrimSpace(part), " ")
		if kind = strings.TrimPrefix(kind, "own-"); !slices.Contains(recipeKinds(), kind) {
			return fmt.Errorf("unknown recipe %q", recipe)
		}
	}
	return nil
}

// recipeKinds lists the formats of files that say what a tool runs.
func recipeKinds() []string {
	return []string{"", "make", "install", "script", "just", "tasks", "ini", "python", "javascript", "ruby", "rake",
		"gradle", "cmake",
		"composer", "toml", "cargo", "compose", "procfile", "ant", "setup", "registries", "other", "shell"}
}
