package harness

import "testing"

func TestTheHomeOfARegistration(t *testing.T) {
	for _, home := range []string{"/home/ann/.local/share/interlock", "/my files/it's here", `C:\Users\ann b\Interlock`} {
		c := Command{"/opt/interlock", HookArgs("claude", "PreToolUse", home, false)}
		for _, line := range []string{c.posix(), c.closed("linux", true), c.windows()} {
			if home == "/my files/it's here" && line == c.windows() {
				continue // which is no path of Windows
			}
			if got := (Registration{Shell: line}).Home(); got != home {
				t.Errorf("%s: home %q, want %q", line, got, home)
			}
		}
		if got := (Registration{Argv: c.argv()}).Home(); got != home {
			t.Errorf("%q: home %q", c.argv(), got)
		}
	}
	if got := (Registration{Shell: "interlock hook --agent claude"}).Home(); got != "" {
		t.Errorf("a registration without a home has %q", got)
	}
}
