package call_test

import (
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/impacttest"

	"github.com/google/go-cmp/cmp"
)

// TestHintsOfTheServer: what a server says of its tool comes with the view, raises and never lowers, and its tools that look
// like a coding agent's own are no exception.
func TestHintsOfTheServer(t *testing.T) {
	yes, no := true, false
	for _, test := range []struct {
		name, tool, arguments string
		hints                 interlock.Annotations
		want                  []string
	}{
		{"read-only lowers nothing", "crm.delete_event", `{}`,
			interlock.Annotations{ReadOnly: &yes, Destructive: &no, OpenWorld: &no, Idempotent: &yes}, []string{"delete workspace window"}},
		{"destructive", "x.frobnicate", `{}`, interlock.Annotations{Destructive: &yes}, []string{"execute workspace window", "delete workspace window"}},
		{"open world", "x.frobnicate", `{}`, interlock.Annotations{OpenWorld: &yes}, []string{"execute external reversible"}},
		{"a read that is none", "x.get_user", `{}`, interlock.Annotations{ReadOnly: &no}, []string{"write workspace reversible"}},
		{"a harness's read that is none", "fs.read_file", `{"path":"a.txt"}`, interlock.Annotations{ReadOnly: &no}, []string{
			"read workspace readonly /home/dev/project/a.txt", "write workspace reversible /home/dev/project/a.txt"}},
		{"a harness's write that destroys", "fs.write_file", `{"path":"/etc/motd","content":"x"}`,
			interlock.Annotations{ReadOnly: &no, Destructive: &yes}, []string{
				"write system reversible /etc/motd +overwrite", "delete system window /etc/motd"}},
		{"nothing said", "fs.read_file", `{"path":"a.txt"}`, interlock.Annotations{}, []string{"read workspace readonly /home/dev/project/a.txt"}},
		{"a word in the arguments is another's", "fs.read_file", `{"path":"a.txt","annotations":{"destructiveHint":true}}`,
			interlock.Annotations{}, []string{"read workspace readonly /home/dev/project/a.txt"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			view := impacttest.Where
			view.Annotations = &test.hints
			var got []string
			for _, i := range impact.NewAnalyser(impacttest.Knowledge(t)).Analyse(view,
				impacttest.Object(interlock.KindTool, test.tool, test.arguments)).Impacts {
				got = append(got, impacttest.Spell(i))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
