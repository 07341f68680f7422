package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	differencesFile   = "testdata/gateway_conformance.tsv"
	differencesHeader = "# Where the protocol's conformance suite sees its own server otherwise behind the gateway than alone: revision, how the gateway\n" +
		"# reaches the server, scenario, check, how it ends alone, how it ends behind the gateway, reason. Every check that is not here ends\n" +
		"# alike; `all` counts them all, so that none can vanish from both sides.\n" +
		"# Written by `go test ./test/clients -run GatewayConformance -update`; the reasons are written by hand.\n"
)

// TestGatewayConformance runs the protocol's own server suite against its own server: by itself, behind the gateway on standard
// streams, and behind the gateway over HTTP. Every check ends behind the gateway as it does without it, but for those that
// testdata/gateway_conformance.tsv lists with the reason.
func TestGatewayConformance(t *testing.T) {
	t.Parallel()
	server := buildServer(t)
	_, env := newHome(t)
	endpoint, token := gatewayBefore(t, env, "suite", []string{"--mode", "monitoring"}, server)
	onStreams := plainNames(t, endpoint, token, "suite")
	var got []string
	for _, revision := range revisions {
		stateless := revision == "2026-07-28" // the suite's server keeps sessions or knows this revision, never both
		alone := runSuite(t, env, serverOverHTTP(t, server, stateless), revision)
		got = append(got, differences(revision, "stdio", alone, runSuite(t, env, onStreams, revision))...)
		got = append(got, differences(revision, "http", alone, runSuite(t, env, gatewayBeforeAddress(t, serverOverHTTP(t, server, stateless)), revision))...)
	}
	known, reasons := readGapsOf(t, differencesFile, 6)
	if *update {
		writeGapsTo(t, differencesFile, differencesHeader, got, reasons)
		return
	}
	if diff := cmp.Diff(known, got); diff != "" {
		t.Errorf("differences (-listed +found):\n%s", diff)
	}
	for _, line := range known {
		if !strings.Contains(line, "\tall\tall\t") && len(reasons[line]) < 10 {
			t.Errorf("%s: no reason is given", line)
		}
	}
}

// gatewayBeforeAddress starts `interlock gateway` before a server over HTTP and returns where the suite finds that server's own
// names.
func gatewayBeforeAddress(t *testing.T, address string) string {
	t.Helper()
	home, env := newHome(t)
	settings := "mode: monitoring\ngateway:\n  trust_on_first_use: true\n  servers:\n  - name: suite\n    url: " + address + "\n"
	if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	token := addAgent(t, env, "client")
	return plainNames(t, started(t, env, "mcp     ", "gateway", "--listen", "127.0.0.1:0"), token, "suite")
}

// differences lists the checks that did not end alike, and counts all.
func differences(revision, over string, alone, behind []suiteCheck) []string {
	type key struct{ scenario, id string }
	ends := func(checks []suiteCheck) map[key]string {
		all := map[key]string{}
		for _, c := range checks {
			all[key{c.scenario, c.id}] = strings.TrimPrefix(all[key{c.scenario, c.id}]+" "+c.status, " ")
		}
		return all
	}
	left, right := ends(alone), ends(behind)
	var lines []string
	for _, c := range slices.Concat(alone, behind) {
		k := key{c.scenario, c.id}
		if left[k] != right[k] {
			or := func(s string) string { return map[bool]string{true: "not made", false: s}[s == ""] }
			lines = append(lines, strings.Join([]string{revision, over, c.scenario, c.id, or(left[k]), or(right[k])}, "\t"))
		}
	}
	slices.Sort(lines)
	return append([]string{strings.Join([]string{revision, over, "all", "all", counts(alone), counts(behind)}, "\t")}, slices.Compact(lines)...)
}

// counts says how many checks ended how.
func counts(checks []suiteCheck) string {
	n := map[string]int{}
	for _, c := range checks {
		n[c.status]++
	}
	return fmt.Sprintf("%d passed, %d failed, %d skipped, %d warned", n["success"], n["failure"], n["skipped"], n["warning"])
}
