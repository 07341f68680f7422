package call_test

import (
	"strings"
	"testing"

	"interlock/internal/impact/know"
)

// TestTablesRefuse covers tables of tools, library calls and commands that are wrong: each is refused with the place
// named, and none changes what the others say.
func TestTablesRefuse(t *testing.T) {
	for _, test := range []struct{ document, text, want string }{
		{"tools.yaml", `{"bulk":20,"verbs":{"read":["get"],"delete":["get"]}}`, "already listed"},
		{"tools.yaml", `{"bulk":20,"patterns":[{"name":"x","kind":"explode"}]}`, "known kind"},
		{"tools.yaml", `{"bulk":0}`, "positive"},
		{"tools.yaml", `{"bulk":20,"verb":{}}`, "/verb"},
		{"prose.yaml", `{"verbs":{"delete":["drop"],"write":["drop"]}}`, "already listed"},
		{"prose.yaml", `{"words":{"wide":["all"]}}`, "/words/secret"},
		{"prose.yaml", `{"word":{}}`, "/word"},
		{"code.yaml", `{"python":{"os.x":"explode path"}}`, "no kind of impact"},
		{"code.yaml", `{"python":{"os.x":"delete moon"}}`, "no target"},
		{"code.yaml", `{"python":{"os.x":"delete"}}`, "needs a kind"},
		{"code.yaml", `[]`, "code.yaml"},
		{"commands/x.yaml", `{"commands":{"x":{"values":"-o","flags":[{"-q -o":"+force"}]}}}`, "commands/x.yaml: command x: flag -o is described twice"},
		{"commands/x.yaml", `{"commands":{"x":{"values":"-o --out -o"}}}`, "commands/x.yaml: command x: flag -o is described twice"},
		{"commands/x.yaml", `{"commands":{"x":{"flags":[{"-f":"+force"},{"-f":"dry"}]}}}`, "commands/x.yaml: command x: flag -f is described twice"},
		{"commands/x.yaml", `{"commands":{"x":{"style":"cmdlet","values":"-Path","flags":[{"-path":"operand"}]}}}`,
			"commands/x.yaml: command x: flag -path is described twice"},
		{"commands/x.yaml", `{"commands":{"x":{"sub":{"go":{"values":"-o","flags":[{"-o":"dry"}]}}}}}`,
			"commands/x.yaml: command x: go: flag -o is described twice"},
		{"commands/x.yaml", `{"commands":{"x":{"sub":{"go|run":{},"run|stop":{}}}}}`, "commands/x.yaml: command x: subcommand x run is described twice"},
		{"commands/x.yaml", `{"commands":{"x":{"sub":{"go*":{},"go*|run":{}}}}}`, "commands/x.yaml: command x: subcommand x go* is described twice"},
		{"commands/x.yaml", `{"commands":{"x":{},"y|x":{}}}`, "commands/x.yaml: command \"x\" is described twice"},
		{"commands/x.yaml", `{"commands":{"x":{"like":"y","values":"-o"},"y":{}}}`, "commands/x.yaml: command x: like y"},
		{"commands/x.yaml", `{"commands":{"x":{"flag":[]}}}`, "commands/x.yaml: command x: "},
	} {
		know, err := know.Parse(map[string][]byte{test.document: []byte(test.text)})
		if err == nil {
			err = know.Check()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want it to speak of %q", test.text, err, test.want)
		}
	}
}
