package setup

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/cmd/interlock/cli"
	"interlock/internal/startup"
)

func TestDoctorLooksAtTheSystemsInstallation(t *testing.T) {
	root, err := os.MkdirTemp("/tmp", "il-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root)
	look := func() string {
		d := &Diagnosis{Program: &cli.Program{Getenv: func(string) string { return "" }}}
		d.system(root)
		if len(d.Checks) == 0 {
			return ""
		}
		return d.Checks[0].Status + " " + d.Checks[0].Detail
	}
	if got := look(); got != "" {
		t.Errorf("where nothing is installed: %s", got)
	}
	for _, f := range (startup.System{Program: "/usr/bin/interlock"}).Files() {
		if err := writeSystemFile(filepath.Join(root, f.Path), f); err != nil {
			t.Fatal(err)
		}
	}
	if got := look(); !strings.HasPrefix(got, "warn ") || !strings.Contains(got, "does not listen") {
		t.Errorf("without a server: %s", got)
	}
	socket := filepath.Join(root, startup.SystemSocket)
	if err := os.MkdirAll(filepath.Dir(socket), 0o755); err != nil {
		t.Fatal(err)
	}
	door, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	unit := filepath.Join(root, startup.UnitPath)
	for _, c := range []struct {
		want string
		do   func() error
	}{
		{"ok ", func() error { return os.Chmod(socket, 0o660) }},
		{"fail ", func() error { return os.Chmod(socket, 0o666) }},
		{"fail ", func() error { return os.Chmod(unit, 0o666) }},
		{"warn ", func() error {
			text, err := os.ReadFile(unit)
			if err != nil {
				return err
			}
			if err := os.Chmod(unit, 0o644); err != nil {
				return err
			}
			return os.WriteFile(unit, []byte(strings.Replace(string(text), "NoNewPrivileges=yes\n", "", 1)), 0o644)
		}},
	} {
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		if got := look(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
