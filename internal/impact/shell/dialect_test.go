package shell_test

import (
	"slices"
	"strings"
	"testing"

	"interlock"
)

// TestQuotedSigns: what is quoted or stands in a here-document says nothing about the shell a text is for. Nothing in these
// is run by anything, whatever it looks like.
func TestQuotedSigns(t *testing.T) {
	for _, input := range []string{
		"cat > run.bat <<'EOF'\n@echo off\nif exist %TEMP%\\a del /q %TEMP%\\a\nreg add HKLM\\Software\\x /v y\nEOF",
		"cat > clean.ps1 << \"END\"\nGet-Process | Stop-Process -Force\nRemove-Item -Recurse -Force D:\\\nEND\nchmod 644 clean.ps1",
		"rg 'reg add|netsh |certutil ' docs | head",
		"git commit -m \"$(cat <<'EOF'\nDon't run Remove-Item\n\n- if (x) { Remove-Item -Recurse C:\\tmp }\n- $env:FOO is heeded\nEOF\n)\"",
		"python3 - <<'PY'\nfor f in x:\n    try: y(f)\n    except: continue\n    if (f) : print(f\"[{f}|%TEMP%]\")\nPY",
		"cat >> CMakeLists.txt <<EOF\nif (WIN32)\n  set /a X\nendif ()\nforeach (f)\nEOF",
		"go test ./x <<E\nfunction (a)\ntry {\n$x = Get-Item y; Remove-Item z\nE",
	} {
		for _, i := range shellImpacts(t, input) {
			if i.Confidence == interlock.Unknown || i.Kind == interlock.ImpactDelete || i.Kind == interlock.ImpactConfigure {
				t.Errorf("%s: %+v", input, i)
			}
		}
	}
}

// TestSignsOutsideQuotes: a Windows command stays one with a quoted path, with quotes that don't add up, and behind a remark
// that has an apostrophe in it.
func TestSignsOutsideQuotes(t *testing.T) {
	for _, input := range []string{
		"Remove-Item -Recurse -Force \"C:\\Users\\me\\Documents\"",
		"del /s /q \"C:\\Users\\me\\Documents\\\"",
		"# don't worry\nRemove-Item -Recurse -Force C:\\Users\\me\\Documents",
		"powershell -Command \"Remove-Item -Recurse -Force C:\\Users\\me\\Documents\"",
		"cat <<EOF\nx\nRemove-Item -Recurse -Force C:\\Users\\me\\Documents", // which nothing ends
		"\"C:\\Windows\\System32\\cmd.exe\" /c rd /s /q C:\\Users\\me\\Documents",
	} {
		if !slices.ContainsFunc(shellImpacts(t, input), func(i interlock.Impact) bool {
			return i.Kind == interlock.ImpactDelete && strings.Contains(strings.ToLower(i.Target), "documents")
		}) {
			t.Errorf("%s: nothing is deleted", input)
		}
	}
}
