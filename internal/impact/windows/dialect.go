package windows

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// backslash counts what a backslash says by what comes before it: a drive, a share, a hive of the registry.
func (g *Signs) backslash(text string, i int) {
	if i > 1 && text[i-1] == ':' && lex.IsDrive(text[i-2:]) && (i == 2 || !lex.IsNameStart(text[i-3])) {
		g.Either += 2
	} else if strings.HasPrefix(text[i:], `\\`) && (i == 0 || lex.IsBlank(text[i-1]) || text[i-1] == '"') && i+2 < len(text) &&
		isVariableByte(text[i+2]) && strings.IndexByte(text[i+2:], '\\') > 0 {
		g.Either += 2 // a share
	} else if i > 2 && text[i-1] == ':' && strings.EqualFold(text[max(0, i-5):i-1], "hklm") || i > 3 &&
		strings.EqualFold(text[max(0, i-4):i], "hklm") || strings.EqualFold(text[max(0, i-4):i], "hkcu") {
		g.Either += 2
	} else if i > 0 && text[i-1] == '.' && (i == 1 || lex.IsBlank(text[i-2])) {
		g.Either++
	}
}

// dollar counts $env:NAME, $_ and $name = …, which no POSIX shell would run.
func (g *Signs) dollar(text string, i int, start bool) {
	rest := text[i+1:]
	switch {
	case len(rest) > 4 && strings.EqualFold(rest[:4], "env:"):
		g.PowerShell += 3
	case strings.HasPrefix(rest, "_."):
		g.PowerShell += 3
	case start && rest != "" && lex.IsNameStart(rest[0]):
		end := 0
		for end < len(rest) && isVariableByte(rest[end]) {
			end++
		}
		after := lex.SkipAny(rest, end, " \t")
		if end > 0 && after < len(rest) && rest[after] == '=' && after+1 < len(rest) && (rest[after+1] != '=') {
			g.PowerShell += 3
		} else if end > 0 && after+1 < len(rest) && rest[after] == '+' && rest[after+1] == '=' {
			g.PowerShell += 2
		} else if end > 0 && end < len(rest) && rest[end] == '.' && end+1 < len(rest) && lex.IsNameStart(rest[end+1]) {
			g.PowerShell++
		}
	}
}

// bracket counts [type] in a command's place: something is asked of it or converted to it.
func (g *Signs) bracket(text string, i int) {
	end := i + 1
	for end < len(text) && end < i+64 && (isVariableByte(text[end]) || text[end] == '.') {
		end++
	}
	if end > i+1 && end+1 < len(text) && text[end] == ']' && strings.IndexByte(".$'\"(@[", text[end+1]) >= 0 {
		g.PowerShell += 3
	}
}

