package call_test

import (
	"slices"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/impacttest"
)

// TestToolsThatRun has tools be given the same deletion in every way that an argument can say it, and harmless things beside it.
func TestToolsThatRun(t *testing.T) {
	gone := []struct{ tool, arguments string }{
		{"run", `{"program":"rm","arguments":["-rf","/home/dev"]}`},
		{"shell.exec", `{"program":"/usr/bin/rm","argv":["rm","-r","-f","/home/dev"]}`},
		{"Shell-Exec", `{"bin":"rm","flags":["-r","-f"],"operands":["/home/dev"]}`},
		{"mcp__proc__spawn", `{"cmd":["rm","-rf","/home/dev"]}`},
		{"mcp__proc__spawn", `{"file":"/bin/rm","args":["-rf","/home/dev"]}`},
		{"run", `{"program":"rm","args":["-rf","."],"cwd":"/home/dev"}`},
		{"run", `{"argv":["sh","-c","rm -rf /home/dev"]}`},
		{"run", `{"command":"bash","stdin":"rm -rf /home/dev"}`},
		{"run", `{"json":"{\"cmdline\":\"rm -rf /home/dev\"}"}`},
		{"run", `{"b64":"cm0gLXJmIC9ob21lL2Rldg=="}`},
		{"run", `{"steps":["ls",{"sh":"rm -rf /home/dev"}]}`},
		{"run_tests", `{"args":["; rm -rf /home/dev"]}`},
		{"term.send", `{"keys":["rm -rf /home/dev","Enter"]}`},
		{"batch", `{"calls":[{"tool":"run","input":{"line":"rm -rf /home/dev"}}]}`},
		{"dispatch", `{"toolName":"bash","toolInput":{"command":"rm -rf /home/dev"}}`},
		{"run_script", `{"lang":"perl","code":"system('rm -rf /home/dev')"}`},
		{"find", `{"path":"/home/dev","options":["-delete"]}`},
		{"git", `{"command":"rebase","options":{"exec":"rm -rf /home/dev"}}`},
	}
	for _, c := range gone {
		if !deletesHome(t, c.tool, c.arguments) {
			t.Errorf("%s %s: no deletion of the home directory is found", c.tool, c.arguments)
		}
	}
	for _, c := range []struct{ tool, arguments string }{
		{"run_task", `{"description":"rm -rf /home/dev is what we never do"}`},
		{"run_agent", `{"prompt":"rm -rf /home/dev"}`},
		{"spawn_agent", `{"task":"rm -rf /home/dev isn't allowed"}`},
		{"grep", `{"pattern":"rm -rf /home/dev","path":"."}`},
		{"echo", `{"text":"rm -rf /home/dev"}`},
		{"add_comment", `{"body":"rm -rf /home/dev"}`},
		{"exec", `{"cmd":"grep","args":["-rn","rm -rf /home/dev","src"]}`},
		{"Skill", `{"skill":"plan","args":"remove what is in /home/dev and write it anew, one file after the other"}`},
	} {
		if deletesHome(t, c.tool, c.arguments) {
			t.Errorf("%s %s: taken for a deletion of the home directory", c.tool, c.arguments)
		}
	}
}

func deletesHome(t *testing.T, tool, arguments string) bool {
	found := impact.NewAnalyser(impacttest.Knowledge(t)).Analyse(interlock.View{Home: "/home/dev",
		Workspace: "/home/dev/project"}, impacttest.Object(interlock.KindTool, tool, arguments)).Impacts
	return slices.ContainsFunc(found, func(i interlock.Impact) bool { return i.Kind == interlock.ImpactDelete && i.Target == "/home/dev" })
}

// TestToolOperations has an argument say what the name does not.
func TestToolOperations(t *testing.T) {
	call := func(name, arguments string) interlock.Action {
		return impacttest.Object(interlock.KindTool, name, arguments)
	}
	impacttest.CheckReadings(t, []impacttest.Reading{
		{Name: "op over all", Action: call("mongo_collection", `{"op":"deleteMany","filter":{}}`), Want: []string{"delete workspace irreversible +bulk +database"}},
		{Name: "op over some", Action: call("mongo_collection", `{"op":"deleteMany","filter":{"a":1}}`), Want: []string{"delete workspace window +database"}},
		{Name: "op that reads", Action: call("mongo_collection", `{"op":"find","filter":{}}`), Want: []string{"execute workspace reversible"}},
		{Name: "what a search wants", Action: call("find_home", `{"intent":"buy"}`), Want: []string{"read workspace readonly"}},
		{Name: "a request", Action: call("api_request", `{"method":"DELETE","path":"/repos/a/b"}`), Want: []string{
			"delete external irreversible /repos/a/b", "write home reversible /repos/a/b", "execute workspace reversible"}},
		{Name: "a disk", Action: call("disk.format", `{"target":"backup"}`), Want: []string{"delete workspace irreversible +infrastructure"}},
		{Name: "off", Action: call("power_off", `{}`), Want: []string{"configure workspace irreversible +infrastructure"}},
		{Name: "a document", Action: call("formatDocument", `{}`), Want: []string{"execute workspace reversible"}},
	})
}
