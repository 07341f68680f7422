package product

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A small module whose test runs its program as the tests of this one do.
var small = map[string]string{
	"go.mod":                     "module small\n\ngo 1.26\n",
	"cmd/interlock/main.go":      "package main\n\nfunc main() { print(answer) }\n",
	"cmd/interlock/answer.go":    "package main\n\nconst answer = \"deny\"\n",
	"cmd/interlock-hook/main.go": "package main\n\nfunc main() {}\n",
	"test/x/x_test.go": `package x

import (
	"os/exec"
	"testing"

	"small/test/product"
)

func TestDenied(t *testing.T) {
	if out, err := exec.Command(product.Interlock()).CombinedOutput(); err != nil || string(out) != "deny" {
		t.Errorf("%s, %v", out, err)
	}
}
`}

// TestAnAnswerIsNotOlderThanTheProgram: go test answers from its cache as long as nothing has changed, and runs a test again when
// a source of the program has, is new, or the environment has the test run another program.
func TestAnAnswerIsNotOlderThanTheProgram(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range small {
		write(name, text)
	}
	for _, name := range []string{"product.go", "lock_unix.go", "lock_other.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write("test/product/"+name, string(text))
	}
	minutes := 0
	// run has all files be older than the seconds within which go test believes no time of change, and each time of another age.
	run := func(changed string, env ...string) string {
		t.Helper()
		minutes++
		err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if relative, _ := filepath.Rel(root, path); err == nil &&
				(minutes <= 2 || changed != "" && strings.HasPrefix(changed, relative)) {
				ago := time.Now().Add(time.Duration(minutes-60) * time.Minute)
				return os.Chtimes(path, ago, ago)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		command := exec.Command("go", "test", "./test/x")
		command.Dir, command.Env = root, append(os.Environ(), append(env, "GOFLAGS=", "GOWORK=off")...)
		out, err := command.CombinedOutput()
		switch text := string(out); {
		case err != nil && strings.Contains(text, "--- FAIL: TestDenied"):
			return "fails"
		case err == nil && strings.Contains(text, "(cached)"):
			return "cached"
		case err == nil:
			return "runs"
		default:
			t.Fatalf("%v\n%s", err, text)
			return ""
		}
	}
	want := func(want, got string) {
		t.Helper()
		if want != got {
			t.Errorf("%s, want %s", got, want)
		}
	}
	run("") // which builds
	want("runs", run(""))
	want("cached", run(""))
	write("cmd/interlock/answer.go", strings.Replace(small["cmd/interlock/answer.go"], "deny", "alow", 1))
	want("fails", run("cmd/interlock/answer.go"))
	write("cmd/interlock/answer.go", small["cmd/interlock/answer.go"])
	want("runs", run("cmd/interlock/answer.go"))
	write("cmd/interlock/more.go", "package main\n\nfunc init() { print(\"all but \") }\n")
	want("fails", run("cmd/interlock/more.go"))
	if err := os.Remove(filepath.Join(root, "cmd", "interlock", "more.go")); err != nil {
		t.Fatal(err)
	}
	want("runs", run("cmd/interlock"))
	other := t.TempDir()
	for _, program := range []string{"interlock", "interlock-hook"} {
		if err := os.WriteFile(filepath.Join(other, program), []byte("#!/bin/sh\nprintf allow\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	want("fails", run("", Override+"="+other))
}

// judges is a test of each package that claims to run the program, which must notice when every verdict is an Allow.
var judges = map[string]string{
	"bench/redteam":  "TestCases",
	"test/browser":   "TestApproveAndDenyWorkWithoutScript",
	"test/clients":   "TestGoSDK",
	"test/docs":      "TestTheFirstScreenIsTrue",
	"test/harnesses": "TestGemini/what_is_harmless_runs_and_what_is_denied_does_not",
	"test/otel":      "TestSDK",
	"test/sdk":       "TestGoRecipe",
	"test/system":    "TestAnotherUserCanAskAndIsWhoTheKernelSays",
}

// TestABrokenProgramIsSeen breaks the engine so that it allows everything, and wants each of these tests to fail for it, in the
// same way in which `make test` runs them.
func TestABrokenProgramIsSeen(t *testing.T) {
	t.Parallel()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	Look(".")
	dir := t.TempDir()
	engine := filepath.Join(root, "internal", "engine", "engine.go")
	text, err := os.ReadFile(engine)
	if err != nil {
		t.Fatal(err)
	}
	const decided = "\td.Verdict = verdict(d.Findings)\n"
	if strings.Count(string(text), decided) != 1 {
		t.Fatal("there is no one place where the verdict is made")
	}
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	broken := strings.Replace(string(text), decided, "\td.Findings = nil\n"+decided, 1)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{engine: write("engine.go", []byte(broken))}})
	if err != nil {
		t.Fatal(err)
	}
	overlaid := "-overlay=" + write("overlay.json", overlay)
	programs := filepath.Join(dir, "programs") + string(filepath.Separator)
	build := exec.Command("go", slices.Concat([]string{"build", overlaid, "-o", programs}, Flags,
		[]string{"./cmd/interlock", "./cmd/interlock-hook"})...)
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	fails := func(pkg, test string, args ...string) {
		command := exec.Command("go", slices.Concat([]string{"test", "-vet=off", "-run", "^" + test + "$"}, args, []string{"./" + pkg})...)
		command.Dir, command.Env = root, append(os.Environ(), Override+"="+programs)
		if out, err := command.CombinedOutput(); err == nil || !strings.Contains(string(out), "--- FAIL: "+test) {
			t.Errorf("%s: %s does not fail though everything is allowed: %v\n%s", pkg, test, err, out)
		}
	}
	for pkg, test := range judges {
		fails(pkg, test)
	}
	fails("cmd/interlock", "TestScripts/check", overlaid) // this test binary is the program
}

// TestEveryoneWhoRunsTheProgramIsJudged: no package builds the program by itself, and each that takes it from here has its judge
// above.
func TestEveryoneWhoRunsTheProgramIsJudged(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "*", "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	itself := regexp.MustCompile(`"build",[^\n]*cmd/interlock`)
	users := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		relative, _ := filepath.Rel(root, filepath.Dir(file))
		pkg := filepath.ToSlash(relative)
		if pkg == "test/product" {
			continue
		}
		if itself.Match(text) {
			t.Errorf("%s builds the program where go test does not see it", file)
		}
		if strings.Contains(string(text), `"interlock/test/product"`) {
			users[pkg] = true
		}
	}
	for pkg := range users {
		if judges[pkg] == "" {
			t.Errorf("nothing says that %s notices a broken program", pkg)
		}
	}
	for pkg := range judges {
		if !users[pkg] {
			t.Errorf("%s does not run the program any more", pkg)
		}
	}
}