// call counts the call operator: & where a command begins, and a string, a variable, brackets or a path behind it.
func (g *Signs) call(text string, i int) {
	next := lex.SkipAny(text, i+1, " \t")
	if next < len(text) && (strings.IndexByte("'\"($", text[next]) >= 0 || strings.HasPrefix(text[next:], `.\`)) {
		g.PowerShell += 3
	}
}

// joins counts the operators that PowerShell has between values.
func (g *Signs) joins(rest string, closed bool) {
	switch strings.ToLower(lettersAt(rest, 0)) {
	case "f":
		if closed { // behind a quote it is an ordinary flag
			g.PowerShell += 2
		}
	case "join", "replace", "split", "match", "like", "contains", "notmatch", "notlike", "creplace", "ireplace", "is", "as":
		g.PowerShell += 2
	}
}

// percent counts %NAME% of variables that Windows has.
func (g *Signs) percent(text string, i int) {
	rest := text[i+1:]
	end := strings.IndexByte(rest[:min(len(rest), 20)], '%')
	if end < 2 {
		return
	}
	switch name, _, _ := strings.Cut(strings.ToLower(rest[:end]), ":"); name {
	case "temp", "tmp", "userprofile", "appdata", "localappdata", "windir", "systemroot", "systemdrive", "programfiles",
		"programfiles(x86)", "programdata",
		"comspec", "username", "userdomain", "computername", "path", "cd", "public", "homepath", "homedrive", "allusersprofile",
		"logonserver", "errorlevel",
		"processor_architecture", "userdnsdomain", "programw6432", "os", "date", "time", "random", "pathext":
		g.Cmd += 2
	}
}

// weighWord weighs the word in a command's place and returns how far it reaches.
func weighWord(k *know.Knowledge, text string, i int, g *Signs) int {
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
		if upper && CmdletByVerb(k, low) != nil {
			g.PowerShell += 3
		} else if spec := k.Lookup(low); spec != nil && spec.Style == "cmdlet" {
			g.PowerShell += 3
		}
		return max(end-i-1, 0)
	}
	g.named(text, i, word)
	return max(end-i-1, 0)
}

// named counts what a command's name, with what comes behind it, says about the language.
func (g *Signs) named(text string, i int, word string) {
	rest := text[i+len(word):]
	if len(rest) >= 4 && strings.EqualFold(rest[:4], ".exe") {
		g.Either += 2
	}
	switch strings.ToLower(word) {
	case "for":
		if at := lex.SkipAny(rest, 0, " \t"); at < len(rest) && (rest[at] == '%' || slashSwitch(rest, 1)) {
			g.Cmd += 3
		}
	case "iex", "gwmi", "iwr", "irm", "gci", "icm", "param", "saps", "foreach", "elseif", "catch",
		"function", "try", "if", "while", "switch", "else":
		g.namedPowerShell(word, rest)
	case "dir", "type", "mkdir", "start", "set", "find", "sort", "more", "tree", "where", "md", "shutdown", "format", "sc":
		if slashSwitch(rest, 1) {
			g.Cmd += 2
		}
	case "del", "erase", "rd", "rmdir", "copy", "move", "xcopy", "robocopy", "ren", "attrib", "cmd", "taskkill", "tasklist",
		"schtasks", "icacls", "findstr", "wmic",
		"ipconfig", "netstat", "gpresult", "takeown", "cipher", "fsutil", "forfiles", "msiexec", "regsvr32", "cmdkey", "wevtutil",
		"auditpol", "bitsadmin", "runas", "secedit", "dism":
		if slashSwitch(rest, 16) {
			g.Cmd += 3
		} else if strings.HasPrefix(rest, ".exe") {
			g.Cmd += 2
		}
	case "certutil":
		if strings.HasPrefix(rest, ".exe") || strings.HasPrefix(rest, " ") && !letterOption(rest) {
			g.Cmd += 3 // the program of that name elsewhere has options of one letter
		}
	case "reg", "vssadmin", "bcdedit", "netsh", "rundll32", "mshta", "wbadmin", "diskpart", "rem", "setlocal",
		"mklink", "cscript", "wscript", "fltmc", "nltest", "dsquery":
		if strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, ".exe") {
			g.Cmd += 3
		}
	case "echo":
		if len(rest) >= 4 && strings.EqualFold(rest[:4], " off") && i > 0 && text[i-1] == '@' {
			g.Cmd += 3
		}
	}
}

// namedPowerShell is named for the words that PowerShell has, and cmd.exe has some of them too.
func (g *Signs) namedPowerShell(word, rest string) {
	switch strings.ToLower(word) {
	case "iex", "gwmi", "iwr", "irm", "gci", "icm", "param", "saps":
		if strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, " ") {
			g.PowerShell += 2
		}
	case "foreach", "elseif", "catch":
		if at := lex.SkipAny(rest, 0, " \t"); at < len(rest) && (rest[at] == '(' || rest[at] == '{') {
			g.PowerShell += 2
		}
	case "function", "try", "if", "while", "switch", "else":
		if at := lex.SkipAny(rest, 0, " \t"); at < len(rest) && rest[at] == '(' && at+1 < len(rest) && rest[at+1] != '(' {
			g.PowerShell++
		} else if strings.EqualFold(lettersAt(rest, at), "exist") || strings.EqualFold(lettersAt(rest, at), "not") {
			g.Cmd += 2
		}
	}
}

// letterOption reports whether an option of one capital letter or -d follows.
func letterOption(rest string) bool {
	rest = strings.TrimLeft(rest, " ")
	return len(rest) > 2 && rest[0] == '-' && (rest[1] >= 'A' && rest[1] <= 'Z' || rest[1] == 'd') && rest[2] == ' '
}

// slashSwitch reports whether a switch of Windows follows: / and a word of at most so many letters that is no path.
func slashSwitch(rest string, most int) bool {
	at := lex.SkipAny(rest, 0, " \t")
	if at+1 >= len(rest) || rest[at] != '/' || !lex.IsNameStart(rest[at+1]) && rest[at+1] != '?' {
		return false
	}
	end := at + 1
	for end < len(rest) && lex.IsNameStart(rest[end]) {
		end++
	}
	return end-at-1 <= most && end >= len(rest) || end < len(rest) && strings.IndexByte(" \t\r\n/:,;&|\"", rest[end]) >= 0 &&
		end-at-1 <= most && (end-at <= 2 || rest[end] != '/')
}

// Encoded runs a command given as base64 of UTF-16.
func (r *Run) Encoded(text string) flow.Flow {
	w := know.Words{Traits: []string{fact.TraitDecoded, fact.TraitObfuscated}}
	raw, err := lex.DecodeBase64(text)
	decodedText := lex.DecodeUTF16(raw)
	if err != nil || len(raw) == 0 || len(raw) > lex.MaxText {
		r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: "powershell", Reach: interlock.ReachWorkspace,
			Via:           "powershell",
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred,
			Traits: []string{fact.TraitDecoded, fact.TraitDynamic, fact.TraitInline, fact.TraitObfuscated}})
		return flow.Flow{}
	}
	var out flow.Flow
	r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: "powershell", Reach: interlock.ReachWorkspace,
		Via:           "powershell",
		Reversibility: interlock.Reversible, Traits: append([]string{fact.TraitInline}, w.Traits...)})
	r.S.Modified(w, func() { out = r.PowerShell(strings.ToValidUTF8(decodedText, "?"), flow.Flow{}) })
	return out
}

// PowerShellWords runs the words behind -Command as one script.
func (r *Run) PowerShellWords(via string, rest []flow.Field, io flow.Streams) flow.Flow {
	text := joinWords(rest)
	var from flow.Flow
	for _, f := range rest {
		from.Taint(f.Flow)
	}
	if from.Network || rest[0].Dynamic && rest[0].Lead && len(rest) == 1 {
		r.Opaque(via, from, text)
		if from.Network || !assigns(text) {
			return flow.Flow{}
		}
	}
	if text == "-" {
		return r.FromStdin(&flow.Use{Spec: &know.Command{Name: via, Stdin: "powershell"}, Via: via}, io)
	}
	return r.PowerShell(text, io.In)
}

// assigns reports whether a text sets a variable of PowerShell. Where the shell around it would have put a value in the
// variable's place, that would be no assignment, so the shell around it is cmd.exe, which leaves the text as it is.
func assigns(text string) bool {
	for i := strings.IndexByte(text, '$'); i >= 0 && i < len(text); {
		end := i + 1
		for end < len(text) && (lex.IsNameStart(text[end]) || text[end] >= '0' && text[end] <= '9') {
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

func joinWords(list []flow.Field) string {
	var b strings.Builder
	for i, f := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f.Text)
	}
	return b.String()
}
