package call_test

import (
	"testing"

	"interlock"
	"interlock/internal/impact/impacttest"
)

// TestCallsAgainstInterlock: a tool that ends Interlock or answers a request for it does so by any name; one that looks, tells somebody
// or has to do with something else does not.
func TestCallsAgainstInterlock(t *testing.T) {
	for _, c := range []struct {
		tool, arguments string
		self            bool
	}{
		{"kill", `{"name":"interlock"}`, true}, {"process_kill", `{"target":"/usr/bin/interlock-hook"}`, true},
		{"manage_service", `{"action":"stop","name":"interlock.service"}`, true},
		{"signal", `{"process":["Interlock.exe"],"signal":"STOP"}`, true},
		{"approve", `{"request_id":"apr_4f2a9c01d7e3b6a58c20"}`, true}, {"x", `{"a":{"b":["apr_4f2a9c01d7e3"]}}`, true},
		{"kill", `{"name":"node"}`, false}, {"stop_timer", `{"name":"interlock notes"}`, false},
		{"service_status", `{"service":"interlock"}`, false}, {"approve", `{"id":"123"}`, false},
		{"get_request", `{"id":"apr_4f2a9c01d7e3b6a58c20"}`, false}, {"send_message", `{"text":"apr_4f2a9c01d7e3b6a58c20"}`, false},
		{"mcp_aql_execute", `{"operation":"confirm_operation","params":{"request_id":"apr_4f2a9c01d7e3"}}`, false},
	} {
		impacts := impacttest.Analyse(t, impacttest.Object(interlock.KindTool, c.tool, c.arguments))
		self := impacttest.AnyImpact(impacts, func(i interlock.Impact) bool { return i.Reach == interlock.ReachSelf })
		if self != c.self {
			t.Errorf("%s %s: against Interlock %v, want %v: %v", c.tool, c.arguments, self, c.self, impacttest.Briefs(impacts))
		}
	}
}
