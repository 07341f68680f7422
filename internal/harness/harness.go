package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// A Harness is one coding agent that can be installed to. The zero value is none.
type Harness struct {
	Name   string
	Title  string
	Events []string // what is registered for, in this order
	Note   string   // what the person installing must do or know afterwards

	owned     *ownedFile // the settings are a file of ours alone; nil: they are JSON that others write, too
	version   bool       // the file has "version": 1 at its top
	settings  func(Place) string
	entry     func(event, goos string, command Command) any
	grouped   bool // entries are {matcher, hooks:[…]}; otherwise they are handlers themselves
	blockable func(event string) bool

	files        []string // below the user's home, in which a hook may be registered
	below        bool     // the registrations lie in a directory below that of the harness's other settings
	programs     []string // by which it is started as well as by its name
	traces       Traces
	gaps         []gap
	heads        string // the directory below the user's home that keeps the newest checkpoint; empty: the name after a dot
	reviewed     bool   // it skips what its user has not reviewed, as Codex does
	administered bool   // an administrator's settings go before the user's, as with Claude Code
	hooksConfig  bool   // hooksConfig in its settings switches hooks off, by a name or all of them
	beside       func(p Place, dir string) []string
	switched     func(h Harness, p Place, dir string) []string // finds what lets no hook run in a directory
	telemetry    func(t Telemetry) string                      // what to set by hand so that it reports what it uses
	printed      func(line func(event string) string) string   // what a person puts in place; nil: it is installed to
}

// A Place is where settings are looked for.
type Place struct {
	Home    string              // the user's home directory
	Project string              // a project whose settings are meant instead of the user's; empty: the user's
	Getenv  func(string) string // for the directories a harness lets its user move; nil: none are moved
	GOOS    string              // the system commands are written for
	System  string              // the directory of settings for everybody on the machine; empty: /etc, and none on Windows
}

