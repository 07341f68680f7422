package place

import (
	"testing"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
)

func TestGlobsMeet(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"*.json", "credentials.json", true}, {"*.json", "id_rsa", false}, {"c*.json", "client_secret*.json", true},
		{"id*", "id_rsa", true}, {"?d_[r]sa", "id_rsa", true}, {"[x]d_rsa", "id_rsa", false}, {"*", "", true}, {"a", "", false},
		{"a*b*c", "*b*", true}, {"*.key", "*.pem", false}, {"*.k*", "*.key", true}, {"[!i]d", "id", false},
	} {
		if got := know.GlobsMeet(c.a, c.b); got != c.want {
			t.Errorf("globsMeet(%q, %q) = %v", c.a, c.b, got)
		}
		if got := know.GlobsMeet(c.b, c.a); got != c.want {
			t.Errorf("globsMeet(%q, %q) = %v", c.b, c.a, got)
		}
	}
}

// TestPatternsMeanProtectedNames: a pattern counts as the secret it could be filled in to be, and a kind of files does not.
func TestPatternsMeanProtectedNames(t *testing.T) {
	s := pathScan(t, interlock.View{Home: "/home/user", Workspace: "/home/user/app", User: "user"}, "/home/user/app")
	for path, want := range map[string]bool{
		"~/.s*/id*": true, "~/.ss?/id_rsa": true, "~/.[s]sh/x": true, "~/.aws/c*": true, "~/.a*/cred*": true, "~/.*/*": true,
		"~/.config/*/*": true, "~/.docker/*.json": true, "~/.ssh/*": true, "~/**/credentials": true, "/etc/sh*w": true, "/e*/shadow": true,
		"./*.env": true, "*.key": true, ".e*": true, "cred*.json": true, "*.pe[m]": true, "*_rsa": true, "secret*.y*ml": true, "*credentials*": true,

		"*.json": false, "*.js": false, "*.txt": false, "src/*": false, "*": false, "~/*": false, "~/*/README.md": false, "~/.config/*/settings.ini": false,
		"*.p*": false, "*foobar*": false, "*report*": false, "*test*": false, "*.score.json": false, "/tmp/*": false, "/var/log/*": false,
		"/etc/*.conf": false, "/etc/*-release": false, "~/.ssh/*.pub": false, "*php": false, "*_report.json": false, "~/*/*": false,
	} {
		if got := fact.HasTrait(s.Place(path).Traits, fact.TraitSecret); got != want {
			t.Errorf("%s: secret %v, want %v", path, got, want)
		}
	}
}
