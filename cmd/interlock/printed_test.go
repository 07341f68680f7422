package main

import (
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"mvdan.cc/sh/v3/shell"
	"mvdan.cc/sh/v3/syntax"

	"interlock/cmd/interlock/cli"
)

// TestPrintedCommandsAreCommands: every command line of this program that stands in a block of the docs has a command, flags and
// arguments that there are. What it would do is not tried here; the scripts in testdata do that.
func TestPrintedCommandsAreCommands(t *testing.T) {
	found := 0
	for _, root := range []string{"../../README.md", "../../docs", "../../sdk"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".md" && filepath.Ext(path) != ".yml" {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, line := range namedCommands(string(text)) {
				found++
				if problem := parses(line); problem != "" && !incomplete.MatchString(problem) {
					t.Errorf("%s: %s\n\t%s", strings.TrimPrefix(path, "../../"), line, problem)
				}
			}
			for _, line := range printedCommands(string(text), filepath.Ext(path) == ".yml") {
				found++
				if problem := parses(line); problem != "" {
					t.Errorf("%s: %s\n\t%s", strings.TrimPrefix(path, "../../"), line, problem)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 300 {
		t.Errorf("only %d commands were found", found)
	}
}

// named is a command of this program in a sentence. What stands for several, with brackets, bars and the like, is a description of one.
var named = regexp.MustCompile("`(interlock [^`]*)`")

// incomplete is what is wrong with a command that is named without everything it takes.
var incomplete = regexp.MustCompile(`^(missing flags|expected "<|expected one of)|: missing value|got "EOL"`)

// namedCommands are those that sentences name. Texts that are signed begin with the program's name as well.
func namedCommands(page string) (out []string) {
	for _, found := range named.FindAllStringSubmatch(blocks.ReplaceAllString(page, ""), -1) {
		if line := strings.Join(strings.Fields(found[1]), " "); !strings.ContainsAny(line, "[]|…<>*") &&
			!strings.HasSuffix(line, " v1") && !strings.Contains(line, "COMMAND") {
			out = append(out, line)
		}
	}
	return out
}

var blocks = regexp.MustCompile("(?ms)^ *```.*?^ *```$")

// printedCommands are the simple commands of this program in a page's blocks, as their words stand there.
func printedCommands(page string, whole bool) (out []string) {
	block, fenced := false, false
	for _, line := range strings.Split(strings.ReplaceAll(page, "\\\n", " "), "\n") {
		if fence := strings.TrimSpace(line); strings.HasPrefix(fence, "```") {
			block = !block
			fenced = block && (fence == "```" || strings.HasPrefix(fence, "```sh"))
			continue
		}
		if !fenced && !whole || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		file, err := syntax.NewParser().Parse(strings.NewReader(strings.TrimSpace(line)), "")
		if err != nil {
			continue // no shell
		}
		syntax.Walk(file, func(n syntax.Node) bool {
			call, ok := n.(*syntax.CallExpr)
			if ok && len(call.Args) > 0 && call.Args[0].Lit() == "interlock" {
				text := strings.TrimSpace(line)
				out = append(out, text[call.Args[0].Pos().Offset():call.End().Offset()])
			}
			return true
		})
	}
	return out
}

var substitution = regexp.MustCompile(`\$\([^)]*\)`)

// parses says why a command line is none, or nothing. Words that stand for others, as NAME and FILE do, are words.
func parses(line string) string {
	words, err := shell.Fields(substitution.ReplaceAllString(line, "WORD"), func(name string) string { return "$" + name })
	if err != nil {
		return err.Error()
	}
	p := &cli.Program{Getenv: func(string) string { return "" }, Stdout: new(strings.Builder), Stderr: new(strings.Builder)}
	helped := false
	parser, err := newParser(p, commandsFor(asHelp(words[1:])), kong.Exit(func(int) { helped = true }))
	if err != nil {
		return err.Error()
	}
	if args := words[1:]; len(args) == 1 && args[0] == "--version" {
		return ""
	}
	if _, err := parser.Parse(asHelp(words[1:])); err != nil && !helped && !strings.Contains(err.Error(), "no such file or directory") {
		return err.Error()
	}
	return ""
}

// TestPagesPrintCommands: every command that a page of the console names, or a refusal there, is one. A page may name it without its
// arguments.
func TestPagesPrintCommands(t *testing.T) {
	found := 0
	pages, err := filepath.Glob("../../internal/console/templates/*.html")
	sources, sourcesErr := filepath.Glob("../../internal/console/*.go")
	if err != nil || sourcesErr != nil || len(pages) == 0 {
		t.Fatal(err, sourcesErr)
	}
	printed := regexp.MustCompile("(?:<code>|<pre>|`)(interlock [^<`\"]*)")
	for _, path := range append(pages, sources...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, match := range printed.FindAllStringSubmatch(string(text), -1) {
			line := html.UnescapeString(regexp.MustCompile(`{{[^}]*}}`).ReplaceAllString(match[1], "NAME"))
			found++
			problem := parses(line)
			without := strings.HasPrefix(problem, "expected ") || strings.HasPrefix(problem, "missing flags") || strings.Contains(problem, `got "EOL"`)
			if problem != "" && !without {
				t.Errorf("%s: %s\n\t%s", filepath.Base(path), line, problem)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d commands were found", found)
	}
}