// managed is a file of what an administrator has set up for every user of Claude Code.
func (p Place) managed(name string) string {
	switch {
	case p.System != "":
		return filepath.Join(p.System, "claude-code", name)
	case p.GOOS == "darwin":
		return "/Library/Application Support/ClaudeCode/" + name
	case p.GOOS == "windows":
		return `C:\Program Files\ClaudeCode\` + name
	}
	return "/etc/claude-code/" + name
}

// A Command is what a harness is told to run.
type Command struct {
	Binary string // absolute path
	Args   []string
}

// SmallProgram is the name of the program that only hooks run.
const SmallProgram = "interlock-hook"

// Settings is the file that holds the harness's registrations.
func (h Harness) Settings(p Place) string { return h.settings(p) }

// Blocks reports whether the harness can be stopped through the event.
func (h Harness) Blocks(event string) bool { return h.blockable(event) }

// The timeouts registered with each harness, in its own unit. All are well above the hook's own deadline.
const (
	claudeTimeout  = 120    // s
	codexTimeout   = 120    // s
	geminiTimeout  = 30_000 // ms
	qwenTimeout    = 30_000 // ms; versions that count in seconds take 1000 and more for milliseconds still
	cursorTimeout  = 60     // s
	copilotTimeout = 30     // s, which is also Copilot's default
	toldTimeout    = 10     // s, where an event only tells what the user says, whose words wait for it
)

// patience is how long a harness that counts in seconds waits at an event.
func patience(event string, usual int) int {
	if Listens(event) {
		return toldTimeout
	}
	return usual
}

// hookName is how Interlock's handlers are called where handlers have names.
const hookName = "interlock"

type group struct {
	Matcher string `json:"matcher,omitempty"`
	Hooks   []any  `json:"hooks"`
}

// Listens reports whether an event only tells what the user says. A registration without it guards as well, and knows less.
func Listens(event string) bool {
	switch event {
	case "UserPromptSubmit", "BeforeAgent", "beforeSubmitPrompt", "userPromptSubmitted", "chat.message", "pre_user_prompt":
		return true
	}
	return false
}

// matching is the matcher of an event: events without a tool have none.
func matching(event, all string) string {
	if Listens(event) || event == ConfigChange {
		return ""
	}
	return all
}

// ConfigChange is the event by which Claude Code tells that settings were changed under a session, and lets a hook refuse that they
// count there. A registration without it guards as well, until the session ends.
const ConfigChange = "ConfigChange"

// isBlocking reports of an event in Claude Code's form whether a call can be stopped through it.
func isBlocking(event string) bool { return event == "PreToolUse" || event == "PermissionRequest" }

// in returns where a settings file lies: below the user's directory, which an environment variable may move, or below the
// project's.
func in(user, variable, project string, rest ...string) func(Place) string {
	return func(p Place) string {
		base := filepath.Join(p.Home, user)
		if variable != "" && p.Getenv != nil {
			if moved := p.Getenv(variable); filepath.IsAbs(moved) {
				base = moved
			}
		}
		if p.Project != "" {
			base = filepath.Join(p.Project, project)
		}
		return filepath.Join(append([]string{base}, rest...)...)
	}
}

// line is the command as one line for the shell the harness uses on the given system.
func (c Command) line(goos string) string {
	if goos == "windows" {
		return c.windows()
	}
	return c.posix()
}

func (c Command) argv() []string { return append([]string{c.Binary}, c.Args...) }

func (c Command) posix() string { return c.join(quotePOSIX) }

const (
	orRefuse = " || exit 2" // as earlier versions registered it
	orMend   = " || { test -x "
	orGoOn   = " || exit 0"
)

// mended is the end of a line that refuses, and says how to mend it where the program is gone. Only then is there anything to say: what
// the program itself refuses with needs nothing more.
func (c Command) mended() string {
	program := quotePOSIX(c.Binary)
	return orMend + program + " || echo '[hook.gone] Every call is refused, because '" + program + "' is gone or was moved. A person puts " +
		"it back there, or sets a new one up with interlock setup, or takes its hooks out of these settings.' >&2; exit 2; }"
}

// closed is the line for an event that can stop a call, for harnesses that take exit status 2 for a refusal and any other failure
// for none: a program that is gone, may not be run or dies refuses too. cmd.exe and PowerShell share no words for it.
func (c Command) closed(goos string, blocks bool) string {
	if goos == "windows" || !blocks {
		return c.line(goos)
	}
	return c.posix() + c.mended()
}

// gemini is the line for an event of Gemini CLI, which takes a failure of the hook that hears the prompt for a reason to end the
// turn. That hook permits nothing, so a program that is gone is passed over there; the hook before each tool refuses.
func (c Command) gemini(goos, event string) string {
	if goos != "windows" && Listens(event) {
		return c.posix() + orGoOn
	}
	return c.closed(goos, event == "BeforeTool")
}

// String is the command line as a person types it.
func (c Command) String() string { return c.posix() }

// windows quotes for cmd.exe; PowerShell reads the same line as long as the path needs no quotes.
func (c Command) windows() string {
	return c.join(func(s string) string {
		if strings.ContainsAny(s, " \t&|<>^\"%") {
			return `"` + s + `"`
		}
		return s
	})
}

func (c Command) powershell() string {
	return "& " + c.join(func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" })
}

func (c Command) join(quote func(string) string) string {
	words := []string{quote(c.Binary)}
	for _, arg := range c.Args {
		words = append(words, quote(arg))
	}
	return strings.Join(words, " ")
}

// quotePOSIX quotes a word for a POSIX shell if it needs it.
func quotePOSIX(s string) string {
	plain := s != ""
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@+,", r)) {
			plain = false
		}
	}
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// HookArgs are the arguments of the registered command for one event.
func HookArgs(name, event, home string, unattended bool) []string {
	args := []string{"hook", "--agent", name, "--event", event}
	if home != "" {
		args = append(args, "--home", home)
	}
	if unattended {
		args = append(args, "--unattended")
	}
	return args
}

// SystemArgs are the arguments of the registered command for one event where the server of the system decides, at its socket.
func SystemArgs(name, event, socket string, unattended bool) []string {
	return append(HookArgs(name, event, "", unattended), "--socket", socket)
}

// Lines are the registration of a harness that is not installed to, for a person to put in place by hand.
func Lines(name, goos string, binary string, args func(event string) []string) (text string, known bool) {
	h := byName(name)
	if h.printed == nil {
		return "", false
	}
	return h.printed(func(event string) string { return Command{binary, args(event)}.line(goos) }), true
}

func comma(i int, list []string) string {
	if i < len(list)-1 {
		return ","
	}
	return ""
}

// jsonText is a string as JSON, without HTML escapes.
func jsonText(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""` // unreachable: strings always encode
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Printed is what to register, to read or to copy: a line of what the harness would run for each event, or a whole file.
func (h Harness) Printed(goos string, command func(event string) Command) string {
	if h.owned != nil {
		return string(h.owned.text(h.Events, func(event string) []string { return command(event).argv() }))
	}
	var b strings.Builder
	for _, event := range h.Events {
		fmt.Fprintf(&b, "%s: %s\n", event, command(event).line(goos))
	}
	return b.String()
}
