package embedded

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/config"
)

const (
	noPackages = "rules: [{id: team.npm, layer: 3, verdict: deny, reason: no packages here, match: {glob: [\"npm install*\"]}}]"
	noTouching = "rules: [{id: team.touch, layer: 3, verdict: deny, reason: no touching, match: {glob: [\"touch *\"]}}]"
)

func writeRules(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// rulesInForce are the rules that a process would decide by that starts now in a home.
func rulesInForce(t *testing.T, home string) string {
	t.Helper()
	c, err := config.Load(home, "")
	if err != nil {
		t.Fatal(err)
	}
	documents, err := UserRules(c.Rules)
	if err != nil {
		t.Fatal(err)
	}
	texts := ""
	for name, text := range documents { // any order: one here
		texts += name + ": " + string(text)
	}
	return texts
}

// A promotion is two renames. Whoever starts between them, or after a crash there, decides by the rules that the order is about, and
// never by none.
func TestNobodyDecidesWithoutRulesWhileTheyAreReplaced(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "rules")
	writeRules(t, dir, "team.yaml", noPackages)
	writeRules(t, dir+staged, "team.yaml", noTouching)
	if got := rulesInForce(t, home); got != "team.yaml: "+noPackages {
		t.Errorf("before the order is recorded: %s", got)
	}
	writeRules(t, dir+promoted, "team.yaml", noTouching) // as a crash before the first rename leaves it
	if got := rulesInForce(t, home); got != "team.yaml: "+noPackages {
		t.Errorf("before the first rename: %s", got)
	}
	if err := os.Rename(dir, dir+".before"); err != nil {
		t.Fatal(err)
	}
	if got := rulesInForce(t, home); got != "team.yaml: "+noTouching {
		t.Errorf("between the renames: %s", got)
	}
	if err := settle(dir); err != nil {
		t.Fatal(err)
	}
	if got := rulesInForce(t, home); got != "team.yaml: "+noTouching {
		t.Errorf("settled: %s", got)
	}
	if _, err := os.Lstat(dir + promoted); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is settled is there still: %v", err)
	}
	former, err := replace(dir, dir+".former")
	if err != nil || former != dir+".former" || rulesInForce(t, home) != "team.yaml: "+noTouching {
		t.Errorf("%q, %v, %s", former, err, rulesInForce(t, home))
	}
}

// What is put into the place of the rules is read back first: the digest in an order is over contents, and names decide what is read.
func TestWhatIsStagedIsHeldAgainstTheOrder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rules")
	rules, err := candidate(map[string][]byte{"team.yaml": []byte(noPackages)})
	if err != nil {
		t.Fatal(err)
	}
	want := string(rules.Digest())
	if err := prepare(dir, map[string]string{"other.yml": noPackages}, want); err != nil {
		t.Errorf("%v", err)
	}
	for what, documents := range map[string]map[string]string{
		"a name that nobody reads": {"team.txt": noPackages},
		"another text":             {"team.yaml": noTouching},
		"more":                     {"team.yaml": noPackages, "more.yaml": noTouching},
		"nothing":                  {},
		"a name elsewhere":         {"../team.yaml": noPackages},
	} {
		if err := prepare(dir, documents, want); err == nil {
			t.Errorf("%s is put into place", what)
		}
	}
}

// Rules that can't be read, or would be passed over, are an error: without them less is objected to.
func TestRulesAreReadOrRefused(t *testing.T) {
	for name, lay := range map[string]func(dir, elsewhere string) error{
		"a file":            func(dir, _ string) error { return os.WriteFile(dir, nil, 0o600) },
		"a link to nothing": func(dir, _ string) error { return os.Symlink("nowhere", dir) },
		"a directory linked": func(dir, other string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Symlink(other, dir+"/more"))
		},
		"a rule linked to nothing": func(dir, _ string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Symlink("nowhere", dir+"/team.yaml"))
		},
	} {
		home, elsewhere := t.TempDir(), t.TempDir()
		writeRules(t, elsewhere, "team.yaml", noPackages)
		if err := lay(filepath.Join(home, "rules"), elsewhere); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(home, "")
		if err == nil {
			_, err = UserRules(c.Rules)
		}
		if err == nil || !strings.Contains(err.Error(), "--rules") {
			t.Errorf("%s: %v", name, err)
		}
	}
	home, elsewhere := t.TempDir(), t.TempDir()
	writeRules(t, elsewhere, "team.yaml", noPackages)
	if err := os.Symlink(elsewhere, filepath.Join(home, "rules")); err != nil {
		t.Fatal(err)
	}
	if got := rulesInForce(t, home); got != "team.yaml: "+noPackages {
		t.Errorf("of a directory that is linked: %q", got)
	}
}
