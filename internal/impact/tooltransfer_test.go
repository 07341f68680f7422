package impact_test

import (
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
		{"nothing of files", object(interlock.KindTool, "move_email", `{"from":"INBOX","to":"Archive"}`), []string{"write workspace reversible"}},
		{"from one store on the web to another", object(interlock.KindTool, "copy_object", `{"source":"s3://a/x","destination":"s3://b/x"}`), []string{"read external readonly s3://b/x", "write workspace reversible"}},
	})
}
