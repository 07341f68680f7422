package program_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/impacttest"
)

// programOf64K is an everyday program of 64 KB in each language, made of functions, classes and calls.
var programsOf64K = map[interlock.Kind]string{
	interlock.KindPython: fill("import os, json, subprocess\nfrom pathlib import Path\n", `
class Report%d:
    """A report about something."""
    def __init__(self, name, rows=None):
        self.name = name
        self.rows = rows or []

    def add(self, key, value=0, **extra):
        self.rows.append({"key": key, "value": value, **extra})
        return len(self.rows)

    def save(self, directory="build"):
        path = os.path.join(directory, f"{self.name}-{len(self.rows)}.json")
        with open(path, "w") as f:
            json.dump([r for r in self.rows if r["value"] > 0], f, indent=2)
        return path

def build%d(names):
    out = []
    for i, name in enumerate(names):
        if not name.startswith("_"):
            r = Report%d(name)
            r.add("a", i * 2 + 1)
            out.append(r.save())
    subprocess.run(["git", "add", *out], check=True)
    return {k: v for k, v in zip(names, out)}
`),
	interlock.KindJavaScript: fill("import fs from 'node:fs';\nimport { execSync } from 'child_process';\n", `
export class Report%d extends Base {
  constructor(name, rows = []) { super(); this.name = name; this.rows = rows; }
  add(key, value = 0, extra) { this.rows.push({ key, value, ...extra }); return this.rows.length; }
  save(directory = 'build') {
    const path = `+"`${directory}/${this.name}-${this.rows.length}.json`"+`;
    fs.writeFileSync(path, JSON.stringify(this.rows.filter(r => r.value > 0), null, 2));
    return path;
  }
}
export async function build%d(names) {
  const out = [];
  for (const [i, name] of names.entries()) {
    if (/^_/.test(name) || name === 'x') continue;
    const r = new Report%d(name);
    r.add('a', i * 2 + 1);
    out.push(r.save());
  }
  execSync('git add ' + out.join(' '));
  return out.map((v, i) => ({ [names[i]]: v }));
}
`),
}

func fill(head, unit string) string {
	var b strings.Builder
	b.WriteString(head)
	for n := 0; b.Len() < 64<<10; n++ {
		b.WriteString(strings.ReplaceAll(unit, "%d", string(rune('A'+n%26))+string(rune('a'+n/26%26))))
	}
	return b.String()
}

// hostileProgram are 64 KB of what would make a careless reader slow: every shape repeated.
var hostilePrograms = map[interlock.Kind][]string{
	interlock.KindPython: {"x = x + 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'\n", "a = a + a\n", "f(", "a.b", "lambda: ",
		"x = [y for y in x for z in y]\n", "def f():\n  f()\n  f()\n",
		"f'{f(", "if x:\n ", "a = [a, a, a, a]\n", "x if y else ", "not ", "'a' 'b' ", "{**a, **a} ", "a, b, c, d = a\n",
		"def f(a=f): return f(f)\nf(f)\n", "x.append(x)\n",
		"for i in range(64):\n    for j in range(64):\n        x += chr(i)\n", "s = s.replace('a', 'aaaaaaaaaaaaaaaaaaaa')\n",
		"class A(A):\n    def __init__(self): A()\n"},
	interlock.KindJavaScript: {"x = x + 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';", "f(", "a.b", "x => ", "`${", "a ? (b) : ", "/a/ / ",
		"x = {...x, ...x};", "a = [...a, ...a];", "async () => {", "!",
		"function f(){f();f()}", "(a)(b)(c)", "<a>", "if(x)", "new ", "class A extends A{constructor(){new A}}", "} / ", "[[]]"},
}

// BenchmarkProgram reads 64 KB. The budget is 10 ms.
func BenchmarkProgram(b *testing.B) {
	analyser := impact.NewAnalyser(impacttest.Knowledge(b))
	for _, kind := range []interlock.Kind{interlock.KindPython, interlock.KindJavaScript} {
		b.Run("everyday "+string(kind), func(b *testing.B) {
			action := impacttest.Source(kind, programsOf64K[kind])
			b.ReportAllocs()
			for b.Loop() {
				analyser.Analyse(impacttest.Where, action)
			}
		})
		for _, unit := range hostilePrograms[kind] {
			b.Run(string(kind)+" "+strings.ReplaceAll(unit[:min(len(unit), 12)], "/", "÷"), func(b *testing.B) {
				action := impacttest.Source(kind, strings.Repeat(unit, (64<<10)/len(unit)))
				for b.Loop() {
					analyser.Analyse(impacttest.Where, action)
				}
			})
		}
	}
}
