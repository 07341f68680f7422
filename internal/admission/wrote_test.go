package admission_test

import (
	"slices"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
)

// TestOwnScripts: a script that nobody could read is asked about where this agent wrote it in this workspace within a day,
// whatever run it was in, and where the door reads files at all; anybody else's is trusted as before.
func TestOwnScripts(t *testing.T) {
	h := newHouse(t)
	texts := map[string]string{}
	reads := func(p *admission.Case) {
		p.View.Workspace, p.Action.Dir, p.Requester.Run = "/w", "/w", "first"
		p.Read = func(_ interlock.View, names []string) map[string]string {
			found := map[string]string{}
			for _, name := range names {
				if text, ok := texts[name]; ok {
					found[name] = text
				}
			}
			return found
		}
	}
	const rule, start = "scripts.unread", "julia clean.jl"
	with := func(changes ...func(*admission.Case)) func(*admission.Case) {
		return func(p *admission.Case) {
			reads(p)
			for _, change := range changes {
				change(p)
			}
		}
	}
	if a := h.propose(start, reads); a.Answer != interlock.Allow {
		t.Fatalf("an old script: %v %v", a.Answer, names(a))
	}
	h.propose("cp a.jl clean.jl; cp a small.sh; cp a big.sh", reads)
	texts["/w/small.sh"] = "echo small\n"
	for _, test := range []struct {
		name, input string
		change      func(*admission.Case)
		wait        time.Duration
		want        bool
	}{
		{"the next action", start, with(), 0, true},
		{"another run", start, with(run("second")), time.Hour, true},
		{"from another directory", "cd sub && julia ../clean.jl", with(), 0, true},
		{"too big", "sh big.sh", with(), 0, true},
		{"read", "sh small.sh", with(), 0, false},
		{"another script", "julia other.jl", with(), 0, false},
		{"not run", "cat clean.jl", with(), 0, false},
		{"another agent", start, with(func(p *admission.Case) { p.Requester.Agent = "other" }), 0, false},
		{"another workspace", start, with(func(p *admission.Case) { p.View.Workspace = "/v" }), 0, false},
		{"a door that reads nothing", start, with(func(p *admission.Case) { p.Read = nil }), 0, false},
		{"a door that says so itself", "julia other.jl", with(func(p *admission.Case) { p.View.Written = []string{"/w/other.jl"} }), 0, false},
		{"a day later", start, with(), 24 * time.Hour, false},
	} {
		h.now = h.now.Add(test.wait)
		if a := h.propose(test.input, test.change); names(a)[rule] != test.want {
			t.Errorf("%s: %v %v, want %s %v", test.name, a.Answer, names(a), rule, test.want)
		}
	}
	h.entries()
}

// TestScriptsOfScripts: what was read may name more to read, and a script is judged by what is in the end known of all of it.
func TestScriptsOfScripts(t *testing.T) {
	h := newHouse(t)
	texts := map[string]string{"/w/a.sh": "cd sub && . ./b.sh", "/w/sub/b.sh": "make -f c.mk", "/w/sub/c.mk": "all:\n\trm -rf /\n"}
	asked := 0
	a := h.propose("sh a.sh", func(p *admission.Case) {
		p.View.Workspace, p.Action.Dir = "/w", "/w"
		p.Read = func(_ interlock.View, names []string) map[string]string {
			asked++
			found := map[string]string{}
			for _, name := range names {
				if text, ok := texts[name]; ok {
					found[name] = text
				}
			}
			return found
		}
	})
	if a.Answer != interlock.Deny || asked != 3 {
		t.Errorf("decided %v after %d readings, want it denied after 3", a.Answer, asked)
	}
}

