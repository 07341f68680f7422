package sandbox

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOnlyDirectoriesThatAreThereInsideAreOnPath(t *testing.T) {
	s := Spec{Path: []string{"/opt/tools/bin"}, Read: []string{"/srv/sdk"}}
	got := searchPath(s, "/elsewhere/bin:/usr/local/go/bin:.:/usr/../etc:/srv/sdk/bin:/usr/bin::/home/me/.local/bin")
	want := []string{"/opt/tools/bin", "/usr/local/go/bin", "/srv/sdk/bin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/sbin", "/bin"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNothingOfTheCallersEnvironmentIsPassedOnButWhatIsNamed(t *testing.T) {
	getenv := func(name string) string { return name + "-value" }
	got := environment(Spec{Env: []string{"NAMED=1"}}, getenv)
	for _, entry := range got {
		for _, secret := range []string{"AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "LD_PRELOAD", "HOME-value", "PYTHONPATH"} {
			if entry == secret || len(entry) > len(secret) && entry[:len(secret)] == secret {
				t.Errorf("%s is passed on", entry)
			}
		}
	}
	if !slices.Contains(got, "NAMED=1") || !slices.Contains(got, "HOME=/tmp") || !slices.Contains(got, "LANG=LANG-value") {
		t.Errorf("%q", got)
	}
}
