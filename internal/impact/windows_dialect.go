package impact

import (
	"strings"

	"interlock"
)

// A dialect is the shell a text is written for.
type dialect int

const (
	dialectGuess dialect = iota // by what the text looks like
	dialectPOSIX
	dialectPowerShell
	dialectCmd
)

// dialectOf is the shell a tool's name says its commands are for. A tool called bash or shell says nothing: several
// harnesses give that name to whatever shell the machine has.
func dialectOf(a interlock.Action) dialect {
	tool := strings.ToLower(a.Tool)
	switch {
	case tool == "":
	case strings.Contains(tool, "powershell") || strings.Contains(tool, "pwsh"):
		return dialectPowerShell
	case tool == "cmd" || strings.Contains(tool, "cmd.exe") || tool == "batch":
		return dialectCmd
	}
	return dialectGuess
}

// backslash counts what a backslash says by what stands before it: a drive, a share, a hive of the registry.
func (g *signs) backslash(text string, i int) {
	if i > 1 && text[i-1] == ':' && isDrive(text[i-2:]) && (i == 2 || !isNameStart(text[i-3])) {
		g.either += 2
	} else if strings.HasPrefix(text[i:], `\\`) && (i == 0 || isBlank(text[i-1]) || text[i-1] == '"') && i+2 < len(text) && isVariableByte(text[i+2]) && strings.IndexByte(text[i+2:], '\\') > 0 {
		g.either += 2 // a share
	} else if i > 2 && text[i-1] == ':' && strings.EqualFold(text[max(0, i-5):i-1], "hklm") || i > 3 && strings.EqualFold(text[max(0, i-4):i], "hklm") || strings.EqualFold(text[max(0, i-4):i], "hkcu") {
		g.either += 2
	} else if i > 0 && text[i-1] == '.' && (i == 1 || isBlank(text[i-2])) {
		g.either++
	}
}

// dollar counts $env:NAME, $_ and $name = …, which no POSIX shell would run.
func (g *signs) dollar(text string, i int, start bool) {
	rest := text[i+1:]
	switch {
	case len(rest) > 4 && strings.EqualFold(rest[:4], "env:"):
		g.powershell += 3
	case strings.HasPrefix(rest, "_."):
		g.powershell += 3
	case start && rest != "" && isNameStart(rest[0]):
		end := 0
		for end < len(rest) && isVariableByte(rest[end]) {
			end++
		}
		after := skipAny(rest, end, " \t")
		if end > 0 && after < len(rest) && rest[after] == '=' && after+1 < len(rest) && (rest[after+1] != '=') {
			g.powershell += 3
		} else if end > 0 && after+1 < len(rest) && rest[after] == '+' && rest[after+1] == '=' {
			g.powershell += 2
		} else if end > 0 && end < len(rest) && rest[end] == '.' && end+1 < len(rest) && isNameStart(rest[end+1]) {
			g.powershell++
		}
	}
}

// bracket counts [type] in a command's place, of which something is asked or which something is made.
func (g *signs) bracket(text string, i int) {
	end := i + 1
	for end < len(text) && end < i+64 && (isVariableByte(text[end]) || text[end] == '.') {
		end++
	}
	if end > i+1 && end+1 < len(text) && text[end] == ']' && strings.IndexByte(".$'\"(@[", text[end+1]) >= 0 {
		g.powershell += 3
	}
}

