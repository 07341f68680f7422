package harnesses

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/test/product"
)

// answers is a program that stands for the hook: each time it does what the next line says, and when none is left it goes.
const answers = `#!/bin/sh
cd "${0%/*}"
cat > asked.json
line=$(sed -n 1p lines)
sed 1d lines > rest
mv rest lines
[ -s lines ] || rm "$0"
eval "$line"
`

// pluginCalls has the plugin judge a call for each line, and prints what became of it.
const pluginCalls = `
import { Interlock } from "./interlock.mjs"
const hooks = await Interlock({ directory: "/r", client: { app: { log: async (entry) => console.log("logged", entry.body.message) } } })
const before = hooks["tool.execute.before"]
for (let i = 0; i < Number(process.argv[2]); i++) {
  const output = { args: { command: "ls", gone: true } }
  try {
    await before({ tool: "bash", sessionID: "s", callID: "c" }, output)
    console.log("runs", JSON.stringify(output.args))
  } catch (error) {
    console.log("refused", error.message.replace(/(gave no answer, so nothing runs:).*/, "$1 …"))
  }
}
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "s", callID: "c", args: {} }, { metadata: { exit: 1 } })
`

// The plugin by itself: only an allow in so many words lets a call run, with the arguments it names in the place of those that
// were there.
func TestOpenCodePluginLetsNothingElseRun(t *testing.T) {
	d := newDesk(t)
	d.interlock("install", "opencode")
	calls := []struct{ line, want string }{
		{`echo '{"verdict":"allow"}'`, `runs {"command":"ls","gone":true}`},
		{`echo '{"verdict":"allow","args":{"command":"boxed ls"}}'`, `runs {"command":"boxed ls"}`},
		{`echo '{"verdict":"deny","reason":"[r] because"}'`, `refused [r] because`},
		{`echo '{"verdict":"deny"}'`, `refused [hook.plugin] Interlock gave no answer that can be read, so nothing runs.`},
		{`echo '{"verdict":"Allow"}'`, `refused [hook.plugin] Interlock gave no answer that can be read, so nothing runs.`},
		{`echo '{}'`, `refused [hook.plugin] Interlock gave no answer that can be read, so nothing runs.`},
		{`echo null`, `refused [hook.plugin] Interlock gave no answer that can be read, so nothing runs.`},
		{`true`, `refused [hook.plugin] Interlock gave no answer, so nothing runs: …`},
		{`echo '{"verdict":"allow"} x'`, `refused [hook.plugin] Interlock gave no answer, so nothing runs: …`},
		{`echo '{"verdict":"allow"}'; exit 1`, `refused [hook.plugin] Interlock gave no answer, so nothing runs: …`},
		{`echo '{"verdict":"allow"}'; kill -9 $$`, `refused [hook.plugin] Interlock gave no answer, so nothing runs: …`},
	}
	var lines, want []string
	for _, c := range calls {
		lines, want = append(lines, c.line), append(want, c.want)
	}
	want = append(want, "refused [hook.plugin] Interlock gave no answer, so nothing runs: …", // the program is gone
		"logged the outcome of a call is not recorded: spawn "+d.path("hook")+" ENOENT")
	plugin := d.read("~/.config/opencode/plugins/interlock.js")
	d.write("interlock.mjs", strings.ReplaceAll(plugin, product.Hook(), d.path("hook")))
	d.write("calls.mjs", pluginCalls)
	d.write("hook", answers)
	d.write("lines", strings.Join(lines, "\n")+"\n")
	if err := os.Chmod(d.path("hook"), 0o700); err != nil {
		t.Fatal(err)
	}
	out := d.must("node", "calls.mjs", strconv.Itoa(len(calls)+1))
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(out), "\n")); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}
	const asked = `{"event":"tool.execute.before","tool":"bash","sessionID":"s","callID":"c","directory":"/r","args":{"command":"ls","gone":true}}`
	if got := d.read("asked.json"); got != asked {
		t.Errorf("the program was asked %s", got)
	}
}
