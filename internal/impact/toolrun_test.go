package impact_test

import (
	"slices"
	"testing"

	"interlock"
	"interlock/internal/impact"
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
	found := impact.NewAnalyser(knowledge(t)).Analyse(interlock.View{Home: "/home/dev", Workspace: "/home/dev/project"}, object(interlock.KindTool, tool, arguments)).Impacts
	return slices.ContainsFunc(found, func(i interlock.Impact) bool { return i.Kind == interlock.ImpactDelete && i.Target == "/home/dev" })
}

// TestToolOperations has an argument say what the name does not.
func TestToolOperations(t *testing.T) {
	call := func(name, arguments string) interlock.Action { return object(interlock.KindTool, name, arguments) }
	checkReadings(t, []reading{
		{"op over all", call("mongo_collection", `{"op":"deleteMany","filter":{}}`), []string{"delete workspace irreversible +bulk"}},
		{"op over some", call("mongo_collection", `{"op":"deleteMany","filter":{"a":1}}`), []string{"delete workspace window"}},
		{"op that reads", call("mongo_collection", `{"op":"find","filter":{}}`), []string{"execute workspace reversible"}},
		{"what a search wants", call("find_home", `{"intent":"buy"}`), []string{"read workspace readonly"}},
		{"a request", call("api_request", `{"method":"DELETE","path":"/repos/a/b"}`), []string{
			"delete external irreversible /repos/a/b", "write home reversible /repos/a/b", "execute workspace reversible"}},
		{"a disk", call("disk.format", `{"target":"backup"}`), []string{"delete workspace irreversible +infrastructure"}},
		{"off", call("power_off", `{}`), []string{"configure workspace irreversible +infrastructure"}},
		{"a document", call("formatDocument", `{}`), []string{"execute workspace reversible"}},
	})
}