// call counts the call operator: & where a command begins, and a string, a variable, brackets or a path behind it.
func (g *signs) call(text string, i int) {
	next := skipAny(text, i+1, " \t")
	if next < len(text) && (strings.IndexByte("'\"($", text[next]) >= 0 || strings.HasPrefix(text[next:], `.\`)) {
		g.powershell += 3
	}
}

// joins counts the operators that PowerShell has between values.
func (g *signs) joins(rest string, closed bool) {
	switch strings.ToLower(lettersAt(rest, 0)) {
	case "f":
		if closed { // behind a quote it is an ordinary flag
			g.powershell += 2
		}
	case "join", "replace", "split", "match", "like", "contains", "notmatch", "notlike", "creplace", "ireplace", "is", "as":
		g.powershell += 2
	}
}

// percent counts %NAME% of variables that Windows has.
func (g *signs) percent(text string, i int) {
	rest := text[i+1:]
	end := strings.IndexByte(rest[:min(len(rest), 20)], '%')
	if end < 2 {
		return
	}
	switch name, _, _ := strings.Cut(strings.ToLower(rest[:end]), ":"); name {
	case "temp", "tmp", "userprofile", "appdata", "localappdata", "windir", "systemroot", "systemdrive", "programfiles", "programfiles(x86)", "programdata",
		"comspec", "username", "userdomain", "computername", "path", "cd", "public", "homepath", "homedrive", "allusersprofile", "logonserver", "errorlevel",
		"processor_architecture", "userdnsdomain", "programw6432", "os", "date", "time", "random", "pathext":
		g.cmd += 2
	}
}

// weighWord weighs the word in a command's place and returns how far it reaches.
func (k *Knowledge) weighWord(text string, i int, g *signs) int {
	end := i
	dash := -1
	for end < len(text) && end < i+64 && (isVariableByte(text[end]) && text[end] < 0x80 || text[end] == '-') {
		if text[end] == '-' && dash < 0 {
			dash = end
		}
		end++
	}
	word := text[i:end]
	next := byte(0)
	if end < len(text) {
		next = text[end]
	}
	if dash > i+1 && end > dash+1 && (next == 0 || strings.IndexByte(" \t\r\n;|)}(&", next) >= 0) {
		upper := text[i] >= 'A' && text[i] <= 'Z' && text[dash+1] >= 'A' && text[dash+1] <= 'Z'
		low := strings.ToLower(word)
		if upper && k.cmdletByVerb(low) != nil {
			g.powershell += 3
		} else if spec := k.lookup(low); spec != nil && spec.style == "cmdlet" {
			g.powershell += 3
		}
		return max(end-i-1, 0)
	}
	g.named(text, i, word)
	return max(end-i-1, 0)
}

// named counts what a command's name, with what stands behind it, says about the language.
func (g *signs) named(text string, i int, word string) {
	rest := text[i+len(word):]
	if len(rest) >= 4 && strings.EqualFold(rest[:4], ".exe") {
		g.either += 2
	}
	switch strings.ToLower(word) {
	case "for":
		if at := skipAny(rest, 0, " \t"); at < len(rest) && (rest[at] == '%' || slashSwitch(rest, 1)) {
			g.cmd += 3
		}
	case "iex", "gwmi", "iwr", "irm", "gci", "icm", "param", "saps":
		if strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, " ") {
			g.powershell += 2
		}
	case "foreach", "elseif", "catch":
		if at := skipAny(rest, 0, " \t"); at < len(rest) && (rest[at] == '(' || rest[at] == '{') {
			g.powershell += 2
		}
	case "function", "try", "if", "while", "switch", "else":
		if at := skipAny(rest, 0, " \t"); at < len(rest) && rest[at] == '(' && at+1 < len(rest) && rest[at+1] != '(' {
			g.powershell++
		} else if strings.EqualFold(lettersAt(rest, at), "exist") || strings.EqualFold(lettersAt(rest, at), "not") {
			g.cmd += 2
		}
	case "dir", "type", "mkdir", "start", "set", "find", "sort", "more", "tree", "where", "md", "shutdown", "format", "sc":
		if slashSwitch(rest, 1) {
			g.cmd += 2
		}
	case "del", "erase", "rd", "rmdir", "copy", "move", "xcopy", "robocopy", "ren", "attrib", "cmd", "taskkill", "tasklist", "schtasks", "icacls", "findstr", "wmic",
		"ipconfig", "netstat", "gpresult", "takeown", "cipher", "fsutil", "forfiles", "msiexec", "regsvr32", "cmdkey", "wevtutil", "auditpol", "bitsadmin", "runas", "secedit", "dism":
		if slashSwitch(rest, 16) {
			g.cmd += 3
		} else if strings.HasPrefix(rest, ".exe") {
			g.cmd += 2
		}
	case "reg", "vssadmin", "bcdedit", "netsh", "certutil", "rundll32", "mshta", "wbadmin", "diskpart", "rem", "setlocal", "mklink", "cscript", "wscript", "fltmc", "nltest", "dsquery":
		if strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, ".exe") {
			g.cmd += 3
		}
	case "echo":
		if len(rest) >= 4 && strings.EqualFold(rest[:4], " off") && i > 0 && text[i-1] == '@' {
			g.cmd += 3
		}
	}
}

// slashSwitch reports whether a switch of Windows follows: / and a word of at most so many letters that is no path.
func slashSwitch(rest string, most int) bool {
	at := skipAny(rest, 0, " \t")
	if at+1 >= len(rest) || rest[at] != '/' || !isNameStart(rest[at+1]) && rest[at+1] != '?' {
		return false
	}
	end := at + 1
	for end < len(rest) && isNameStart(rest[end]) {
		end++
	}
	return end-at-1 <= most && end >= len(rest) || end < len(rest) && strings.IndexByte(" \t\r\n/:,;&|\"", rest[end]) >= 0 && end-at-1 <= most && (end-at <= 2 || rest[end] != '/')
}

// encoded runs a command given as base64 of UTF-16.
func (r *winRun) encoded(text string) flow {
	w := words{traits: []string{TraitDecoded, TraitObfuscated}}
	raw, err := decodeBase64(text)
	decodedText := decodeUTF16(raw)
	if err != nil || len(raw) == 0 || len(raw) > maxText {
		r.s.add(interlock.Impact{Kind: interlock.ImpactExecute, Target: "powershell", Reach: interlock.ReachWorkspace, Via: "powershell",
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{TraitDecoded, TraitDynamic, TraitInline, TraitObfuscated}})
		return flow{}
	}
	var out flow
	r.s.add(interlock.Impact{Kind: interlock.ImpactExecute, Target: "powershell", Reach: interlock.ReachWorkspace, Via: "powershell",
		Reversibility: interlock.Reversible, Traits: append([]string{TraitInline}, w.traits...)})
	r.s.modified(w, func() { out = r.powershell(strings.ToValidUTF8(decodedText, "?"), flow{}) })
	return out
}

// powershellWords runs the words behind -Command as one script.
func (r *winRun) powershellWords(via string, rest []field, io streams) flow {
	text := joinWords(rest)
	var from flow
	for _, f := range rest {
		from.taint(f.flow)
	}
	if from.network || rest[0].dynamic && rest[0].lead && len(rest) == 1 {
		r.opaque(via, from, text)
		if from.network || !assigns(text) {
			return flow{}
		}
	}
	if text == "-" {
		return r.fromStdin(&use{spec: &command{name: via, stdin: "powershell"}, via: via}, io)
	}
	return r.powershell(text, io.in)
}

// assigns reports whether a text sets a variable of PowerShell. Where the shell around it would have put a value in the
// variable's place, that would be no assignment, so the shell around it is cmd.exe, which leaves the text as it stands.
func assigns(text string) bool {
	for i := strings.IndexByte(text, '$'); i >= 0 && i < len(text); {
		end := i + 1
		for end < len(text) && (isNameStart(text[end]) || text[end] >= '0' && text[end] <= '9') {
			end++
		}
		rest := strings.TrimLeft(text[end:], " ")
		if end > i+1 && len(rest) > 1 && rest[0] == '=' && rest[1] != '=' {
			return true
		}
		next := strings.IndexByte(text[end:], '$')
		if next < 0 {
			return false
		}
		i = end + next
	}
	return false
}

func joinWords(list []field) string {
	var b strings.Builder
	for i, f := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f.text)
	}
	return b.String()
}
