package program_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/impacttest"
)

// A programSpelling is one call of a library's function, written in the way that choices say.
type programSpelling struct {
	kind     interlock.Kind
	choices  []byte
	head     string // imports and what stands before
	callee   string
	argument string
	count    int
	made     int // names that were made
}

// next returns the next choice out of n.
func (p *programSpelling) next(n int) int {
	if p.count >= len(p.choices) {
		return 0
	}
	p.count++
	return int(p.choices[p.count-1]) % n
}

// text spells a constant.
func (p *programSpelling) text(text string) string {
	quote := func(part string) string { return "'" + part + "'" }
	cut := 1 + p.next(len(text)-1)
	p.made++
	part, whole, given := fmt.Sprint("part", p.made), fmt.Sprint("whole", p.made), fmt.Sprint("given", p.made)
	if p.kind == interlock.KindPython {
		switch p.next(14) {
		case 1:
			return quote(text[:cut]) + " + " + quote(text[cut:])
		case 2:
			return "(" + quote(text[:cut]) + "\n    " + quote(text[cut:]) + ")"
		case 3:
			return "''.join([" + quote(text[:cut]) + ", " + quote(text[cut:]) + "])"
		case 4:
			return "'%s%s' % (" + quote(text[:cut]) + ", " + quote(text[cut:]) + ")"
		case 5:
			return "'{}{}'.format(" + quote(text[:cut]) + ", " + quote(text[cut:]) + ")"
		case 6:
			p.head += part + " = " + quote(text[:cut]) + "\n"
			return "f'{" + part + "}" + text[cut:] + "'"
		case 7:
			var numbers []string
			for _, c := range text {
				numbers = append(numbers, fmt.Sprint(int(c)))
			}
			return "''.join(chr(n) for n in [" + strings.Join(numbers, ",") + "])"
		case 8:
			return "bytes.fromhex('" + hex.EncodeToString([]byte(text)) + "').decode()"
		case 9:
			return "'" + reverse(text) + "'[::-1]"
		case 10:
			return "'''" + text + "'''"
		case 11:
			p.head += whole + " = " + quote(text[:cut]) + "\n" + whole + " += " + quote(text[cut:]) + "\n"
			return whole
		case 12:
			return `"` + escaped(text) + `"`
		case 13:
			p.head += "def " + given + "():\n    return " + quote(text) + "\n"
			return given + "()"
		}
		return quote(text)
	}
	switch p.next(9) {
	case 1:
		return quote(text[:cut]) + " + " + quote(text[cut:])
	case 2:
		return "[" + quote(text[:cut]) + ", " + quote(text[cut:]) + "].join('')"
	case 3:
		p.head += "const " + part + " = " + quote(text[:cut]) + ";\n"
		return "`${" + part + "}" + text[cut:] + "`"
	case 4:
		return "'" + reverse(text) + "'.split('').reverse().join('')"
	case 5:
		return "Buffer.from('" + hex.EncodeToString([]byte(text)) + "', 'hex').toString()"
	case 6:
		return `"` + escaped(text) + `"`
	case 7:
		p.head += "const " + given + " = () => " + quote(text) + ";\n"
		return given + "()"
	case 8:
		var numbers []string
		for _, c := range text {
			numbers = append(numbers, fmt.Sprint(int(c)))
		}
		return "String.fromCharCode(" + strings.Join(numbers, ",") + ")"
	}
	return quote(text)
}

func reverse(text string) string {
	out := []byte(text)
	for i := range len(out) / 2 {
		out[i], out[len(out)-1-i] = out[len(out)-1-i], out[i]
	}
	return string(out)
}

func escaped(text string) string {
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, `\x%02x`, text[i])
	}
	return b.String()
}

// named spells module.function.
func (p *programSpelling) named(module, function string) string {
	if p.kind == interlock.KindPython {
		switch p.next(11) {
		case 1:
			p.head += "import " + module + " as m\n"
			return "m." + function
		case 2:
			p.head += "from " + module + " import " + function + "\n"
			return function
		case 3:
			p.head += "from " + module + " import (\n    " + function + " as f,\n)\n"
			return "f"
		case 4:
			p.head += "import " + module + "\n"
			return "getattr(" + module + ", " + p.text(function) + ")"
		case 5:
			return "__import__(" + p.text(module) + ")." + function
		case 6:
			p.head += "import importlib\n"
			return "importlib.import_module(" + p.text(module) + ")." + function
		case 7:
			p.head += "import " + module + "\nf = " + module + "." + function + "\n"
			return "f"
		case 8:
			p.head += "from " + module + " import *\n"
			return function
		case 9:
			p.head += "import " + module + "\ntable = {'a': " + module + "." + function + "}\n"
			return "table['a']"
		case 10:
			p.head += "import " + module + ", sys\n"
			return "sys.modules['" + module + "'].__dict__['" + function + "']"
		}
		p.head += "import " + module + "\n"
		return module + " . " + function
	}
	switch p.next(8) {
	case 1:
		p.head += "const { " + function + " } = require('" + module + "');\n"
		return function
	case 2:
		p.head += "const { " + function + ": f } = require('node:" + module + "');\n"
		return "f"
	case 3:
		p.head += "import * as m from '" + module + "';\n"
		return "m." + function
	case 4:
		p.head += "import { " + function + " as f } from '" + module + "';\n"
		return "f"
	case 5:
		return "require(" + p.text(module) + ")[" + p.text(function) + "]"
	case 6:
		return "(await import('" + module + "'))." + function
	case 7:
		p.head += "const m = require('" + module + "');\nconst f = m." + function + ";\n"
		return "(0, f)"
	}
	p.head += "const m = require('" + module + "');\n"
	return "m\n  ." + function
}

