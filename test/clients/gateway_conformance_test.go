package clients

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const gatewayGapsFile = "testdata/gateway_conformance.tsv"

// TestGatewayConformance runs the protocol's own server suite against its own server, by itself and behind the gateway. What is not
// passed behind the gateway is listed with the reason, and whether the server alone passes it.
func TestGatewayConformance(t *testing.T) {
	t.Parallel()
	server := buildServer(t)
	_, env := newHome(t)
	endpoint, token := gatewayBefore(t, env, "suite", []string{"--mode", "monitoring"}, server)
	behind := plainNames(t, endpoint, token, "suite")
	var got []string
	for _, revision := range revisions {
		alone := serverOverHTTP(t, server, revision == "2026-07-28")
		direct := runSuite(t, env, alone, revision)
		for _, line := range runSuite(t, env, behind, revision) {
			if !strings.Contains(line, "passed") {
				line += "\t" + map[bool]string{true: "alone too", false: "passed alone"}[slices.Contains(direct, line)]
			}
			got = append(got, line)
		}
		got = append(got, strings.Replace(direct[0], "\tall\tall\t", "\talone\tall\t", 1))
	}
	known, reasons := readGapsOf(t, gatewayGapsFile, 5)
	if *update {
		writeGapsTo(t, gatewayGapsFile, "# What the protocol's conformance suite does not see passed behind the gateway, with the suite's own server there: revision,\n"+
			"# scenario, check, result, whether that server passes it alone, reason.\n"+
			"# Written by `go test ./test/clients -run GatewayConformance -update`; the reasons are written by hand.\n", got, reasons)
		return
	}
	if diff := cmp.Diff(known, got); diff != "" {
		t.Errorf("checks (-listed +found):\n%s", diff)
	}
	for _, line := range known {
		if strings.Contains(line, "passed alone") && len(reasons[line]) < 10 {
			t.Errorf("%s: no reason is given", line)
		}
	}
}
