package startup

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"interlock/spec"
)

// maxExposure is the highest exposure that systemd may find in a unit, of 10: what is left is that a server speaks over the network
// and that its process sees who its peers are.
const maxExposure = 1.5

// written puts what a system installation writes below a directory, with a program for systemd to find.
func written(t *testing.T, root string, files []SystemFile) {
	t.Helper()
	for _, f := range files {
		at := filepath.Join(root, f.Path)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, f.Content, os.FileMode(f.Mode)); err != nil {
			t.Fatal(err)
		}
	}
}

func analyze(t *testing.T, args ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Fatal("systemd-analyze is missing; `make setup` installs the package systemd")
	}
	out, err := exec.Command(path, args...).CombinedOutput()
	return string(out), err
}

// systemUnits writes the units, with a program at a place that is there, and returns their files.
func systemUnits(t *testing.T, change func(string) string) []string {
	t.Helper()
	root := t.TempDir()
	program := filepath.Join(root, "interlock")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	files := System{Program: program, Witness: true}.Files()
	var units []string
	for i := range files {
		if strings.HasSuffix(files[i].Path, ".service") {
			files[i].Content = []byte(change(string(files[i].Content)))
			units = append(units, filepath.Join(root, files[i].Path))
		}
	}
	written(t, root, files)
	if len(units) != 2 {
		t.Fatalf("units: %q", units)
	}
	return units
}

func exposure(t *testing.T, unit string) float64 {
	t.Helper()
	out, err := analyze(t, "security", "--offline=true", "--no-pager", unit)
	found := regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`).FindStringSubmatch(out)
	if err != nil || found == nil {
		t.Fatalf("systemd-analyze security: %v\n%s", err, out)
	}
	level, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return level
}

func TestSystemdTakesTheUnitsAndFindsThemConfined(t *testing.T) {
	spec.Covers(t, "ASA-10.3-1", "ASA-10.3-2", "ASA-10.3-3", "ASA-10.3-4", "ASA-11.1-1", "ASA-20-8")
	for _, unit := range systemUnits(t, func(text string) string { return text }) {
		if out, err := analyze(t, "verify", "--man=no", "--recursive-errors=no", unit); err != nil || strings.Contains(out, filepath.Base(unit)) {
			t.Errorf("systemd-analyze verify: %v\n%s", err, out)
		}
		if level := exposure(t, unit); level > maxExposure {
			t.Errorf("%s: exposure %.1f, at most %.1f", filepath.Base(unit), level, maxExposure)
		}
	}
}

// TestTheMeasuresBite takes single protections away and has systemd see it.
func TestTheMeasuresBite(t *testing.T) {
	broken := systemUnits(t, func(text string) string { return strings.ReplaceAll(text, "NoNewPrivileges=yes", "NoNewPrivilege=yes") })
	if out, _ := analyze(t, "verify", "--man=no", "--recursive-errors=no", broken[0]); !strings.Contains(out, "NoNewPrivilege") {
		t.Errorf("a misspelt protection is not noticed:\n%s", out)
	}
	open := systemUnits(t, func(text string) string {
		return strings.NewReplacer("CapabilityBoundingSet=\n", "", "SystemCallFilter=", "#", "ProtectSystem=strict\n", "",
			"User=interlock\n", "").Replace(text)
	})
	if level := exposure(t, open[0]); level <= maxExposure {
		t.Errorf("a unit of root's with all capabilities has exposure %.1f", level)
	}
}

// TestUnitsHaveWhatTheScoreLeavesOut holds lines that an offline score weighs little or not at all.
func TestUnitsHaveWhatTheScoreLeavesOut(t *testing.T) {
	files := System{Program: "/usr/local/bin/interlock", Witness: true}.Files()
	units := map[string]string{}
	for _, f := range files {
		units[filepath.Base(f.Path)] = string(f.Content)
	}
	for unit, lines := range map[string][]string{
		SystemUnit: {"User=interlock", "Group=interlock", "SupplementaryGroups=interlock-agents", "StateDirectoryMode=0700", "UMask=0077",
			"LoadCredential=interlock:/etc/interlock/credentials", "NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=yes",
			"CapabilityBoundingSet=", "MemoryDenyWriteExecute=yes", "LimitCORE=0", "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6"},
		WitnessUnit: {"DynamicUser=yes", "StateDirectoryMode=0700", "UMask=0077", "NoNewPrivileges=yes", "CapabilityBoundingSet="},
	} {
		for _, line := range lines {
			if !strings.Contains(units[unit], "\n"+line+"\n") {
				t.Errorf("%s has no line %s", unit, line)
			}
		}
		if strings.Contains(units[unit], "PrivateUsers=yes") {
			t.Errorf("%s hides who asks at the agents' socket", unit)
		}
	}
}
