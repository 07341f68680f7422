package impact_test

import (
	"strings"
	"testing"

	"interlock"
)

// TestToolsThatMoveAndCopy: both places count, whatever the arguments are called and however deep they lie. What a move takes away
// is changed where it was, what a copy or a link shows is read.
func TestToolsThatMoveAndCopy(t *testing.T) {
	checkReadings(t, []reading{
		{"a secret moved into the workspace", object(interlock.KindTool, "files.move_file", `{"source":"/home/dev/.ssh/id_rsa","destination":"/home/dev/project/x"}`), []string{
			"write workspace reversible /home/dev/project/x", "write home reversible /home/dev/.ssh/id_rsa +moved +secret"}},
		{"a file of the workspace renamed", object(interlock.KindTool, "move_file", `{"source":"src/a.go","destination":"src/b.go"}`), []string{
			"write workspace reversible /home/dev/project/src/b.go", "write workspace reversible /home/dev/project/src/a.go +moved"}},
		{"the workspace itself", object(interlock.KindTool, "mcp__files__moveFile", `{"source":"/home/dev/project","destination":"/home/dev/gone"}`), []string{
			"write home reversible /home/dev/gone", "write workspace reversible /home/dev/project +moved +uncommitted"}},
		{"version control", object(interlock.KindTool, "files.move_file", `{"source":"./.git","destination":"/tmp/x"}`), []string{
			"write workspace reversible /tmp/x", "write workspace reversible /home/dev/project/.git +history +moved"}},
		{"other words", object(interlock.KindTool, "fs.rename", `{"old_path":"/etc/passwd","new_path":"/etc/p"}`), []string{
			"write system reversible /etc/passwd +account +moved", "write system reversible /etc/p"}},
		{"a copy", object(interlock.KindTool, "fs.copy_file", `{"src":"/home/dev/.aws/credentials","dst":"./y"}`), []string{
			"read home readonly /home/dev/.aws/credentials +secret", "credential home readonly /home/dev/.aws/credentials +secret", "write workspace reversible /home/dev/project/y"}},
		{"many", object(interlock.KindTool, "files.batch_move", `{"moves":[{"from":"/home/dev/.aws/credentials","to":"x/y"}]}`), []string{
			"write home reversible /home/dev/.aws/credentials +moved +secret", "write workspace reversible /home/dev/project/x/y"}},
		{"a place whose other has no name we know", object(interlock.KindTool, "fs.copy_file", `{"source":"/home/dev/.aws/credentials","where":"x"}`), []string{
			"write home reversible /home/dev/.aws/credentials +secret", "write workspace reversible"}},
		{"nothing of files", object(interlock.KindTool, "move_email", `{"from":"INBOX","to":"Archive"}`), []string{"write workspace reversible"}},
		{"from one store on the web to another", object(interlock.KindTool, "copy_object", `{"source":"s3://a/x","destination":"s3://b/x"}`), []string{"read external readonly s3://b/x", "write workspace reversible"}},
	})
}

// TestPathsOfTools: a path is judged as the program opens it, whatever stands in it before it goes up again, and whatever its
// argument is called; a list of paths is judged one by one.
func TestPathsOfTools(t *testing.T) {
	const key = "/home/dev/.ssh/id_rsa"
	read := []string{"read home readonly " + key + " +secret", "credential home readonly " + key + " +secret"}
	var readings []reading
	for _, spelling := range []string{key, "/home/dev/a, b/../.ssh/id_rsa", "/home/dev/a{/../.ssh/id_rsa", `/home/dev/a\n/../.ssh/id_rsa`, "x{/../../.ssh/id_rsa",
		"/home/dev/a://b/../../.ssh/id_rsa", "/home/dev/" + strings.Repeat("x/../", 1000) + ".ssh/id_rsa"} {
		want := read
		switch { // what else it may be is judged as well
		case strings.Contains(spelling, "://"):
			want = append([]string{"read external readonly " + spelling + " +injection"}, read...)
		case strings.Contains(spelling, ", "):
			want = append(read[:2:2], "read home readonly /home/dev/a")
		case strings.Contains(spelling, `\n`):
			want = append(read[:2:2], "read home readonly /home/dev/a", "read home readonly /.ssh/id_rsa +secret", "credential home readonly /.ssh/id_rsa +secret")
		}
		readings = append(readings, reading{"at " + spelling[:min(len(spelling), 24)], object(interlock.KindTool, "files.read_text_file", `{"path":"`+spelling+`"}`), want})
	}
	other := append(read[:2:2], "read workspace readonly")
	checkReadings(t, append(readings,
		reading{"a list in one text", object(interlock.KindTool, "files.read_text_file", `{"path":"src/a.go, `+key+`"}`), other},
		reading{"under another name", object(interlock.KindTool, "docs.read_doc", `{"location":"`+key+`"}`), other},
		reading{"as a source", object(interlock.KindTool, "docs.read_doc", `{"source":"`+key+`"}`), other},
		reading{"a route", object(interlock.KindTool, "api.create_route", `{"route":"/api/users"}`), []string{"write workspace reversible"}},
		reading{"a pattern", object(interlock.KindTool, "files.read_text_file", `{"path":"src/{a,b}.go"}`), []string{"read workspace readonly"}},
	))
}
