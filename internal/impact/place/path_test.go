package place

import (
	"sort"
	"testing"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/rules"

	"github.com/google/go-cmp/cmp"
)

func pathScan(t *testing.T, view interlock.View, dir string) *World {
	t.Helper()
	know, err := know.Parse(rules.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	return &World{Know: know, View: view, Dir: dir}
}

type judged struct {
	Path   string
	Reach  interlock.Reach
	Traits []string
}

func judge(s *World, name string) judged {
	p := s.Place(name)
	sort.Strings(p.Traits)
	return judged{p.Path, p.Reach, fact.Compact(p.Traits)}
}

func TestPlaces(t *testing.T) {
	known := pathScan(t, interlock.View{Home: "/home/dev", Workspace: "/home/dev/project", User: "dev",
		Self: []string{"/opt/interlock"}, Links: map[string]string{"/home/dev/project/l": "/etc"}}, "/home/dev/project/sub")
	bare := pathScan(t, interlock.View{}, "")
	for _, c := range []struct {
		scan *World
		name string
		want judged
	}{
		{known, "a.go", judged{"/home/dev/project/sub/a.go", interlock.ReachWorkspace, nil}},
		{known, "../..", judged{"/home/dev", interlock.ReachHome, []string{fact.TraitRoot}}},
		{known, "/", judged{"/", interlock.ReachSystem, []string{fact.TraitRoot}}},
		{known, "~", judged{"/home/dev", interlock.ReachHome, []string{fact.TraitRoot}}},
		{known, "~/notes", judged{"/home/dev/notes", interlock.ReachHome, nil}},
		{known, "/srv/x", judged{"/srv/x", interlock.ReachSystem, nil}},
		{known, "/data/x", judged{"/data/x", interlock.ReachHome, nil}},
		{known, "/tmp/x", judged{"/tmp/x", interlock.ReachWorkspace, nil}},
		{known, "/opt/interlock/bin", judged{"/opt/interlock/bin", interlock.ReachSelf, []string{fact.TraitSelf}}},
		{known, "/opt/interlocked", judged{"/opt/interlocked", interlock.ReachSystem, nil}},
		{known, "../l/hosts", judged{"/etc/hosts", interlock.ReachSystem, []string{fact.TraitDefence}}},
		{known, "/etc/shadow", judged{"/etc/shadow", interlock.ReachSystem, []string{fact.TraitAccount, fact.TraitSecret}}},
		{known, "/etc//x/../shadow", judged{"/etc/shadow", interlock.ReachSystem, []string{fact.TraitAccount, fact.TraitSecret}}},
		{known, "/proc/self/root/etc/shadow", judged{"/etc/shadow", interlock.ReachSystem, []string{fact.TraitAccount, fact.TraitSecret}}},
		{known, "/proc/1/environ", judged{"/proc/1/environ", interlock.ReachSystem, []string{fact.TraitEnvironment}}},
		{known, "/dev/nvme0n1", judged{"/dev/nvme0n1", interlock.ReachSystem, []string{fact.TraitDevice}}},
		{known, "/dev/null", judged{"/dev/null", interlock.ReachSystem, nil}},
		{known, "~/.ssh/id_rsa", judged{"/home/dev/.ssh/id_rsa", interlock.ReachHome, []string{fact.TraitSecret}}},
		{known, "~/.ssh/id_rsa.pub", judged{"/home/dev/.ssh/id_rsa.pub", interlock.ReachHome, []string{}}},
		{known, ".env", judged{"/home/dev/project/sub/.env", interlock.ReachWorkspace, []string{fact.TraitSecret}}},
		{known, ".env.example", judged{"/home/dev/project/sub/.env.example", interlock.ReachWorkspace, []string{}}},
		{known, "../.git/hooks/pre-commit",
			judged{"/home/dev/project/.git/hooks/pre-commit", interlock.ReachWorkspace, []string{fact.TraitHistory, fact.TraitStartup}}},
		{known, "../.github/workflows/ci.yml", judged{"/home/dev/project/.github/workflows/ci.yml", interlock.ReachWorkspace, []string{fact.TraitCI}}},
		{known, "../.claude/worktrees/w/a.go", judged{"/home/dev/project/.claude/worktrees/w/a.go", interlock.ReachWorkspace, nil}},
		{known, "../.claude/worktrees/w/.claude/x",
			judged{"/home/dev/project/.claude/worktrees/w/.claude/x", interlock.ReachWorkspace, []string{fact.TraitAgentConfig}}},
		{known, "../.claude/worktrees/w", judged{"/home/dev/project/.claude/worktrees/w", interlock.ReachWorkspace, []string{fact.TraitAgentConfig}}},
		{known, "../.claude/worktrees/*/x", judged{"/home/dev/project/.claude/worktrees/*/x", interlock.ReachWorkspace, []string{fact.TraitAgentConfig}}},
		{known, "../AGENTS.md", judged{"/home/dev/project/AGENTS.md", interlock.ReachWorkspace, []string{fact.TraitAgentConfig}}},
		{known, "~/.bashrc", judged{"/home/dev/.bashrc", interlock.ReachHome, []string{fact.TraitStartup}}},
		{known, "/home/eve/.aws/credentials", judged{"/home/eve/.aws/credentials", interlock.ReachHome, []string{fact.TraitSecret}}},
		{known, `C:\Windows\System32\config\SAM`,
			judged{"C:/Windows/System32/config/SAM", interlock.ReachSystem, []string{fact.TraitAccount, fact.TraitSecret}}},
		{known, `C:\`, judged{"C:/", interlock.ReachSystem, []string{fact.TraitRoot}}},
		{bare, "a/b", judged{"a/b", interlock.ReachWorkspace, nil}},
		{bare, "../a", judged{"../a", interlock.ReachWorkspace, nil}},
		{bare, "../../../../etc/shadow", judged{"/etc/shadow", interlock.ReachSystem, []string{fact.TraitAccount, fact.TraitSecret}}},
		{bare, "/app/main.py", judged{"/app/main.py", interlock.ReachWorkspace, nil}},
		{bare, "/home/x/project/a.py", judged{"/home/x/project/a.py", interlock.ReachWorkspace, nil}},
		{bare, "/home/x/Documents/a", judged{"/home/x/Documents/a", interlock.ReachHome, nil}},
		{bare, "/home/x", judged{"/home/x", interlock.ReachHome, []string{fact.TraitRoot}}},
		{bare, "~/a", judged{"~/a", interlock.ReachHome, nil}},
		{bare, "/usr/bin/env", judged{"/usr/bin/env", interlock.ReachSystem, nil}},
	} {
		if diff := cmp.Diff(c.want, judge(c.scan, c.name)); diff != "" {
			t.Errorf("place(%q): want(-) got(+):\n%s", c.name, diff)
		}
	}
}

func TestHosts(t *testing.T) {
	s := pathScan(t, interlock.View{Endpoints: []string{"127.0.0.1:7433"}, Production: []string{"db-main*"}}, "")
	for _, c := range []struct {
		name   string
		reach  interlock.Reach
		traits []string
	}{
		{"example.com", interlock.ReachExternal, nil},
		{"https://user:pw@example.com:8443/x?y", interlock.ReachExternal, nil},
		{"localhost:3000", interlock.ReachWorkspace, nil},
		{"http://127.0.0.1/", interlock.ReachWorkspace, nil},
		{"http://[::1]:80/", interlock.ReachWorkspace, nil},
		{"http://localhost:7433/v1", interlock.ReachSelf, []string{fact.TraitSelf}},
		{"http://169.254.169.254/latest", interlock.ReachExternal, []string{fact.TraitMetadata}},
		{"metadata.google.internal", interlock.ReachExternal, []string{fact.TraitMetadata}},
		{"postgres://u:p@db-main-1/x", interlock.ReachProduction, nil},
		{"deploy@api.prod.example.com:/srv", interlock.ReachProduction, nil},
	} {
		reach, traits := s.Host(c.name)
		if reach != c.reach || !cmp.Equal(traits, c.traits) {
			t.Errorf("host(%q) = %s %v, want %s %v", c.name, reach, traits, c.reach, c.traits)
		}
	}
}

func TestShownNamesCarryNoCredentials(t *testing.T) {
	for name, want := range map[string]string{
		"https://u:secret@example.com/x?token=secret#f": "https://example.com/x",
		"git@example.com:a/b.git":                       "git@example.com:a/b.git",
		"example.com/x?key=secret":                      "example.com/x",
	} {
		if got := know.CleanURL(name); got != want {
			t.Errorf("cleanURL(%q) = %q, want %q", name, got, want)
		}
	}
}

// FuzzMatchGlob: a pattern without metacharacters matches itself and nothing else; a star matches everything.
func FuzzMatchGlob(f *testing.F) {
	f.Add("a*b?[c-d]", "axxbyc")
	f.Add("[", "[")
	f.Add("*.pem", "key.pem")
	f.Add("a[bc", "a[bc")
	f.Add("***", "")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		got := know.MatchGlob(pattern, name)
		if !know.IsGlob(pattern) && got != (pattern == name) {
			t.Errorf("literal %q against %q: %v", pattern, name, got)
		}
		if got != know.MatchGlobSlowly(pattern, name) {
			t.Errorf("%q against %q: %v, and not without the look at the ends", pattern, name, got)
		}
		if !know.MatchGlob("*", name) {
			t.Errorf("* does not match %q", name)
		}
	})
}

// FuzzMembers: what it visits is inside the document, and malformed input is an error or ends; it never panics.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":{"c":[1,"}"]}}`, `{`, `{"a"`, `{"a":`, `{"a":1`, `[]`, `{"a":"\"","b":2}`, `{"a":]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		total := 0
		_ = know.Members(document, func(key string, value []byte) error {
			total += len(key) + len(value)
			return nil
		})
		if total > len(document) {
			t.Errorf("visited %d bytes of %d", total, len(document))
		}
	})
}
