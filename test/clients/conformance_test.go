package clients

import (
	cmpstd "cmp"
	"encoding/json"
	"flag"
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/conformance.tsv again; a new gap gets the reason ?, which is none")

// revisions are the revisions of the protocol whose requirements the suite knows and this server serves.
var revisions = []string{"2025-11-25", "2026-07-28"}

// TestConformanceSuite runs the protocol's own server suite against /mcp. The suite means a server made for it, with tools,
// prompts and resources of certain names; testdata/conformance.tsv lists every check that is not passed, with the reason, and
// how many are.
func TestConformanceSuite(t *testing.T) {
	t.Parallel()
	_, env := newHome(t)
	endpoint, token := up(t, env)
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	// The suite has no way to send a token, so this stands before the server and adds it; everything else passes as it came.
	door := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: target.Scheme, Host: target.Host})
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}})
	defer door.Close()
	var got []string
	for _, revision := range revisions {
		got = append(got, gapsIn(revision, runSuite(t, env, door.URL+"/mcp", revision))...)
	}
	known, reasons := readGapsOf(t, gapsFile, 4)
	if *update {
		writeGapsTo(t, gapsFile, gapsHeader, got, reasons)
		return
	}
	if diff := cmp.Diff(known, got); diff != "" {
		t.Errorf("checks (-listed +found):\n%s", diff)
	}
	for _, line := range known {
		if !strings.Contains(line, "passed") && len(reasons[line]) < 10 {
			t.Errorf("%s: no reason is given", line)
		}
	}
}

// A suiteCheck is one check of the suite, as it ended: under one scenario a check may be made several times, and end differently each time.
type suiteCheck struct{ scenario, id, status string }

// runSuite runs the suite against a server and returns its checks, sorted.
func runSuite(t *testing.T, env []string, address, revision string) []suiteCheck {
	t.Helper()
	out := t.TempDir()
	command := node(t, env, "@modelcontextprotocol/conformance/dist/index.js", "server", "--url", address, "--requirements", revision, "-o", out)
	if text, err := command.CombinedOutput(); err != nil && !strings.Contains(string(text), "=== SUMMARY ===") {
		t.Fatalf("the suite did not run: %v\n%s", err, text)
	}
	return checksIn(t, out)
}

var stampOf = regexp.MustCompile(`-\d{4}-\d\d-\d\dT[-0-9]+Z$`)

// checksIn reads the checks of a run.
func checksIn(t *testing.T, dir string) []suiteCheck {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the suite left no results: %v", err)
	}
	var all []suiteCheck
	for _, file := range files {
		scenario := stampOf.ReplaceAllString(strings.TrimPrefix(filepath.Base(filepath.Dir(file)), "server-"), "")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var checks []struct{ ID, Status string }
		if err := json.Unmarshal(text, &checks); err != nil {
			t.Fatal(err)
		}
		for _, c := range checks {
			all = append(all, suiteCheck{scenario, c.ID, strings.ToLower(c.Status)})
		}
	}
	slices.SortFunc(all, func(a, b suiteCheck) int {
		return cmpstd.Or(strings.Compare(a.scenario, b.scenario), strings.Compare(a.id, b.id), strings.Compare(a.status, b.status))
	})
	return all
}

// gapsIn lists the checks that were not passed, and counts those that were.
func gapsIn(revision string, checks []suiteCheck) []string {
	var lines []string
	passed := 0
	for _, c := range checks {
		switch c.status {
		case "success":
			passed++
		case "info":
		default:
			lines = append(lines, strings.Join([]string{revision, c.scenario, c.id, c.status}, "\t"))
		}
	}
	return append([]string{fmt.Sprintf("%s\tall\tall\tpassed %d", revision, passed)}, slices.Compact(lines)...)
}

const (
	gapsFile   = "testdata/conformance.tsv"
	gapsHeader = "# What the protocol's conformance suite (package.json has its version) does not see passed at /mcp, and why: revision, scenario,\n" +
		"# check, result, reason. The suite is made for a server with tools, prompts and resources of its own; this one has none of them.\n" +
		"# Written by `go test ./test/clients -run ConformanceSuite -update`; the reasons are written by hand.\n"
)

// readGapsOf returns a file's lines without their reasons, which stand in a last column behind the given number, and the reasons.
func readGapsOf(t *testing.T, file string, columns int) (lines []string, reasons map[string]string) {
	t.Helper()
	reasons = map[string]string{}
	text, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, reason := line, ""
		if all := strings.Split(line, "\t"); len(all) == columns+1 {
			key, reason = strings.Join(all[:columns], "\t"), all[columns]
		}
		lines = append(lines, key)
		reasons[key] = reason
	}
	return lines, reasons
}

func writeGapsTo(t *testing.T, file, header string, lines []string, reasons map[string]string) {
	t.Helper()
	var b strings.Builder
	b.WriteString(header)
	for _, line := range lines {
		b.WriteString(line)
		if !strings.Contains(line, "\tall\tall\t") {
			if reasons[line] == "" {
				reasons[line] = "?"
			}
			b.WriteString("\t" + reasons[line])
		}
		b.WriteString("\n")
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
