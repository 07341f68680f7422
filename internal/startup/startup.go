// Package startup knows how each system starts a program with its user's session: systemd --user, launchd and the task
// scheduler of Windows. It says what to write and what to run, and does neither. Start with For.
package startup

import (
	"path/filepath"
	"strconv"
	"strings"
)

// A Service is how a system keeps one program of a user running. The zero value is none.
type Service struct {
	Kind    string   // as people know it
	File    string   // what says how it is started; empty: the system keeps that itself
	Content []byte   // of File
	Probe   []string // succeeds where the system has such services, for this user and now
	Start   [][]string
	Stop    [][]string // also what was never started; what fails of it is passed over
	Logs    string     // the command that shows what it says
}

// A Program is what is to run.
type Program struct {
	Path string
	Args []string
}

// A User is for whom it runs.
type User struct {
	Home   string
	ID     int                 // what launchd knows the user by
	Getenv func(string) string // for the directories that a user may have moved
}

// The names under which systems know the service.
const (
	unitName  = "interlock.service"
	agentName = "dev.interlock.up"
	taskName  = "Interlock"
)

// For is the service of a system; known is false where there is none to have.
func For(goos string, user User, p Program) (s Service, known bool) {
	switch goos {
	case "linux":
		return systemd(user, p), true
	case "darwin":
		return launchd(user, p), true
	case "windows":
		return scheduled(user, p), true
	}
	return Service{}, false
}

func systemd(user User, p Program) Service {
	base := user.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		base = filepath.Join(user.Home, ".config")
	}
	words := []string{unitWord(p.Path)}
	for _, arg := range p.Args {
		words = append(words, unitWord(arg))
	}
	return Service{
		Kind: "user service of systemd",
		File: filepath.Join(base, "systemd", "user", unitName),
		Content: []byte("# Written by `interlock setup`, removed by `interlock setup --undo`.\n" +
			"[Unit]\nDescription=Interlock, the safety interlock between AI agents and the world\n\n" +
			"[Service]\nExecStart=" + strings.Join(words, " ") + "\nRestart=on-failure\nRestartSec=2\nUMask=0077\n\n" +
			"[Install]\nWantedBy=default.target\n"),
		Probe: []string{"systemctl", "--user", "show-environment"},
		Start: [][]string{{"systemctl", "--user", "daemon-reload"}, {"systemctl", "--user", "enable", unitName},
			{"systemctl", "--user", "restart", unitName}},
		Stop: [][]string{{"systemctl", "--user", "disable", "--now", unitName}},
		Logs: "journalctl --user -u " + unitName,
	}
}

// unitWord is a word of a command line in a unit, where $ and % begin what systemd fills in.
func unitWord(word string) string {
	word = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(word)
	if strings.ContainsAny(word, " \t'\\\";") || word == "" {
		return `"` + word + `"`
	}
	return word
}

func launchd(user User, p Program) Service {
	var words strings.Builder
	for _, word := range append([]string{p.Path}, p.Args...) {
		words.WriteString("    <string>" + xmlText(word) + "</string>\n")
	}
	file := filepath.Join(user.Home, "Library", "LaunchAgents", agentName+".plist")
	domain := "gui/" + strconv.Itoa(user.ID)
	return Service{
		Kind: "launch agent",
		File: file,
		Content: []byte("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
			"<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n" +
			"<!-- Written by `interlock setup`, which also removes it. -->\n" +
			"<plist version=\"1.0\">\n<dict>\n  <key>Label</key>\n  <string>" + agentName + "</string>\n" +
			"  <key>ProgramArguments</key>\n  <array>\n" + words.String() + "  </array>\n" +
			"  <key>RunAtLoad</key>\n  <true/>\n" +
			"  <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n" +
			"  <key>Umask</key>\n  <integer>63</integer>\n</dict>\n</plist>\n"),
		Probe: []string{"launchctl", "print", domain},
		Start: [][]string{{"launchctl", "bootstrap", domain, file}, {"launchctl", "kickstart", "-k", domain + "/" + agentName}},
		Stop:  [][]string{{"launchctl", "bootout", domain + "/" + agentName}},
		Logs:  "launchctl print " + domain + "/" + agentName,
	}
}

func xmlText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
