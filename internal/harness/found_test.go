package harness

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAgentsAreFoundBySettingsOrProgram(t *testing.T) {
	home := t.TempDir()
	place := Place{Home: home, GOOS: "linux"}
	nothing := func(string) bool { return false }
	for _, name := range Names() {
		h, _ := ByName(name)
		if h.Found(place, nothing) {
			t.Errorf("%s is found where there is nothing", name)
		}
		if !h.Found(place, func(program string) bool { return program == name }) {
			t.Errorf("%s is not found by its program", name)
		}
	}
	for name, dir := range map[string]string{"claude": ".claude", "codex": ".codex", "copilot": ".copilot",
		"opencode": ".config/opencode"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if h, _ := ByName(name); !h.Found(place, nothing) {
			t.Errorf("%s is not found by %s", name, dir)
		}
	}
}

func TestForgettingLeavesOtherHomes(t *testing.T) {
	home := t.TempDir()
	for _, of := range []string{"/one", "/two"} {
		if err := Pin(home, "claude", of, "key"); err != nil {
			t.Fatal(err)
		}
	}
	file := PinFile(home, "claude")
	if err := Forget(home, "claude", "/one", ""); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "key /two\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := Forget(home, "claude", "/two", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(file); !os.IsNotExist(err) {
		t.Errorf("an empty file stays: %v", err)
	}
	if err := Forget(home, "claude", "/two", ""); err != nil {
		t.Error("nothing to forget is no mistake:", err)
	}
}
