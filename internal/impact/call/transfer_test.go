package call_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact/impacttest"
)

// TestToolsThatMoveAndCopy: both places count, whatever the arguments are called and however deep they lie. What a move takes away
// is changed where it was, what a copy or a link shows is read.
func TestToolsThatMoveAndCopy(t *testing.T) {
	impacttest.CheckReadings(t, []impacttest.Reading{
		{Name: "a secret moved into the workspace",
			Action: impacttest.Object(interlock.KindTool, "files.move_file",
				`{"source":"/home/dev/.ssh/id_rsa","destination":"/home/dev/project/x"}`), Want: []string{
				"write workspace reversible /home/dev/project/x", "write home reversible /home/dev/.ssh/id_rsa +moved +secret"}},
		{Name: "a file of the workspace renamed",
			Action: impacttest.Object(interlock.KindTool, "move_file", `{"source":"src/a.go","destination":"src/b.go"}`), Want: []string{
				"write workspace reversible /home/dev/project/src/b.go", "write workspace reversible /home/dev/project/src/a.go +moved"}},
		{Name: "the workspace itself", Action: impacttest.Object(interlock.KindTool, "mcp__files__moveFile",
			`{"source":"/home/dev/project","destination":"/home/dev/gone"}`), Want: []string{
			"write home reversible /home/dev/gone", "write workspace reversible /home/dev/project +moved +uncommitted"}},
		{Name: "version control", Action: impacttest.Object(interlock.KindTool, "files.move_file",
			`{"source":"./.git","destination":"/tmp/x"}`), Want: []string{
			"write workspace reversible /tmp/x", "write workspace reversible /home/dev/project/.git +history +moved"}},
		{Name: "other words", Action: impacttest.Object(interlock.KindTool, "fs.rename", `{"old_path":"/etc/passwd","new_path":"/etc/p"}`), Want: []string{
			"write system reversible /etc/passwd +account +moved", "write system reversible /etc/p"}},
		{Name: "a copy", Action: impacttest.Object(interlock.KindTool, "fs.copy_file", `{"src":"/home/dev/.aws/credentials","dst":"./y"}`), Want: []string{
			"read home readonly /home/dev/.aws/credentials +secret",
			"credential home readonly /home/dev/.aws/credentials +secret", "write workspace reversible /home/dev/project/y"}},
		{Name: "many", Action: impacttest.Object(interlock.KindTool, "files.batch_move",
			`{"moves":[{"from":"/home/dev/.aws/credentials","to":"x/y"}]}`), Want: []string{
			"write home reversible /home/dev/.aws/credentials +moved +secret", "write workspace reversible /home/dev/project/x/y"}},
		{Name: "a place whose other has no name we know",
			Action: impacttest.Object(interlock.KindTool, "fs.copy_file", `{"source":"/home/dev/.aws/credentials","where":"x"}`), Want: []string{
				"write home reversible /home/dev/.aws/credentials +secret", "write workspace reversible"}},
		{Name: "nothing of files", Action: impacttest.Object(interlock.KindTool, "move_email", `{"from":"INBOX","to":"Archive"}`),
			Want: []string{"write workspace reversible"}},
		{Name: "from one store on the web to another",
			Action: impacttest.Object(interlock.KindTool, "copy_object", `{"source":"s3://a/x","destination":"s3://b/x"}`),
			Want:   []string{"read external readonly s3://b/x", "write workspace reversible"}},
	})
}

// TestPathsOfTools: a path is judged as the program opens it, whatever stands in it before it goes up again, and whatever its
// argument is called; a list of paths is judged one by one.
func TestPathsOfTools(t *testing.T) {
	const key = "/home/dev/.ssh/id_rsa"
	read := []string{"read home readonly " + key + " +secret", "credential home readonly " + key + " +secret"}
	var readings []impacttest.Reading
	for _, spelling := range []string{key, "/home/dev/a, b/../.ssh/id_rsa", "/home/dev/a{/../.ssh/id_rsa",
		`/home/dev/a\n/../.ssh/id_rsa`, "x{/../../.ssh/id_rsa",
		"/home/dev/a://b/../../.ssh/id_rsa", "/home/dev/" + strings.Repeat("x/../", 1000) + ".ssh/id_rsa"} {
		want := read
		switch { // what else it may be is judged as well
		case strings.Contains(spelling, "://"):
			want = append([]string{"read external readonly " + spelling + " +injection"}, read...)
		case strings.Contains(spelling, ", "):
			want = append(read[:2:2], "read home readonly /home/dev/a")
		case strings.Contains(spelling, `\n`):
			want = append(read[:2:2], "read home readonly /home/dev/a", "read home readonly /.ssh/id_rsa +secret",
				"credential home readonly /.ssh/id_rsa +secret")
		}
		readings = append(readings, impacttest.Reading{Name: "at " + spelling[:min(len(spelling), 24)],
			Action: impacttest.Object(interlock.KindTool, "files.read_text_file", `{"path":"`+spelling+`"}`), Want: want})
	}
	other := append(read[:2:2], "read workspace readonly")
	impacttest.CheckReadings(t, append(readings,
		impacttest.Reading{Name: "a list in one text",
			Action: impacttest.Object(interlock.KindTool, "files.read_text_file", `{"path":"src/a.go, `+key+`"}`), Want: other},
		impacttest.Reading{Name: "under another name", Action: impacttest.Object(interlock.KindTool, "docs.read_doc", `{"location":"`+key+`"}`), Want: other},
		impacttest.Reading{Name: "as a source", Action: impacttest.Object(interlock.KindTool, "docs.read_doc", `{"source":"`+key+`"}`), Want: other},
		impacttest.Reading{Name: "a route",
			Action: impacttest.Object(interlock.KindTool, "api.create_route", `{"route":"/api/users"}`), Want: []string{"write workspace reversible"}},
		impacttest.Reading{Name: "a pattern",
			Action: impacttest.Object(interlock.KindTool, "files.read_text_file", `{"path":"src/{a,b}.go"}`), Want: []string{"read workspace readonly"}},
	))
}
