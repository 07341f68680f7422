package interlock_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"interlock/internal/config"
)

// settingsPage writes docs/reference/settings.md from the comments of config.Config, which are the manual.
func settingsPage(source []byte) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "config.go", source, parser.ParseComments)
	if err != nil {
		return "", err
	}
	var page strings.Builder
	page.WriteString("<!-- Generated from the comments of Config in internal/config by: go generate . -->\n# Settings\n\n" +
		"Settings are in `interlock.yaml` in the home directory, or in the file that `--config` names. The file is optional; " +
		"an unknown\n" + "setting or a wrong type is refused with its line. Flags override the file.\n")
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != "Config" {
			return true
		}
		fields, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		for _, field := range fields.Fields.List {
			found = true
			name := settingName(field)
			fmt.Fprintf(&page, "\n## %s\n\n%s\n", name, settingText(strings.Join(strings.Fields(field.Doc.Text()), " ")))
		}
		return false
	})
	if !found {
		return "", fmt.Errorf("config.go: no struct Config with fields")
	}
	page.WriteString(governingTable())
	return page.String(), nil
}

// settingText is a setting's comment as the page has it: a long one has a line for each sentence.
func settingText(comment string) string {
	if len(strings.Fields(comment)) < 60 {
		return comment
	}
	var lines []string
	rest := comment
	for {
		end := sentenceEnd.FindStringIndex(rest)
		if end == nil {
			break
		}
		lines, rest = append(lines, rest[:end[0]+2]), rest[end[1]-1:]
	}
	lines = append(lines, rest)
	return lines[0] + "\n\n* " + strings.Join(lines[1:], "\n* ")
}

// sentenceEnd is where a sentence ends and the next one begins.
var sentenceEnd = regexp.MustCompile("[a-z0-9)`][.] [A-Z`]")

// governingTable is the part of the page that says what it takes to make settings weaker.
func governingTable() string {
	var page strings.Builder
	page.WriteString("\n## What takes an order\n\n" +
		"In a home with operators the file and flags can only make settings stricter: per setting, the stricter of the ordered " +
		"value (or the\n" +
		"default) and the written one is in force. Weaker values have no effect; they are recorded, sent to the channels, " +
		"and shown by\n" +
		"`interlock doctor`, the console and every process that starts. `interlock settings adopt --reason TEXT --key FILE` is an " +
		"admin's order\n" +
		"that puts the current settings into force; `interlock settings show` lists them. The settings that the first operator " +
		"confirms count\n" +
		"as ordered. An order is valid while its giver is an admin with the key that signed it; afterwards only what it tightened " +
		"remains.\n\n| setting | weaker is |\n|---|---|\n")
	for _, g := range config.Settings() {
		if g.Governs() {
			fmt.Fprintf(&page, "| `%s` | %s |\n", g.Name, g.Weaker)
		}
	}
	page.WriteString("\nThe others take no order:\n\n| setting | why |\n|---|---|\n")
	for _, g := range config.Settings() {
		if !g.Governs() {
			fmt.Fprintf(&page, "| `%s` | %s |\n", g.Name, g.Free)
		}
	}
	return page.String()
}

// settingName is the field's name in the settings file, or the field's own name for one that is not in it.
func settingName(field *ast.Field) string {
	if field.Tag != nil {
		if tag, err := strconv.Unquote(field.Tag.Value); err == nil {
			if name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ","); name != "" && name != "-" {
				return "`" + name + "`"
			}
		}
	}
	return field.Names[0].Name + " (a flag only)"
}

//go:generate go test . -run TestSettingsPageIsFresh -update
func TestSettingsPageIsFresh(t *testing.T) {
	const name = "docs/reference/settings.md"
	source, err := os.ReadFile("internal/config/config.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := settingsPage(source)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(name)
	if err != nil || string(have) != page {
		t.Errorf("%s is stale (%v): go generate .", name, err)
	}
}

// mostWords bounds what people wrote for people to read: README.md and the pages of docs, but for those that are generated.
const mostWords = 90000

// TestDocsAreShort counts the words of the pages that are written by hand, and holds generated ones to be apart in
// docs/reference.
func TestDocsAreShort(t *testing.T) {
	words, pages := 0, 0
	for _, name := range repoFiles(t, os.DirFS(".")) {
		if name != "README.md" && !(strings.HasPrefix(name, "docs/") && strings.HasSuffix(name, ".md")) {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case !strings.HasPrefix(string(text), "<!-- Generated "):
			words += len(strings.Fields(string(text)))
			pages++
		case !strings.HasPrefix(name, "docs/reference/"):
			t.Errorf("%s is generated; put it into docs/reference", name)
		}
	}
	if words > mostWords || pages < 100 {
		t.Errorf("%d pages are written by hand, with %d words; at most %d are read", pages, words, mostWords)
	}
}

func TestSettingsPageNeedsASubject(t *testing.T) {
	if _, err := settingsPage([]byte("package config\n")); err == nil {
		t.Error("a page was written about nothing")
	}
}
