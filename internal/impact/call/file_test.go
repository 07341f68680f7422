package call_test

import (
	"encoding/json"
	"testing"

	"interlock"
	"interlock/internal/impact/impacttest"
)

func TestFile(t *testing.T) {
	file := func(tool, arguments string) interlock.Action {
		return impacttest.Object(interlock.KindFile, tool, arguments)
	}
	impacttest.CheckReadings(t, []impacttest.Reading{
		{Name: "plain write", Action: file("write", `{"path":"src/a.go","content":"package a"}`), Want: []string{
			"write workspace reversible /home/dev/project/src/a.go +overwrite"}},
		{Name: "plain edit", Action: file("Edit", `{"file_path":"/home/dev/project/a.go","old_string":"x","new_string":"y"}`), Want: []string{
			"write workspace reversible /home/dev/project/a.go"}},
		{Name: "edits of several places", Action: file("MultiEdit", `{"file_path":"a.go","edits":[{"old_string":"x","new_string":"y"}]}`), Want: []string{
			"write workspace reversible /home/dev/project/a.go"}},
		{Name: "editor command says more than its name", Action: file("str_replace_editor", `{"command":"view","path":"a.go"}`), Want: []string{
			"read workspace readonly /home/dev/project/a.go"}},
		{Name: "search without a path", Action: file("Grep", `{"pattern":"x"}`), Want: []string{"read workspace readonly /home/dev/project"}},
		{Name: "delete", Action: file("delete", `{"path":"a.go"}`), Want: []string{"delete workspace irreversible /home/dev/project/a.go"}},
		{Name: "move", Action: file("move_file", `{"source":"a.go","destination":"b.go"}`), Want: []string{
			"delete workspace reversible /home/dev/project/a.go", "write workspace reversible /home/dev/project/b.go"}},
		{Name: "private key in content",
			Action: file("write", `{"path":"k.txt","content":"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDndJt7NaG8\n-----END PRIVATE KEY-----"}`), Want: []string{
				"write workspace reversible /home/dev/project/k.txt +overwrite", "credential workspace reversible /home/dev/project/k.txt +secret"}},
		{Name: "own files", Action: file("write", `{"path":"~/.interlock/interlock.db","content":""}`), Want: []string{
			"write self reversible /home/dev/.interlock/interlock.db +overwrite +self"}},
		{Name: "patch envelope", Action: file("apply_patch",
			`{"input":"*** Begin Patch\n*** Add File: n.go\n+package n\n*** Update File: a.go\n*** Move to: b.go\n@@\n-x\n+y\n*** Delete File: c.go\n*** End Patch"}`), Want: []string{
			"write workspace reversible /home/dev/project/n.go",
			"delete workspace reversible /home/dev/project/a.go", "write workspace reversible /home/dev/project/b.go",
			"delete workspace irreversible /home/dev/project/c.go"}},
		{Name: "unified diff", Action: file("apply_diff", `{"diff":"--- a/x.go\n+++ /dev/null\n@@\n-x\n--- /dev/null\n+++ b/y.go\n@@\n+y\n"}`), Want: []string{
			"delete workspace irreversible /home/dev/project/x.go", "write workspace reversible /home/dev/project/y.go"}},
		{Name: "patch without a file", Action: file("apply_patch", `{"input":"*** Begin Patch\n*** End Patch"}`),
			Want: []string{"execute system irreversible +unparsable ?"}},
		{Name: "no path", Action: file("write", `{"content":"x"}`), Want: []string{"execute system irreversible +unparsable ?"}},
		{Name: "not an object", Action: file("write", `["path"]`), Want: []string{"execute system irreversible +unparsable ?"}},
		{Name: "link to a key", Action: file("create_symlink", `{"target":"~/.ssh/id_rsa","link":"k"}`), Want: []string{
			"write workspace reversible /home/dev/project/k", "read home readonly /home/dev/.ssh/id_rsa +secret",
			"credential home readonly /home/dev/.ssh/id_rsa +secret"}},
		{Name: "link in the project", Action: file("create_symlink", `{"target":"src/a","link":"b"}`), Want: []string{
			"write workspace reversible /home/dev/project/b", "write workspace reversible /home/dev/project/src/a"}},
		{Name: "rights of the owner", Action: file("write_file", `{"path":"t","content":"x","mode":"4755"}`), Want: []string{
			"privilege workspace reversible /home/dev/project/t +account", "write workspace reversible /home/dev/project/t +overwrite"}},
		{Name: "rights to run", Action: file("write_file", `{"path":"t","content":"x","mode":"0755"}`),
			Want: []string{"write workspace reversible /home/dev/project/t +overwrite"}},
		{Name: "far up", Action: file("read", `{"path":"../../../../../etc/hostname"}`), Want: []string{"read system readonly /etc/hostname +climbing"}},
		{Name: "one up", Action: file("read", `{"path":"../other/a.txt"}`), Want: []string{"read home readonly /home/dev/other/a.txt"}},
		{Name: "hidden traversal", Action: file("read", `{"path":"..%252f..%252f..%252f..%252f..%252fetc/hostname"}`), Want: []string{
			"read system readonly /etc/hostname +climbing +injection +obfuscated ?"}},
	})
}

// TestStartupFile shows that what is written where it will run is read as what will run.
func TestStartupFile(t *testing.T) {
	got := impacttest.Analyse(t, impacttest.Object(interlock.KindFile, "write", `{"path":"~/.bashrc","content":"rm -rf ~/"}`))
	if !impacttest.AnyImpact(got, func(i interlock.Impact) bool { return i.Kind == interlock.ImpactPersist }) {
		t.Errorf("no persist impact in %+v", got)
	}
	if !impacttest.AnyImpact(got, func(i interlock.Impact) bool { return i.Kind == interlock.ImpactDelete && i.Has("recursive") }) {
		t.Errorf("the command in the start-up file was not read: %+v", got)
	}
}

// FuzzPatch: any patch is analysed to what [holds] demands: without panic, within bounds, twice alike.
func FuzzPatch(f *testing.F) {
	know := impacttest.Knowledge(f)
	for _, seed := range []string{"*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch",
		"--- a/x\n+++ b/x\n@@\n+y", "rename from a\nrename to b\n", "*** Move to:", "+++ \n--- ", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, patch string) {
		arguments, err := json.Marshal(map[string]string{"patch": patch})
		if err != nil {
			t.Fatal(err)
		}
		impacttest.Holds(t, know, interlock.Action{Kind: interlock.KindFile, Tool: "apply_patch", Arguments: arguments})
	})
}
