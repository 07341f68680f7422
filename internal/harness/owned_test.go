package harness

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestOwnedFile: what stands in the file, an older one is replaced, and one that is somebody else's is neither replaced nor
// removed, nor taken for a registration.
func TestOwnedFile(t *testing.T) {
	h := harnessNamed(t, "opencode")
	odd := func(event string) Command {
		return Command{`C:\it's "here"` + "\n}\n\u2028<&", HookArgs(h.Name, event, "/h", true)}
	}
	text, err := h.install(nil, "linux", odd)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for _, event := range h.Events {
		want[event] = odd(event).argv()
	}
	if diff := cmp.Diff(want, h.owned.commands(text)); diff != "" {
		t.Errorf("commands: want - got +\n%s", diff)
	}
	if got := h.Printed("linux", odd); got != string(text) {
		t.Errorf("what is printed is not what is written:\n%s", got)
	}
	older := []byte(strings.Split(string(text), "\n")[0] + "\nconst other = 1\n")
	again, err := h.install(older, "linux", odd)
	if err != nil || string(again) != string(text) {
		t.Errorf("an older file is not replaced: %v\n%s", err, again)
	}
	if left, err := h.remove(older, "/elsewhere"); err != nil || left != nil {
		t.Errorf("an older file is not removed: %v\n%s", err, left)
	}
	for _, foreign := range []string{"export const Mine = async () => ({})\n", " " + string(text), "// mine\n" + string(text)} {
		if _, err := h.install([]byte(foreign), "linux", odd); err == nil || err.Error() != "is not Interlock's own; move it away first" {
			t.Errorf("%.40q is replaced: %v", foreign, err)
		}
		if left, err := h.remove([]byte(foreign), "/opt/interlock"); err != nil || string(left) != foreign {
			t.Errorf("%.40q is removed: %v", foreign, err)
		}
	}
}

// TestOwnedFileStatus: files that are not ours, or say nothing, are errors; OPENCODE_PURE is told of.
func TestOwnedFileStatus(t *testing.T) {
	h := harnessNamed(t, "opencode")
	variables := map[string]string{}
	place := Place{Home: t.TempDir(), Getenv: func(name string) string { return variables[name] }}
	path := h.Settings(place)
	whole, err := h.install(nil, "linux", commandFor(h))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"// mine\n", path + " is not Interlock's own; move it away first"},
		{h.owned.head, path + " names no commands; run: interlock install opencode"},
		{strings.Replace(string(whole), "[", "{", 1), path + " names no commands; run: interlock install opencode"},
	} {
		setFile(t, path, []byte(c.text))
		if s, err := h.Status(place, ""); err == nil || err.Error() != c.want || len(s.Registrations) != 0 {
			t.Errorf("%.40q: %+v %v", c.text, s, err)
		}
	}
	setFile(t, path, whole)
	for value, problem := range map[string]bool{"": false, "0": false, "false": false, "1": true, "TRUE": true} {
		variables["OPENCODE_PURE"] = value
		if s, err := h.Status(place, ""); err != nil || (len(s.Problems) == 1) != problem {
			t.Errorf("OPENCODE_PURE=%s: %v %v", value, s.Problems, err)
		}
	}
}

// TestOwnedFileThatWasEdited: taking it out keeps a backup of what it was, and no backup comes back in its place.
func TestOwnedFileThatWasEdited(t *testing.T) {
	h := harnessNamed(t, "opencode")
	place := Place{Home: t.TempDir(), GOOS: "linux"}
	path := h.Settings(place)
	text, err := h.install(nil, "linux", commandFor(h))
	if err != nil {
		t.Fatal(err)
	}
	edited := append(text, "// mine\n"...)
	setFile(t, path, edited)
	p, err := h.Install(place, commandFor(h))
	if err != nil {
		t.Fatal(err)
	}
	backup, err := p.Apply(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadFile(backup); err != nil || string(kept) != string(edited) {
		t.Errorf("the backup holds %q (%v)", kept, err)
	}
	if p, err = h.Uninstall(place, "/opt/interlock"); err != nil || p.After != nil {
		t.Fatalf("%q stays: %v", p.After, err)
	}
}
