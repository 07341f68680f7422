package place

import (
	"testing"

	"interlock"
	"interlock/internal/impact/fact"

	"github.com/google/go-cmp/cmp"
)

// Paths as Windows spells them mean what they mean there, whatever the spelling.
func TestWindowsPlaces(t *testing.T) {
	s := pathScan(t, interlock.View{Home: "C:/Users/dev", Workspace: "C:/Users/dev/project"}, "C:/Users/dev/project")
	s.Windows = true
	for _, c := range []struct {
		name   string
		path   string
		reach  interlock.Reach
		traits []string
	}{
		{`src\main.cs`, "C:/Users/dev/project/src/main.cs", interlock.ReachWorkspace, nil},
		{`..\other\a.txt`, "C:/Users/dev/other/a.txt", interlock.ReachHome, nil},
		{`c:\USERS\Dev\PROJECT\a.txt`, "c:/USERS/Dev/PROJECT/a.txt", interlock.ReachWorkspace, nil},
		{`C:build\a.txt`, "C:/Users/dev/project/build/a.txt", interlock.ReachWorkspace, nil},
		{`C:\Users\dev\.SSH\ID_RSA`, "C:/Users/dev/.SSH/ID_RSA", interlock.ReachHome, []string{fact.TraitSecret}},
		{`\\?\C:\Windows\System32\config\SAM`, "C:/Windows/System32/config/SAM", interlock.ReachSystem, []string{fact.TraitAccount, fact.TraitSecret}},
		{`\\localhost\C$\Windows\NTDS\ntds.dit`, "C:/Windows/NTDS/ntds.dit", interlock.ReachSystem, []string{fact.TraitSecret}},
		{`C:\Windows.\System32 `, "C:/Windows/System32", interlock.ReachSystem, []string{fact.TraitRoot}},
		{`C:\PROGRA~1`, "C:/Program Files", interlock.ReachSystem, []string{fact.TraitRoot}},
		{`a.txt:hidden`, "C:/Users/dev/project/a.txt", interlock.ReachWorkspace, []string{fact.TraitObfuscated}},
		{`\\.\PhysicalDrive0`, "/dev/disk/physicaldrive0", interlock.ReachSystem, []string{fact.TraitDevice}},
		{`HKCU\Software\App`, "HKCU:/Software/App", interlock.ReachHome, nil},
		{`Registry::HKEY_LOCAL_MACHINE\SOFTWARE\WOW6432Node\Microsoft\Windows\CurrentVersion\Run`,
			"HKLM:/SOFTWARE/WOW6432Node/Microsoft/Windows/CurrentVersion/Run", interlock.ReachSystem, []string{fact.TraitStartup}},
		{`HKLM:\SAM`, "HKLM:/SAM", interlock.ReachSystem, []string{fact.TraitSecret}},
	} {
		got := s.Place(c.name)
		if diff := cmp.Diff([]any{c.path, c.reach, c.traits}, []any{got.Path, got.Reach, judge(s, c.name).Traits}); diff != "" {
			t.Errorf("place(%q): want(-) got(+):\n%s", c.name, diff)
		}
	}
}
