package interlock_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"
)

// unkept are directories that are no part of the repository's text: what git ignores, and what others wrote.
var unkept = []string{".git", "bin", "dist", "site", "var", "node_modules", "bench/peer"}

// repoFiles returns the names of the repository's files below root, sorted, with slashes.
func repoFiles(t *testing.T, root fs.FS) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains(unkept, name) || slices.Contains(unkept, path.Base(name)) {
				return fs.SkipDir
			}
			return nil
		}
		names = append(names, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func read(t *testing.T, root fs.FS, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(root, name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A repoCheck looks at the repository as a file system and returns what is wrong with it.
type repoCheck func(t *testing.T, root fs.FS) []string

// maxLines is where a file begins to hide something. Tests and generated files may be longer.
const maxLines = 500

func checkGoFiles(t *testing.T, root fs.FS) []string {
	var problems []string
	for _, name := range repoFiles(t, root) {
		if path.Ext(name) != ".go" || strings.Contains(name, "testdata/") {
			continue
		}
		source := read(t, root, name)
		formatted, err := format.Source(source)
		if err != nil || !bytes.Equal(formatted, source) {
			problems = append(problems, name+": not in gofmt form")
		}
		lines := bytes.Count(source, []byte("\n"))
		if lines > maxLines && !strings.HasSuffix(name, "_test.go") && !generated.Match(source) {
			problems = append(problems, fmt.Sprintf("%s: %d lines, more than %d", name, lines, maxLines))
		}
	}
	return problems
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// markdownLink finds [text](target) and <img src="target">, and leaves code alone because code is cut out before.
var (
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)(?:\s+"[^"]*")?\)`)
	markdownCode = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	heading      = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	notAnchor    = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

func checkLinks(t *testing.T, root fs.FS) []string {
	var problems []string
	for _, name := range repoFiles(t, root) {
		if path.Ext(name) != ".md" || strings.Contains(name, "testdata/") || name == "bench/run/method.md" { // part of bench/README.md
			continue
		}
		text := markdownCode.ReplaceAllString(string(read(t, root, name)), "")
		for _, match := range markdownLink.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			info, err := fs.Stat(root, file)
			if err != nil {
				problems = append(problems, fmt.Sprintf("%s: %s leads nowhere", name, match[1]))
				continue
			}
			if anchor != "" && !info.IsDir() && !hasAnchor(string(read(t, root, file)), anchor) {
				problems = append(problems, fmt.Sprintf("%s: %s has no heading #%s", name, file, anchor))
			}
		}
	}
	return problems
}

// hasAnchor reports whether a page has a heading whose anchor, as GitHub makes it, is the given one.
func hasAnchor(page, anchor string) bool {
	for _, match := range heading.FindAllStringSubmatch(page, -1) {
		title := strings.ReplaceAll(strings.ToLower(match[1]), "`", "")
		if strings.ReplaceAll(notAnchor.ReplaceAllString(title, ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}

func checkReadme(t *testing.T, root fs.FS) []string {
	text := string(read(t, root, "README.md"))
	var problems []string
	for _, want := range []string{"make run", "make test"} {
		if !strings.Contains(text, want) {
			problems = append(problems, "README.md does not mention `"+want+"`")
		}
	}
	return problems
}

// foreignTraces are texts that tell of the machine a file was written on: the hosts its modules come from and where it
// keeps them. The checkout's own path is not among them, because it may be as ordinary as /repo.
func foreignTraces(t *testing.T) []string {
	settings, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache, proxies, _ := strings.Cut(string(settings), "\n")
	traces := []string{cache}
	for _, proxy := range strings.FieldsFunc(proxies, func(r rune) bool { return r == ',' || r == '|' || r == '\n' }) {
		if u, err := url.Parse(proxy); err == nil && u.Host != "" {
			traces = append(traces, u.Host)
		}
	}
	return traces
}

func checkTraces(t *testing.T, root fs.FS) []string {
	traces := foreignTraces(t)
	var problems []string
	for _, name := range repoFiles(t, root) {
		if strings.HasPrefix(name, "bench/corpus/") {
			continue
		}
		data := read(t, root, name)
		for _, trace := range traces {
			if bytes.Contains(data, []byte(trace)) {
				problems = append(problems, fmt.Sprintf("%s: mentions %s", name, trace))
			}
		}
	}
	return problems
}

// checkDependencyPage wants a line of docs/decisions/0001-dependencies.md for each module the sources import, go.mod to
// call it direct, and no line for modules that are not imported.
func checkDependencyPage(t *testing.T, root fs.FS) []string {
	const page = "docs/decisions/0001-dependencies.md"
	mod, err := modfile.Parse("go.mod", read(t, root, "go.mod"), nil)
	if err != nil {
		t.Fatal(err)
	}
	imported := make(map[string]bool)
	for _, name := range repoFiles(t, root) {
		if path.Ext(name) != ".go" || strings.Contains(name, "testdata/") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, read(t, root, name), parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			imported[p] = true
		}
	}
	text := string(read(t, root, page))
	var problems []string
	for _, require := range mod.Require {
		module := require.Mod.Path
		direct := false
		for p := range imported {
			if p == module || strings.HasPrefix(p, module+"/") {
				direct = true
			}
		}
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta("`"+module+"`") + ` \|.*\S.*\|.*\S.*\|$`)
		switch {
		case direct && !row.MatchString(text):
			problems = append(problems, fmt.Sprintf("%s: no row for %s, which is imported", page, module))
		case direct && require.Indirect:
			problems = append(problems, fmt.Sprintf("go.mod: %s is imported and marked indirect", module))
		case !direct && strings.Contains(text, "| `"+module+"` |"):
			problems = append(problems, fmt.Sprintf("%s: %s has a row and nothing imports it", page, module))
		}
	}
	return problems
}

// checkTests wants every fuzz target to name its property and bring seeds, and no test to skip.
func checkTests(t *testing.T, root fs.FS) []string {
	var problems []string
	for _, name := range repoFiles(t, root) {
		if !strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, read(t, root, name), parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			seeds := false
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				selector, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				x, ok := selector.X.(*ast.Ident)
				if !ok {
					return true
				}
				switch selector.Sel.Name {
				case "Skip", "Skipf", "SkipNow":
					// A fuzz target may pass over input it says nothing about.
					if !strings.HasPrefix(fn.Name.Name, "Fuzz") && (x.Name == "t" || x.Name == "b") {
						problems = append(problems, fmt.Sprintf("%s:%d: %s skips", name, set.Position(n.Pos()).Line, fn.Name.Name))
					}
				case "Add":
					seeds = seeds || x.Name == "f"
				}
				return true
			})
			if !strings.HasPrefix(fn.Name.Name, "Fuzz") {
				continue
			}
			if _, err := fs.Stat(root, path.Join(path.Dir(name), "testdata/fuzz", fn.Name.Name)); err != nil && !seeds && !seedsElsewhere(fn) {
				problems = append(problems, fmt.Sprintf("%s: %s has no seeds", name, fn.Name.Name))
			}
			if fn.Doc == nil || len(strings.Fields(fn.Doc.Text())) < 4 {
				problems = append(problems, fmt.Sprintf("%s: the comment of %s names no property", name, fn.Name.Name))
			}
		}
	}
	return problems
}

// seedsElsewhere reports whether a fuzz target hands its f to a function before it fuzzes: that one adds the seeds.
func seedsElsewhere(fn *ast.FuncDecl) bool {
	found := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			for _, arg := range call.Args {
				if name, ok := arg.(*ast.Ident); ok && name.Name == "f" {
					found = true
				}
			}
		}
		return !found
	})
	return found
}

