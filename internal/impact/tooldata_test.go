package impact_test

import (
	"strings"
	"testing"

	"interlock/internal/impact"
)

// TestTablesRefuse covers tables of tools and library calls that are wrong: each is refused with the place named, and
// none changes what the others say.
func TestTablesRefuse(t *testing.T) {
	for _, test := range []struct{ document, text, want string }{
		{"tools.yaml", `{"bulk":20,"verbs":{"read":["get"],"delete":["get"]}}`, "already listed"},
		{"tools.yaml", `{"bulk":20,"patterns":[{"name":"x","kind":"explode"}]}`, "known kind"},
		{"tools.yaml", `{"bulk":0}`, "positive"},
		{"tools.yaml", `{"bulk":20,"verb":{}}`, "/verb"},
		{"code.yaml", `{"python":{"os.x":"explode path"}}`, "no kind of impact"},
		{"code.yaml", `{"python":{"os.x":"delete moon"}}`, "no target"},
		{"code.yaml", `{"python":{"os.x":"delete"}}`, "needs a kind"},
		{"code.yaml", `[]`, "code.yaml"},
	} {
		know, err := impact.ParseKnowledge(map[string][]byte{test.document: []byte(test.text)})
		if err == nil {
			err = know.Check()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want it to speak of %q", test.text, err, test.want)
		}
	}
}
