package startup

import (
	"encoding/binary"
	"path/filepath"
	"strings"
	"unicode/utf16"
)

// scheduled is a task of Windows. It is described by a file and not by the flags of schtasks: those make a task that only an
// administrator may make (one for any user who logs in), that is not started on battery, and that is ended after three days.
func scheduled(user User, p Program) Service {
	base := user.Getenv("LOCALAPPDATA")
	if base == "" {
		base = filepath.Join(user.Home, "AppData", "Local")
	}
	file := filepath.Join(base, "Interlock", "task.xml")
	return Service{
		Kind:    "scheduled task",
		File:    file,
		Content: utf16Text(taskXML(user, p)),
		Probe:   []string{"schtasks", "/Query", "/FO", "LIST"},
		Start:   [][]string{{"schtasks", "/Create", "/F", "/TN", taskName, "/XML", file}, {"schtasks", "/Run", "/TN", taskName}},
		Stop:    [][]string{{"schtasks", "/End", "/TN", taskName}, {"schtasks", "/Delete", "/F", "/TN", taskName}},
		Logs:    "schtasks /Query /V /FO LIST /TN " + taskName,
	}
}

// taskXML is the task in the words of Windows' own schema for tasks, version 1.2.
func taskXML(user User, p Program) string {
	name := user.Getenv("USERNAME")
	if domain := user.Getenv("USERDOMAIN"); domain != "" {
		name = domain + `\` + name
	}
	words := make([]string, len(p.Args))
	for i, arg := range p.Args {
		words[i] = windowsWord(arg)
	}
	return `<?xml version="1.0" encoding="UTF-16"?>
<!-- Written by "interlock setup", which also removes it. -->
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Interlock, the safety interlock between AI agents and the world</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>` + xmlText(name) + `</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>` + xmlText(name) + `</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>5</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>255</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>` + xmlText(p.Path) + `</Command>
      <Arguments>` + xmlText(strings.Join(words, " ")) + `</Arguments>
    </Exec>
  </Actions>
</Task>
`
}

// windowsWord is a word of a command line as programs take it apart there: a quote, and each backslash before one, is behind a
// backslash.
func windowsWord(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\"") {
		return word
	}
	var b strings.Builder
	b.WriteByte('"')
	slashes := 0
	for _, c := range word {
		switch c {
		case '\\':
			slashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, slashes+1))
			slashes = 0
		default:
			slashes = 0
		}
		b.WriteRune(c)
	}
	b.WriteString(strings.Repeat(`\`, slashes))
	b.WriteByte('"')
	return b.String()
}

// utf16Text is a text as schtasks takes it: in UTF-16, the lower byte first, behind a mark of that.
func utf16Text(text string) []byte {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(strings.ReplaceAll(text, "\n", "\r\n"))) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return out
}