// checkCommands wants a script in cmd/interlock/testdata and a section in docs/cli.md for each command of the table in
// main.go: one named after it, or one that runs it.
func checkCommands(t *testing.T, root fs.FS) []string {
	const dir = "cmd/interlock"
	scripts, err := fs.Glob(root, dir+"/testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	names := commandNames(t, read(t, root, dir+"/commands.go"))
	if len(names) == 0 {
		return []string{dir + "/commands.go: no commands found"}
	}
	manual := string(read(t, root, "docs/cli.md"))
	var problems []string
	for _, command := range names {
		runs := regexp.MustCompile(`(?m)^[!?]? *(exec )?interlock( --?\S+)* ` + command + `\b`)
		covered := slices.ContainsFunc(scripts, func(script string) bool {
			rest, ok := strings.CutPrefix(path.Base(script), command)
			return ok && (rest == ".txtar" || rest[0] == '-' || rest[0] == '_') || runs.Match(read(t, root, script))
		})
		if !covered {
			problems = append(problems, fmt.Sprintf("%s/testdata: no script for `interlock %s`", dir, command))
		}
		if !regexp.MustCompile(`(?m)^## interlock .*\b` + command + `\b`).MatchString(manual) {
			problems = append(problems, fmt.Sprintf("docs/cli.md: no section for `interlock %s`", command))
		}
	}
	return problems
}

// commandNames reads the commands off the table: a row begins with what the command is called and what help says of it.
func commandNames(t *testing.T, source []byte) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "commands.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	text := func(e ast.Expr) string {
		if literal, ok := e.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			return strings.Trim(literal.Value, `"`)
		}
		return ""
	}
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		if row, ok := n.(*ast.CompositeLit); ok && row.Type == nil && len(row.Elts) > 2 && strings.Contains(text(row.Elts[1]), " ") {
			names = append(names, text(row.Elts[0]))
		}
		return true
	})
	return names
}