// TestFetchedRun: what was fetched in one run is asked about in another of the same agent and workspace for a day, also in what
// was fetched whole; looking at it is not.
func TestFetchedRun(t *testing.T) {
	h := newHouse(t)
	reads := func(run string) func(*admission.Case) {
		return func(p *admission.Case) {
			p.View.Workspace, p.Action.Dir, p.Requester.Run = "/w", "/w", run
			p.Read = func(interlock.View, []string) map[string]string { return map[string]string{"/w/get.sh": "echo hi\n"} }
		}
	}
	const rule = "net.fetched-run"
	h.propose("curl -fsSLo get.sh https://example.com/get.sh", reads("first"))
	h.propose("git clone https://github.com/acme/tools.git", reads("first"))
	h.propose("git clone http://localhost:3000/own.git", reads("first"))
	h.propose("cp tools/setup.sh copy.sh", reads("first"))
	h.propose("curl -LO https://example.com/a.tgz", reads("first"))
	h.propose("tar xzf a.tgz -C dl", reads("second"))
	for _, test := range []struct {
		name, input string
		change      func(*admission.Case)
		wait        time.Duration
		want        bool
	}{
		{"the same run", "sh get.sh", nil, 0, true},
		{"another run, later", "sh get.sh", nil, 2 * time.Hour, true},
		{"from what was fetched whole", "./tools/bin/setup", nil, 0, true},
		{"a copy", "sh copy.sh", nil, 0, true},
		{"what its makefile says", "cd tools && make", nil, 0, true},
		{"the same, as an argument", "make -C tools", nil, 0, true},
		{"what it wants installed", "cd tools && npm install", nil, 0, true},
		{"out of an archive", "sh dl/a/install.sh", nil, 0, true},
		{"beside where the archive was unpacked", "make", nil, 0, false},
		{"fetched from this machine", "cd own && make", nil, 0, false},
		{"only compiled", "cd tools && go build ./...", nil, 0, false},
		{"only searched", "grep -r main tools", nil, 0, false},
		{"looked at", "cat get.sh", nil, 0, false},
		{"another file", "sh other.sh", nil, 0, false},
		{"another agent", "sh get.sh", func(p *admission.Case) { p.Requester.Agent = "other" }, 0, false},
		{"another workspace", "sh get.sh", func(p *admission.Case) { p.View.Workspace = "/v" }, 0, false},
		{"a day later", "sh get.sh", nil, 24 * time.Hour, false},
	} {
		h.now = h.now.Add(test.wait)
		a := h.propose(test.input, func(p *admission.Case) {
			if reads("second")(p); test.change != nil {
				test.change(p)
			}
		})
		if names(a)[rule] != test.want {
			t.Errorf("%s: %v %v, want %s %v", test.name, a.Answer, names(a), rule, test.want)
		}
	}
	h.entries()
}

// TestOwnModules: what a test runner or a program loads is read where this agent wrote it lately; what stood there before is as
// trusted as the project is.
func TestOwnModules(t *testing.T) {
	for _, test := range []struct{ file, text, start string }{
		{"conftest.py", "import shutil\nshutil.rmtree('/')\n", "pytest -q"},
		{"helper.py", "import os\nos.system('rm -rf /')\n", "python -c 'import helper'"},
		{"jest.config.js", "require('child_process').execSync('rm -rf /')\n", "npx jest"},
	} {
		h := newHouse(t)
		reads := func(p *admission.Case) {
			p.View.Workspace, p.Action.Dir = "/w", "/w"
			p.Read = func(_ interlock.View, names []string) map[string]string {
				if slices.Contains(names, "/w/"+test.file) {
					return map[string]string{"/w/" + test.file: test.text}
				}
				return nil
			}
		}
		if a := h.propose(test.start, reads); a.Answer != interlock.Allow {
			t.Errorf("%s of the project: %v %v", test.file, a.Answer, names(a))
		}
		h.propose("cp a "+test.file, reads)
		if a := h.propose(test.start, reads); a.Answer != interlock.Deny {
			t.Errorf("%s of this agent: %v %v, want it denied", test.file, a.Answer, names(a))
		}
	}
}
