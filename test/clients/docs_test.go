package clients

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"interlock/test/product"
)

const page = "../../docs/plugging-in.md"

// blocks returns the code of a language that stands on the page.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, found := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		out = append(out, found[1])
	}
	if len(out) == 0 {
		t.Fatalf("%s has no %s", page, language)
	}
	return out
}

// printed is what both clients on the page print: a harmless step goes on, one that replaces what others have does not, and
// says why. What is named first depends on how far the agent is trusted.
var printed = regexp.MustCompile(`^git status -> [tT]rue *\ngit push --force origin main -> [fF]alse (a forced push|what is destructive).*\n$`)

// The clients on the page do what the page says they do.
func TestClientsOnThePageRun(t *testing.T) {
	t.Parallel()
	write := func(name, code string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	t.Run("go", func(t *testing.T) {
		home, _ := newHome(t)
		command := exec.Command("go", "run", write("main.go", blocks(t, "go")[0]))
		command.Env = append(os.Environ(), "PATH="+product.Dir()+string(filepath.ListSeparator)+os.Getenv("PATH"), "INTERLOCK_HOME="+
			home)
		check(t, command)
	})
	t.Run("python", func(t *testing.T) {
		_, env := newHome(t)
		endpoint, token := up(t, env)
		command := exec.Command("python3", write("client.py", blocks(t, "python")[0]))
		command.Env = append(env, "INTERLOCK_MCP="+endpoint, "INTERLOCK_TOKEN="+token)
		check(t, command)
	})
}

func check(t *testing.T, client *exec.Cmd) {
	t.Helper()
	var stderr strings.Builder
	client.Stderr = &stderr
	out, err := client.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	if !printed.Match(out) {
		t.Errorf("it prints %q", out)
	}
}

// The settings on the page can be read by what reads them.
func TestSettingsOnThePageAreJSON(t *testing.T) {
	for _, block := range blocks(t, "json") {
		var settings map[string]any
		if err := json.Unmarshal([]byte(block), &settings); err != nil {
			t.Errorf("%v: %s", err, block)
		}
	}
}
