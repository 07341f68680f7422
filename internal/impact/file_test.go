package impact_test

import (
	"encoding/json"
	"testing"

	"interlock"
)

func TestFile(t *testing.T) {
	file := func(tool, arguments string) interlock.Action { return object(interlock.KindFile, tool, arguments) }
	checkReadings(t, []reading{
		{"plain write", file("write", `{"path":"src/a.go","content":"package a"}`), []string{
			"write workspace reversible /home/dev/project/src/a.go +overwrite"}},
		{"plain edit", file("Edit", `{"file_path":"/home/dev/project/a.go","old_string":"x","new_string":"y"}`), []string{
			"write workspace reversible /home/dev/project/a.go"}},
		{"edits of several places", file("MultiEdit", `{"file_path":"a.go","edits":[{"old_string":"x","new_string":"y"}]}`), []string{
			"write workspace reversible /home/dev/project/a.go"}},
		{"editor command says more than its name", file("str_replace_editor", `{"command":"view","path":"a.go"}`), []string{
			"read workspace readonly /home/dev/project/a.go"}},
		{"search without a path", file("Grep", `{"pattern":"x"}`), []string{"read workspace readonly /home/dev/project"}},
		{"delete", file("delete", `{"path":"a.go"}`), []string{"delete workspace irreversible /home/dev/project/a.go"}},
		{"move", file("move_file", `{"source":"a.go","destination":"b.go"}`), []string{
			"delete workspace reversible /home/dev/project/a.go", "write workspace reversible /home/dev/project/b.go"}},
		{"private key in content", file("write", `{"path":"k.txt","content":"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDndJt7NaG8\n-----END PRIVATE KEY-----"}`), []string{
			"write workspace reversible /home/dev/project/k.txt +overwrite", "credential workspace reversible /home/dev/project/k.txt +secret"}},
		{"own files", file("write", `{"path":"~/.interlock/interlock.db","content":""}`), []string{
			"write self reversible /home/dev/.interlock/interlock.db +overwrite +self"}},
		{"patch envelope", file("apply_patch", `{"input":"*** Begin Patch\n*** Add File: n.go\n+package n\n*** Update File: a.go\n*** Move to: b.go\n@@\n-x\n+y\n*** Delete File: c.go\n*** End Patch"}`), []string{
			"write workspace reversible /home/dev/project/n.go",
			"delete workspace reversible /home/dev/project/a.go", "write workspace reversible /home/dev/project/b.go",
			"delete workspace irreversible /home/dev/project/c.go"}},
		{"unified diff", file("apply_diff", `{"diff":"--- a/x.go\n+++ /dev/null\n@@\n-x\n--- /dev/null\n+++ b/y.go\n@@\n+y\n"}`), []string{
			"delete workspace irreversible /home/dev/project/x.go", "write workspace reversible /home/dev/project/y.go"}},
		{"patch without a file", file("apply_patch", `{"input":"*** Begin Patch\n*** End Patch"}`), []string{"execute system irreversible +unparsable ?"}},
		{"no path", file("write", `{"content":"x"}`), []string{"execute system irreversible +unparsable ?"}},
		{"not an object", file("write", `["path"]`), []string{"execute system irreversible +unparsable ?"}},
		{"link to a key", file("create_symlink", `{"target":"~/.ssh/id_rsa","link":"k"}`), []string{
			"write workspace reversible /home/dev/project/k", "read home readonly /home/dev/.ssh/id_rsa +secret", "credential home readonly /home/dev/.ssh/id_rsa +secret"}},
		{"link in the project", file("create_symlink", `{"target":"src/a","link":"b"}`), []string{
			"write workspace reversible /home/dev/project/b", "write workspace reversible /home/dev/project/src/a"}},
		{"rights of the owner", file("write_file", `{"path":"t","content":"x","mode":"4755"}`), []string{
			"privilege workspace reversible /home/dev/project/t +account", "write workspace reversible /home/dev/project/t +overwrite"}},
		{"rights to run", file("write_file", `{"path":"t","content":"x","mode":"0755"}`), []string{"write workspace reversible /home/dev/project/t +overwrite"}},
		{"far up", file("read", `{"path":"../../../../../etc/hostname"}`), []string{"read system readonly /etc/hostname +climbing"}},
		{"one up", file("read", `{"path":"../other/a.txt"}`), []string{"read home readonly /home/dev/other/a.txt"}},
		{"hidden traversal", file("read", `{"path":"..%252f..%252f..%252f..%252f..%252fetc/hostname"}`), []string{
			"read system readonly /etc/hostname +climbing +injection +obfuscated ?"}},
	})
}

// TestStartupFile shows that what is written where it will run is read as what will run.
func TestStartupFile(t *testing.T) {
	got := analyse(t, object(interlock.KindFile, "write", `{"path":"~/.bashrc","content":"rm -rf ~/"}`))
	if !anyImpact(got, func(i interlock.Impact) bool { return i.Kind == interlock.ImpactPersist }) {
		t.Errorf("no persist impact in %+v", got)
	}
	if !anyImpact(got, func(i interlock.Impact) bool { return i.Kind == interlock.ImpactDelete && i.Has("recursive") }) {
		t.Errorf("the command in the start-up file was not read: %+v", got)
	}
}

// FuzzPatch: any patch is analysed to what [holds] demands: without panic, within bounds, twice alike.
func FuzzPatch(f *testing.F) {
	know := knowledge(f)
	for _, seed := range []string{"*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch", "--- a/x\n+++ b/x\n@@\n+y", "rename from a\nrename to b\n", "*** Move to:", "+++ \n--- ", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, patch string) {
		arguments, err := json.Marshal(map[string]string{"patch": patch})
		if err != nil {
			t.Fatal(err)
		}
		holds(t, know, interlock.Action{Kind: interlock.KindFile, Tool: "apply_patch", Arguments: arguments})
	})
}
