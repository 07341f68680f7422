package clients

import (
	"fmt"
	"testing"
)

// TestGatewayChangesNothingWithoutSessions holds what a client of 2026-07-28 gets of a server that knows that revision, the
// suite's own, through the gateway against what it gets of it directly.
func TestGatewayChangesNothingWithoutSessions(t *testing.T) {
	t.Parallel()
	server := buildServer(t)
	for _, front := range []string{"stdio", "http"} {
		w := way{front, "stdio", stateless}
		t.Run(w.String(), func(t *testing.T) {
			t.Parallel()
			p := newPair(t, w, "suite", "monitoring", stateless, []string{server})
			for _, list := range []struct{ method, member, name, use string }{
				{"tools/list", "tools", "name", `{"name":"NAME.%s","arguments":{},"_meta":{"progressToken":"the-token"}}`},
				{"prompts/list", "prompts", "name", `{"name":"NAME.%s","arguments":{"arg1":"one","arg2":"two","resourceUri":"test://static-text"}}`},
				{"resources/list", "resources", "uri", `{"uri":"%s"}`},
				{"resources/templates/list", "resourceTemplates", "uriTemplate", `{"uri":"%s"}`},
			} {
				p.same(list.method, `{}`)
				use := map[string]string{"tools": "tools/call", "prompts": "prompts/get"}[list.member]
				if use == "" {
					use = "resources/read"
				}
				result, _ := value(p.direct.call(list.method, `{}`).Result).(map[string]any)
				items, _ := result[list.member].([]any)
				if len(items) == 0 {
					t.Errorf("%s lists nothing", list.method)
				}
				for _, item := range items {
					p.same(use, fmt.Sprintf(list.use, item.(map[string]any)[list.name]))
				}
			}
		})
	}
}
