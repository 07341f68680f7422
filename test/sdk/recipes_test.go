package sdk

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"interlock/test/product"
)

// denied is what the recipes are made to try. It is refused by every profile, and if it were not, it would do no harm here.
const denied = "curl -s -m 1 http://169.254.169.254/latest/meta-data/"

// TestRecipes runs the recipes for frameworks with a model of the test's own: what is allowed runs, what is not is refused with its
// reason, and where the server is gone nothing runs.
func TestRecipes(t *testing.T) {
	o := newOffice(t)
	recipes := []string{"openai-agents", "langchain", "vercel-ai", "mcp-client"}
	for _, recipe := range recipes {
		t.Run(recipe, func(t *testing.T) {
			a := o.start(t, recipeOf(t, recipe, "echo it ran", denied), "OPENAI_AGENTS_DISABLE_TRACING=1", "AI_SDK_LOG_WARNINGS=false")
			a.says(`"it ran\n"`)
			if got := a.line(); !strings.Contains(got, "[cloud.metadata]") {
				t.Errorf("what is denied came to %s", got)
			}
			a.says("done")
		})
	}
	o.kill()
	for _, recipe := range recipes {
		t.Run(recipe+" alone", func(t *testing.T) {
			a := o.start(t, recipeOf(t, recipe, "echo it ran"), "OPENAI_AGENTS_DISABLE_TRACING=1", "AI_SDK_LOG_WARNINGS=false")
			if got := a.line(); !strings.Contains(got, "Interlock can't be reached") {
				t.Errorf("without a server it came to %s", got)
			}
			a.says("done")
		})
	}
}

// recipeOf runs a recipe by the program that plays its model.
func recipeOf(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	command := node(t, "testdata/recipe-"+name+".mjs", args...)
	text, err := os.ReadFile("../../docs/recipes/" + name + ".mjs")
	if err == nil {
		err = os.WriteFile(filepath.Join(filepath.Dir(command.Args[2]), "recipe.mjs"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return command
}

// TestGoRecipe runs the program in Go.
func TestGoRecipe(t *testing.T) {
	o := newOffice(t)
	binary := filepath.Join(t.TempDir(), "guard")
	if out, err := exec.Command("go", "build", "-o", binary, "../../docs/recipes/guard.go").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(args ...string) string {
		command := exec.Command(binary, args...)
		command.Env = append(append([]string{}, o.env...), "INTERLOCK_URL="+o.url, "INTERLOCK_TOKEN="+o.token)
		out, _ := command.CombinedOutput()
		return string(out)
	}
	if got := run("echo it ran"); got != "it ran\n" {
		t.Errorf("what is allowed came to %q", got)
	}
	if got := run(denied); !strings.HasPrefix(got, "refused: [cloud.metadata] ") {
		t.Errorf("what is denied came to %q", got)
	}
	o.kill()
	if got := run("echo it ran"); !strings.HasPrefix(got, "Interlock can't be reached: ") {
		t.Errorf("without a server it came to %q", got)
	}
}

// TestWorkflow runs the steps of the workflow for pipelines, in order, with a home of their own and an agent in Python.
func TestWorkflow(t *testing.T) {
	text, err := os.ReadFile("../../docs/workflows/interlock-agent.yml")
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	temp := filepath.Join(work, "temp")
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	agent, err := os.ReadFile("testdata/pipeline.py")
	if err == nil {
		err = os.WriteFile(filepath.Join(work, "agent.py"), agent, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	source, err := filepath.Abs("../../sdk/python/src")
	if err != nil {
		t.Fatal(err)
	}
	script := "set -eu\n"
	for _, step := range regexp.MustCompile(`(?m)^        run: (\|\n((          .*\n)+)|.*\n)`).FindAllStringSubmatch(string(text), -1) {
		script += "( " + strings.TrimPrefix(step[1], "|\n") + ")\n"
	}
	t.Cleanup(func() { // where the last step was not reached
		text, _ := os.ReadFile(filepath.Join(temp, "interlock.pid"))
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			if server, err := os.FindProcess(pid); err == nil {
				_ = server.Kill()
			}
		}
	})
	command := exec.Command("bash", "-c", script)
	command.Dir = work
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "INTERLOCK_") && !strings.HasPrefix(variable, "HOME=") && !strings.HasPrefix(variable, "PATH=") {
			command.Env = append(command.Env, variable)
		}
	}
	command.Env = append(command.Env, "PATH="+product.Dir()+":"+os.Getenv("PATH"), "HOME="+t.TempDir(), "RUNNER_TEMP="+temp,
		"INTERLOCK_HOME="+filepath.Join(work, "home"), "PYTHONPATH="+source, "PYTHONDONTWRITEBYTECODE=1")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"allowed\n", "refused cloud.metadata\n", "refused git.force-push", "the log is sound"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the workflow does not say %q:\n%s", want, out)
		}
	}
	if _, err := os.Stat(filepath.Join(temp, "interlock-audit", "events.jsonl")); err != nil {
		t.Error(err)
	}
}