// checkArchitecturePage wants the dependency table quoted as it is enforced.
func checkArchitecturePage(t *testing.T, root fs.FS) []string {
	if !strings.Contains(string(read(t, root, "docs/architecture.md")), dependencyTable) {
		return []string{"docs/architecture.md does not quote the dependency table of deps_test.go as it stands: go generate ."}
	}
	return nil
}

// sleeping finds what in a script decides by the clock: a sleep by itself, and a loop that gives up after a number of turns.
var (
	sleeping = regexp.MustCompile(`(?m)^(?:exec )?sleep .*$`)
	counting = regexp.MustCompile(`(?s)\bfor \w+ in [^\n;]*[;\n]\s*do\b.{0,400}?\bdone\b`)
)

// checkWaits wants tests to wait by package wait, for an event, with a limit that no busy machine reaches. A test on a clock of
// its own (testing/synctest) may do as it likes, and a benchmark measures.
func checkWaits(t *testing.T, root fs.FS) []string {
	var problems []string
	for _, name := range repoFiles(t, root) {
		if base := path.Ext(name); base == ".txtar" && strings.HasPrefix(name, "cmd/interlock/testdata/") || base == ".sh" &&
			strings.HasPrefix(name, "test/") {
			text := string(read(t, root, name))
			for _, found := range sleeping.FindAllString(text, -1) {
				problems = append(problems, fmt.Sprintf("%s: %q waits for the clock", name, found))
			}
			for _, loop := range counting.FindAllString(text, -1) {
				if strings.Contains(loop, "sleep") && !strings.Contains(loop, "sleep 1 &") {
					problems = append(problems, fmt.Sprintf("%s: a loop gives up after some turns: %.40q", name, loop))
				}
			}
		}
		if !strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			continue
		}
		set := token.NewFileSet()
		source := read(t, root, name)
		file, err := parser.ParseFile(set, name, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(file.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"testing/synctest"` }) {
			continue
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			measures := ok && strings.HasPrefix(fn.Name.Name, "Benchmark")
			ast.Inspect(decl, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || measures {
					return true
				}
				text := string(source[set.Position(call.Pos()).Offset:set.Position(call.End()).Offset])
				function, arguments, _ := strings.Cut(text, "(")
				switch {
				case function == "time.Sleep", function == "time.Since",
					function == "time.After" && !waitsLong.MatchString(arguments):
					problems = append(problems, fmt.Sprintf("%s:%d: %s", name, set.Position(call.Pos()).Line, function))
				}
				return true
			})
		}
	}
	return problems
}

// waitsLong is a limit that a busy machine does not reach.
var waitsLong = regexp.MustCompile(`^(wait\.Limit|patience|time\.Minute|time\.Hour)\)$`)

// checkScripts wants `make test` to run every fuzz target, by running the script that finds them.
func checkScripts(t *testing.T, root fs.FS) []string {
	var problems []string
	for file, want := range map[string]string{
		"Makefile":        "scripts/test.sh",
		".ci/run":         "make --no-print-directory test",
		"scripts/test.sh": "scripts/fuzz.sh",
		"scripts/fuzz.sh": `-test.list '^Fuzz'`,
	} {
		if !strings.Contains(string(read(t, root, file)), want) {
			problems = append(problems, fmt.Sprintf("%s does not call %s", file, want))
		}
	}
	sort.Strings(problems)
	return problems
}

// repoChecks are the checks by name, as the fixtures know them.
var repoChecks = map[string]repoCheck{
	"go files":     checkGoFiles,
	"links":        checkLinks,
	"readme":       checkReadme,
	"traces":       checkTraces,
	"dependencies": checkDependencyPage,
	"tests":        checkTests,
	"commands":     checkCommands,
	"architecture": checkArchitecturePage,
	"scripts":      checkScripts,
	"waits":        checkWaits,
}

var update = flag.Bool("update", false, "quote the dependency table in docs/architecture.md again")

// quotedTable is where the page quotes it: the code block that begins as the table does.
var quotedTable = regexp.MustCompile("(?s)```\nstd only .*?```")

//go:generate go test . -run TestTheRepositoryKeepsItsPromises/architecture -update
func TestTheRepositoryKeepsItsPromises(t *testing.T) {
	if *update {
		const name = "docs/architecture.md"
		page := quotedTable.ReplaceAllLiteral(read(t, os.DirFS("."), name), []byte("```"+dependencyTable+"```"))
		if err := os.WriteFile(name, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, check := range repoChecks {
		t.Run(name, func(t *testing.T) {
			for _, problem := range check(t, os.DirFS(".")) {
				t.Error(problem)
			}
		})
	}
}

// TestRepositoryChecksBite proves the checks: each is given a repository that breaks its rule once.
func TestRepositoryChecksBite(t *testing.T) {
	here := foreignTraces(t)[0]
	long := "package a\n" + strings.Repeat("\n// x\n", 300)
	for name, tc := range map[string]struct {
		check string
		files map[string]string
		want  []string
	}{
		"unformatted": {"go files", map[string]string{"a.go": "package  a\n", "b.go": "package b\n", "testdata/c.go": "package  c\n"},
			[]string{"a.go: not in gofmt form"}},
		"long": {"go files", map[string]string{"a.go": long, "a_test.go": long, "g.go": "// Code generated by x. DO NOT EDIT.\n\n" + long},
			[]string{"a.go: 601 lines, more than 500"}},
		"dead link": {"links", map[string]string{"docs/a.md": "[b](b.md) [c](c.md) [d](../d.md#one-two) [e](../d.md#three) `[f](f.md)` [g](https://example.com/x)",
			"docs/b.md": "", "d.md": "## One, two\n"},
			[]string{"docs/a.md: c.md leads nowhere", "docs/a.md: d.md has no heading #three"}},
		"quiet readme": {"readme", map[string]string{"README.md": "make test"}, []string{"README.md does not mention `make run`"}},
		"machine path": {"traces", map[string]string{"a.md": "see " + here + "/x", "b.go": "", "bench/corpus/x.jsonl": here},
			[]string{"a.md: mentions " + here}},
		"unexplained module": {"dependencies", map[string]string{
			"go.mod":                              "module interlock\n\nrequire (\n\texample.com/a v1.0.0\n\texample.com/b v1.0.0 // indirect\n\texample.com/c v1.0.0\n\texample.com/d v1.0.0 // indirect\n)\n",
			"a.go":                                "package a\n\nimport (\n\t_ \"example.com/a/sub\"\n\t_ \"example.com/b\"\n)\n",
			"docs/decisions/0001-dependencies.md": "| `example.com/b` | it is good | BSD |\n| `example.com/c` | it was good | BSD |\n"},
			[]string{"docs/decisions/0001-dependencies.md: no row for example.com/a, which is imported",
				"go.mod: example.com/b is imported and marked indirect",
				"docs/decisions/0001-dependencies.md: example.com/c has a row and nothing imports it"}},
		"lazy tests": {"tests", map[string]string{
			"a_test.go":                  "package a\n\nfunc TestA(t *testing.T) { t.Skip() }\n\n// FuzzA holds that a holds.\nfunc FuzzA(f *testing.F) { f.Add(1) }\n\nfunc FuzzB(f *testing.F) { f.Add(1) }\n\n// FuzzC holds that c holds.\nfunc FuzzC(f *testing.F) {}\n\n// FuzzD holds that d holds.\nfunc FuzzD(f *testing.F) {}\n",
			"testdata/fuzz/FuzzD/seed":   "",
			"testdata/ignored/x_test.go": "package x\n\nfunc TestX(t *testing.T) { t.Skip() }\n"},
			[]string{"a_test.go:3: TestA skips", "a_test.go: the comment of FuzzB names no property", "a_test.go: FuzzC has no seeds"}},
		"unscripted command": {"commands", map[string]string{
			"cmd/interlock/commands.go": "package main\n\nvar table = []row{\n\t{\"check\", \"A check.\", of[check], " +
				"\"\"},\n\t{\"up\", \"Go up.\", of[up], \"\"},\n}\n", "cmd/interlock/testdata/check-json.txtar": "",
			"cmd/interlock/testdata/upside.txtar": "# interlock up\nexec interlock upside\n", "docs/cli.md": "## interlock up\n"},
			[]string{"docs/cli.md: no section for `interlock check`", "cmd/interlock/testdata: no script for `interlock up`"}},
		"no commands": {"commands", map[string]string{"cmd/interlock/commands.go": "package main\n"},
			[]string{"cmd/interlock/commands.go: no commands found"}},
		"other table": {"architecture",
			map[string]string{"docs/architecture.md": strings.Replace(dependencyTable, "gate, quorum", "quorum", 1)},
			[]string{"docs/architecture.md does not quote the dependency table of deps_test.go as it stands: go generate ."}},
		"no fuzzing": {"scripts", map[string]string{"Makefile": "scripts/test.sh",
			".ci/run": "make --no-print-directory test", "scripts/test.sh": "", "scripts/fuzz.sh": "targets -test.list '^Fuzz'"},
			[]string{"scripts/test.sh does not call scripts/fuzz.sh"}},
		"impatient tests": {"waits", map[string]string{
			"a_test.go": "package a\n\nfunc TestA(t *testing.T) {\n\ttime.Sleep(1)\n\tselect {\n\tcase " +
				"<-time.After(2 * time.Second):\n\tcase <-time.After(wait.Limit):\n\t}\n\tif time.Since(b) > c {\n\t}\n}\n\nfunc BenchmarkA(b *testing.B) { time.Since(c) }\n",
			"b_test.go": "package a\n\nimport \"testing/synctest\"\n\nfunc TestB(t *testing.T) { time.Sleep(1) }\n",
			"cmd/interlock/testdata/a.txtar": "exec sleep 3\nfor i in 1 2 3\ndo\n\ttest -e x && exit 0\n\tsleep 0.5\ndone\nuntil test " +
				"-e y; do sleep 0.1; done\n"},
			[]string{"a_test.go:4: time.Sleep", "a_test.go:6: time.After", "a_test.go:9: time.Since",
				`cmd/interlock/testdata/a.txtar: "exec sleep 3" waits for the clock`,
				`cmd/interlock/testdata/a.txtar: a loop gives up after some turns: "for i in 1 2 3\ndo\n\ttest -e x && exit 0\n\t"`}},
		"nothing to mend": {"links", map[string]string{"a.md": "[a](#a)\n# `A`\n"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			root := make(fstest.MapFS)
			for file, text := range tc.files {
				root[file] = &fstest.MapFile{Data: []byte(text)}
			}
			if diff := cmp.Diff(tc.want, repoChecks[tc.check](t, root)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
