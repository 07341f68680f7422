package interlock_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"interlock/internal/secret"
	"interlock/spec"
)

// knownTexts lists what looks like a secret in this repository and is none, one a line: the beginning of the text's SHA-256, the kind it
// is taken for, a file that has it, and why it is none. It names texts and not files, so that a real secret is found wherever it stands.
const knownTexts = "testdata/looks-secret.tsv"

// unsearched are files that are made from others, whose words change with them, and why nothing can stand there alone.
var unsearched = map[string]string{
	"bench/eval.md":       "names of cases, with digests in them",
	"rules/defaults.json": "the tables of rules/, which are searched",
}

// textDigest names a text without saying it.
func textDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// checkCredentials holds that no credential stands in a source, a setting, an example or a page (ASA 11.3), by the program's own
// detectors.
func checkCredentials(t *testing.T, root fs.FS) []string {
	var problems []string
	known, used := map[string]bool{}, map[string]bool{}
	if list, err := fs.ReadFile(root, knownTexts); err == nil {
		for n, line := range strings.Split(strings.TrimSpace(string(list)), "\n") {
			fields := strings.Split(line, "\t")
			if len(fields) != 4 || len(fields[0]) != 12 || fields[3] == "" {
				problems = append(problems, fmt.Sprintf("%s:%d: is not digest, kind, file and reason", knownTexts, n+1))
				continue
			}
			known[fields[0]] = true
		}
	}
	for _, name := range repoFiles(t, root) {
		if unsearched[name] != "" || strings.HasSuffix(name, ".png") { // nobody reads a text in a picture's bytes
			continue
		}
		text := string(read(t, root, name))
		for _, span := range secret.Find(text) {
			digest := textDigest(text[span.Start:span.End])
			if known[digest] {
				used[digest] = true
				continue
			}
			line := 1 + strings.Count(text[:span.Start], "\n")
			problems = append(problems, fmt.Sprintf("%s:%d: holds what looks like a secret (%s, %s); take it out, and where it is none "+
				"list it in %s", name, line, span.Kind, digest, knownTexts))
		}
	}
	for _, digest := range slices.Sorted(maps.Keys(known)) {
		if !used[digest] {
			problems = append(problems, fmt.Sprintf("%s: %s is not found any more; take the line out", knownTexts, digest))
		}
	}
	return problems
}

func TestNoCredentialStandsInTheRepository(t *testing.T) {
	spec.Covers(t, "ASA-11.3-1")
	for _, problem := range checkCredentials(t, os.DirFS(".")) {
		t.Error(problem)
	}
}

// TestTheSearchForCredentialsBites gives it repositories with a secret in a source, in settings and in a page, and with a list that is
// wrong. The token is put together here, or this file would hold one.
func TestTheSearchForCredentialsBites(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2c3", 6)
	row := func(text, why string) string { return textDigest(text) + "\tgithub-token\ta.go\t" + why + "\n" }
	for name, c := range map[string]struct {
		files map[string]string
		want  string // of the only problem; empty: none
	}{
		"in a source":  {map[string]string{"a.go": "package a\n\nconst t = \"" + token + "\"\n"}, "a.go:3: holds what looks like a secret"},
		"in settings":  {map[string]string{"docs/interlock.yaml": "token: " + token + "\n"}, "docs/interlock.yaml:1: holds"},
		"in a page":    {map[string]string{"docs/a.md": "Try `" + token + "`.\n"}, "docs/a.md:1: holds"},
		"a reference":  {map[string]string{"docs/interlock.yaml": "token: env:TOKEN\n"}, ""},
		"a listed one": {map[string]string{"a.go": token, knownTexts: row(token, "made up")}, ""},
		"another than listed": {map[string]string{"a.go": token + " ghp_" + strings.Repeat("z9Y8x7", 6), knownTexts: row(token, "made up")},
			"a.go:1: holds"},
		"listed for nothing": {map[string]string{"a.go": "", knownTexts: row(token, "made up")},
			knownTexts + ": " + textDigest(token) + " is not found any more"},
		"listed without why": {map[string]string{"a.go": "", knownTexts: row(token, "")}, knownTexts + ":1: is not digest"},
	} {
		root := make(fstest.MapFS)
		for file, text := range c.files {
			root[file] = &fstest.MapFile{Data: []byte(text)}
		}
		problems := checkCredentials(t, root)
		if (c.want == "") != (len(problems) == 0) || len(problems) > 1 || c.want != "" && !strings.HasPrefix(problems[0], c.want) {
			t.Errorf("%s: %q, want %q", name, problems, c.want)
		}
	}
}