// around puts a call into what a program is made of.
func (p *programSpelling) around(call string) string {
	if p.kind == interlock.KindPython {
		switch p.next(12) {
		case 1:
			return "def run():\n    " + call + "\nrun()\n"
		case 2:
			return "class A:\n    def go(self):\n        " + call + "\nA().go()\n"
		case 3:
			return "if True:\n\t" + call + "\n"
		case 4:
			return "try:\n  pass\nfinally:\n  " + call + "\n"
		case 5:
			return "x = lambda: " + call + "\nx()\n"
		case 6:
			return "x = 1; " + call + "; y = 2\n"
		case 7:
			return "print(f\"{" + strings.ReplaceAll(strings.ReplaceAll(call, "\n    ", " "), `"`, "'") + "}\")\n"
		case 8:
			return "[" + call + " for _ in range(1)]\n"
		case 9:
			return "x = (" + call + " if a else None)\n"
		case 10:
			return "with open('a') as lines:\n    for line in lines: " + call + "\n"
		case 11:
			return "async def run():\n    await g(" + call + ")\n"
		}
		return call + "\n"
	}
	switch p.next(9) {
	case 1:
		return "function run() { " + call + " }\nrun();\n"
	case 2:
		return "class A { go() { " + call + " } }\nnew A().go();\n"
	case 3:
		return "if (a) " + call + "; else b();\n"
	case 4:
		return "(async () => { try { " + call + " } catch {} })();\n"
	case 5:
		return "const x = a ? b : () => " + call + ";\n"
	case 6:
		return "console.log(`${" + call + "}`);\n"
	case 7:
		return "[1].forEach(n => { " + call + " });\n"
	case 8:
		return "const run = (n: number): void => { " + call + " };\nrun(1 as number);\n"
	}
	return call + ";\n"
}

// write makes the program.
func (p *programSpelling) write(module, function, argument string) string {
	p.callee = p.named(module, function)
	p.argument = p.text(argument)
	switch p.next(5) {
	case 3:
		p.head = "\ufeff" + p.head
	case 4:
		p.head = strings.TrimSuffix(p.comment("nothing to see"), "\n") + "\r" + p.head
	case 1:
		p.head += p.comment("nothing to see")
	case 2:
		p.argument = " " + p.argument + " "
	}
	return p.head + p.around(p.callee+"("+p.argument+")")
}

func (p *programSpelling) comment(text string) string {
	if p.kind == interlock.KindPython {
		return "# " + text + "\n"
	}
	return "/* " + text + " */\n"
}

// spelledCalls are calls that delete /srv/x.
var spelledCalls = []struct {
	kind                       interlock.Kind
	module, function, argument string
}{
	{interlock.KindPython, "os", "system", "rm -rf /srv/x"},
	{interlock.KindPython, "shutil", "rmtree", "/srv/x"},
	{interlock.KindPython, "subprocess", "getoutput", "rm -r /srv/x"},
	{interlock.KindPython, "os", "remove", "/srv/x"},
	{interlock.KindJavaScript, "child_process", "execSync", "rm -rf /srv/x"},
	{interlock.KindJavaScript, "fs", "rmSync", "/srv/x"},
	{interlock.KindJavaScript, "fs", "unlinkSync", "/srv/x"},
}

// FuzzProgramSpelling: a call that deletes something is found however it is written: by whatever name it was imported,
// however its argument is put together, whatever it stands in; and the same program as text is calm.
func FuzzProgramSpelling(f *testing.F) {
	for call := range byte(len(spelledCalls)) {
		for at := range byte(6) {
			for choice := range byte(14) {
				choices := make([]byte, 6)
				choices[at] = choice
				f.Add(call, string(choices))
			}
		}
		f.Add(call, "\x05\x03\x07\x09\x02\x04\x08\x01\x06")
	}
	analyser := impact.NewAnalyser(impacttest.Knowledge(f))
	read := func(action interlock.Action) []interlock.Impact {
		return analyser.Analyse(impacttest.Where, action).Impacts
	}
	f.Fuzz(func(t *testing.T, call byte, choices string) {
		c := spelledCalls[int(call)%len(spelledCalls)]
		p := &programSpelling{kind: c.kind, choices: []byte(choices)}
		program := p.write(c.module, c.function, c.argument)
		got := read(impacttest.Source(c.kind, program))
		if !impacttest.AnyImpact(got, func(i interlock.Impact) bool { return i.Kind == interlock.ImpactDelete && i.Target == "/srv/x" }) {
			t.Errorf("not found in\n%s\n%+v", program, got)
		}
		quiet := "x = 1\n"
		for _, line := range strings.Split(strings.ReplaceAll(program, "\r", "\n"), "\n") {
			quiet += strings.TrimSuffix(p.comment(strings.ReplaceAll(line, "*/", "")), "\n") + "\n"
		}
		for _, i := range read(impacttest.Source(c.kind, quiet)) {
			if i.Kind != interlock.ImpactExecute || !i.Has("inline") {
				t.Errorf("a comment counts: %+v in\n%s", i, quiet)
			}
		}
	})
}
