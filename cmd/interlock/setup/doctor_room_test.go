package setup

import (
	"errors"
	"strings"
	"testing"

	"interlock/cmd/interlock/cli"
	"interlock/internal/config"
	"interlock/internal/console"
)

// TestDoctorWarnsOfADiskThatWillBeFull asks disks of any size, which the test makes up.
func TestDoctorWarnsOfADiskThatWillBeFull(t *testing.T) {
	const mb = 1 << 20
	for _, disk := range []struct {
		name  string
		space console.Space
		err   error
		says  string
	}{
		{"half full", console.Space{Free: 20 << 30, Total: 40 << 30}, nil, ""},
		{"at the bound", console.Space{Free: 500 * mb, Total: 40 << 30}, nil, ""},
		{"below it", console.Space{Free: 499 * mb, Total: 40 << 30}, nil, "499 MB of 40.0 GB are free on the disk of "},
		{"a small one, all free", console.Space{Free: 60 * mb, Total: 64 * mb}, nil, "fewer than 500 MB; once it is full every call is refused"},
		{"of a system that does not tell", console.Space{}, nil, ""},
		{"of a system that can't be asked", console.Space{Free: 1, Total: 2}, errors.New("no"), ""},
	} {
		t.Run(disk.name, func(t *testing.T) {
			d := &Diagnosis{Program: &cli.Program{Getenv: func(string) string { return "" }}, Settings: config.Config{Home: t.TempDir()},
				disk: func(string) (console.Space, error) { return disk.space, disk.err }}
			d.room()
			switch {
			case disk.says == "" && len(d.Checks) > 0:
				t.Errorf("%+v", d.Checks)
			case disk.says != "" && (len(d.Checks) != 1 || d.Checks[0].Status != statusWarn || !strings.Contains(d.Checks[0].Detail, disk.says)):
				t.Errorf("%+v, want %q", d.Checks, disk.says)
			}
		})
	}
}
