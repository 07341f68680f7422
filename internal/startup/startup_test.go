package startup

import (
	"encoding/xml"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func user(home string) User {
	return User{Home: home, ID: 501, Getenv: func(string) string { return "" }}
}

func TestEverySystemStartsTheProgram(t *testing.T) {
	p := Program{"/opt/my programs/interlock", []string{"--home", `/h/50% $off`, "up"}}
	for goos, want := range map[string]string{
		"linux":   `ExecStart="/opt/my programs/interlock" --home "/h/50%% $$off" up`,
		"darwin":  "<string>/h/50% $off</string>",
		"windows": `"/opt/my programs/interlock" "--home" "/h/50% $off" "up"`,
	} {
		s, known := For(goos, user("/home/ann"), p)
		text := string(s.Content)
		for _, line := range s.Start {
			text += strings.Join(line, " ") + "\n"
		}
		if !known || !strings.Contains(text, want) {
			t.Errorf("%s: %s\nis not in\n%s", goos, want, text)
		}
		if len(s.Stop) == 0 || len(s.Probe) == 0 || s.Logs == "" || s.Kind == "" {
			t.Errorf("%s: %+v can't be stopped, probed or read", goos, s)
		}
	}
	if _, known := For("plan9", user("/"), p); known {
		t.Error("a system without services has one")
	}
}

// TestSystemdReadsTheUnit has systemd's own program read it, where there is one; elsewhere the text above is all that is held.
func TestSystemdReadsTheUnit(t *testing.T) {
	program := filepath.Join(t.TempDir(), "a program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s, _ := For("linux", user(t.TempDir()), Program{program, []string{"--home", "/h/a b", "up"}})
	unit := filepath.Join(t.TempDir(), filepath.Base(s.File))
	if err := os.WriteFile(unit, s.Content, 0o600); err != nil {
		t.Fatal(err)
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return
	}
	verify := exec.Command(analyze, "verify", "--user", "--man=no", unit)
	verify.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	if out, err := verify.CombinedOutput(); err != nil || strings.Contains(string(out), unit) {
		t.Errorf("systemd-analyze verify: %v\n%s\n%s", err, out, s.Content)
	}
}

func TestTheLaunchAgentIsXML(t *testing.T) {
	s, _ := For("darwin", user("/Users/ann"), Program{"/a&b/interlock", []string{"up", "<x>"}})
	d := xml.NewDecoder(strings.NewReader(string(s.Content)))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%v\n%s", err, s.Content)
		}
	}
}
