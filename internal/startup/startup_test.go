package startup

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

func user(home string) User {
	return User{Home: home, ID: 501, Getenv: func(string) string { return "" }}
}

func TestEverySystemStartsTheProgram(t *testing.T) {
	p := Program{"/opt/my programs/interlock", []string{"--home", `/h/50% $off`, "up"}}
	for goos, want := range map[string]string{
		"linux":   `ExecStart="/opt/my programs/interlock" --home "/h/50%% $$off" up`,
		"darwin":  "<string>/h/50% $off</string>",
		"windows": `<Arguments>--home "/h/50% $off" up</Arguments>`,
	} {
		s, known := For(goos, user("/home/ann"), p)
		text := plain(s.Content)
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

// plain is a text that may be in UTF-16.
func plain(text []byte) string {
	if !bytes.HasPrefix(text, []byte{0xff, 0xfe}) {
		return string(text)
	}
	var units []uint16
	for i := 2; i+1 < len(text); i += 2 {
		units = append(units, binary.LittleEndian.Uint16(text[i:]))
	}
	return strings.ReplaceAll(string(utf16.Decode(units)), "\r\n", "\n")
}

// TestALaunchAgentIsAPropertyList has Python's reader of property lists read it, and knows each key and its kind from the manual
// page launchd.plist(5).
func TestALaunchAgentIsAPropertyList(t *testing.T) {
	program := Program{"/Users/a&b/bin/interlock", []string{"--home", "/Users/ann/<x>", "up"}}
	s, _ := For("darwin", user("/Users/ann"), program)
	python, err := exec.LookPath("python3")
	if err != nil { // make setup installs it where it can
		return
	}
	read := exec.Command(python, "-c", "import json,plistlib,sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))")
	read.Stdin = bytes.NewReader(s.Content)
	out, err := read.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, s.Content)
	}
	var says struct {
		Label            string
		ProgramArguments []string
		RunAtLoad        bool
		KeepAlive        struct{ SuccessfulExit *bool }
		Umask            int
	}
	d := json.NewDecoder(bytes.NewReader(out))
	d.DisallowUnknownFields()
	if err := d.Decode(&says); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if says.Label+".plist" != filepath.Base(s.File) || !slices.Equal(says.ProgramArguments, append([]string{program.Path}, program.Args...)) ||
		!says.RunAtLoad || says.KeepAlive.SuccessfulExit == nil || *says.KeepAlive.SuccessfulExit || says.Umask != 0o077 {
		t.Errorf("%s", out)
	}
}

// taskSchema are the elements of Windows' schema for tasks (version 1.2, task.xsd) that ours has, by where they stand, with the
// form of their text. With ! it has to be there by the schema or by what we need of it.
const taskSchema = `
!Task/RegistrationInfo/Description                  .+
!Task/Triggers/LogonTrigger/Enabled                 true
!Task/Triggers/LogonTrigger/UserId                  OFFICE\\ann
!Task/Principals/Principal/UserId                   OFFICE\\ann
!Task/Principals/Principal/LogonType                InteractiveToken
!Task/Principals/Principal/RunLevel                 LeastPrivilege|HighestAvailable
!Task/Settings/MultipleInstancesPolicy              Parallel|Queue|IgnoreNew|StopExisting
!Task/Settings/DisallowStartIfOnBatteries           false
!Task/Settings/StopIfGoingOnBatteries               false
Task/Settings/StartWhenAvailable                    true|false
!Task/Settings/ExecutionTimeLimit                   PT0S
Task/Settings/Priority                              [0-9]|10
Task/Settings/RestartOnFailure/Interval             PT([1-9]|[1-5][0-9])M
Task/Settings/RestartOnFailure/Count                [1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5]
!Task/Actions/Exec/Command                          C:\\P & Q\\interlock\.exe
Task/Actions/Exec/Arguments                         .+`

func TestATaskIsOfWindowsSchema(t *testing.T) {
	env := map[string]string{"USERNAME": "ann", "USERDOMAIN": "OFFICE", "LOCALAPPDATA": `/L`}
	s, _ := For("windows", User{Home: "/U", Getenv: func(name string) string { return env[name] }},
		Program{`C:\P & Q\interlock.exe`, []string{"--home", `C:\a b\`, "up"}})
	if !slices.Contains(s.Start[0], s.File) || filepath.Dir(filepath.Dir(s.File)) != filepath.FromSlash("/L") {
		t.Errorf("%s is not what is registered: %q", s.File, s.Start)
	}
	forms, missing := map[string]string{}, map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(taskSchema), "\n") {
		name, form, _ := strings.Cut(line, " ")
		name, must := strings.CutPrefix(name, "!")
		forms[name], missing[name] = strings.TrimSpace(form), must
	}
	d := xml.NewDecoder(strings.NewReader(plain(s.Content)))
	d.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) { return in, nil } // it was decoded above
	var path []string
	text := ""
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, plain(s.Content))
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Space != "http://schemas.microsoft.com/windows/2004/02/mit/task" {
				t.Errorf("%s is of the namespace %q", token.Name.Local, token.Name.Space)
			}
			path, text = append(path, token.Name.Local), ""
		case xml.CharData:
			text += string(token)
		case xml.EndElement:
			at := strings.Join(path, "/")
			path = path[:len(path)-1]
			if strings.TrimSpace(text) == "" {
				continue // it holds others
			}
			if form := forms[at]; form == "" || !regexp.MustCompile("^("+form+")$").MatchString(text) {
				t.Errorf("%s: %q is not of the form %q", at, text, form)
			}
			missing[at], text = false, ""
		}
	}
	for name, lacks := range missing {
		if lacks {
			t.Errorf("it has no %s", name)
		}
	}
}

// TestAWordIsTakenApartAsItWas goes by the rules that programs on Windows take command lines apart with.
func TestAWordIsTakenApartAsItWas(t *testing.T) {
	for word, want := range map[string]string{`up`: `up`, ``: `""`, `C:\a b\`: `"C:\a b\\"`, `a"b`: `"a\"b"`, `a\"b`: `"a\\\"b"`,
		`C:\home\`: `C:\home\`} {
		if got := windowsWord(word); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}
