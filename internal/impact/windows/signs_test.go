package windows_test

import (
	"testing"

	"interlock/internal/impact/flow"
	"interlock/internal/impact/impacttest"
	"interlock/internal/impact/windows"
)

// What only a shell of Windows means anything by decides which shell a text is for; quotes, remarks and here-documents are data.
func TestSignsOf(t *testing.T) {
	k := impacttest.Knowledge(t)
	for _, c := range []struct {
		text string
		want flow.Dialect
	}{
		{`Get-ChildItem -Recurse | Where-Object { $_.Length -gt 1kb }`, flow.DialectPowerShell},
		{`$env:TEMP; Remove-Item -Recurse -Force $env:USERPROFILE\x`, flow.DialectPowerShell},
		{`[System.IO.File]::Delete("a")`, flow.DialectPowerShell},
		{`@{ a = 1 } | ConvertTo-Json; Set-Content x.json`, flow.DialectPowerShell},
		{`del /s /q %TEMP%\*.log`, flow.DialectCmd},
		{`if exist %USERPROFILE%\x rd /s /q %USERPROFILE%\x`, flow.DialectCmd},
		{`ls -la && grep -rn "TODO" src | head`, flow.DialectGuess},
		{`git commit -m "use %TEMP% and $env:PATH, Get-ChildItem, Remove-Item"`, flow.DialectGuess},
		{"cat > x.ps1 <<'EOF'\nGet-ChildItem -Recurse\nRemove-Item $env:TEMP\\x\nEOF\n", flow.DialectGuess},
		{"# Get-ChildItem isn't run: $env:TEMP\necho done", flow.DialectGuess},
		{`for f in *.txt; do echo "$f"; done`, flow.DialectGuess},
		{`date +%Y-%m-%d; printf '%s%%\n' 5`, flow.DialectGuess},
	} {
		got, _ := windows.SignsOf(k, c.text).Verdict()
		if got != c.want {
			t.Errorf("%q: %v, want %v (%+v)", c.text, got, c.want, windows.SignsOf(k, c.text))
		}
	}
}
