package hook

import (
	"encoding/json"
	"slices"
	"strings"

	"interlock"
)

// A known harness goes by a name, and speaks a dialect.
type known struct {
	name    string
	dialect func() dialect
	unnamed bool // nobody names it: it runs the registrations of others
}

// harnesses are all of them, in the order documentation names them. A new one is a row here and its dialect.
func harnesses() []known {
	return []known{
		{name: "claude", dialect: claude}, {name: "codex", dialect: codex}, {name: "gemini", dialect: gemini},
		{name: "qwen", dialect: qwen}, {name: "cursor", dialect: cursor}, {name: "copilot", dialect: copilot},
		{name: "opencode", dialect: opencode}, {name: "windsurf", dialect: windsurf}, {name: "cline", dialect: cline},
		{name: "grok", dialect: grok, unnamed: true},
	}
}

// Agents lists the harnesses that can be named, in the order documentation names them.
func Agents() (names []string) {
	for _, h := range harnesses() {
		if !h.unnamed {
			names = append(names, h.name)
		}
	}
	return names
}

// A dialect is one harness's protocol.
type dialect struct {
	// place names the phase of an event, and whether it reports a failure.
	place func(event string) (phase Phase, failed bool)
	// parse fills the call from the payload. The call's Agent is set; on error what has been filled so far is used to
	// refuse.
	parse func(call *Call, payload object, env Environment) error
	// asks reports whether an Ask can be put to a human through this event.
	asks func(call Call, env Environment) bool
	// answer writes a verdict. Ask is passed only where asks holds; text is never empty unless the verdict is Allow.
	answer func(call Call, verdict interlock.Verdict, text string) Output
	// refuse writes a refusal where the event is Before, Permission or Unknown; nil means answer with Deny.
	refuse func(call Call, text string) Output
	// rewrite allows the call with other arguments, where the event can; nil where the harness can't, or not for this event.
	rewrite func(call Call, input json.RawMessage) Output
	// replace has other words shown in place of what a call returned, if the event can; nil where the harness can't.
	replace func(call Call) (out Output, can bool)

	// shows reports whether only this harness writes such a payload; nil where its payloads look like those of others.
	shows func(payload object) bool
	// shaped says that it sends, or may send, Claude Code's payload, so that only its transcript's directory tells it apart.
	shaped bool
	// commands are the events that can carry a shell command, and canary is a payload of one of them that proposes what must be
	// refused, out of what Claude Code would send; nil where it would send the same.
	commands []string
	canary   func(shaped map[string]any) map[string]any
	// stops reports whether an answer to an event stops the tool, as the harness reads it. It is written from the harness's
	// documents and not from the functions above, so that it can hold them, and what runs them, to account.
	stops func(event string, a answer) bool
}

// dialectOf returns the dialect of a harness.
func dialectOf(agent string) (dialect, bool) {
	for _, h := range harnesses() {
		if h.name == agent {
			return h.dialect(), true
		}
	}
	return dialect{}, false
}

// detect returns the harness a payload comes from. Some harnesses load the registrations of others (Grok, Copilot and
// Cursor read Claude Code's files), so the same command is run by a harness it was not registered with, and an answer in
// the wrong dialect would be ignored and the tool would run. Only members the harness itself writes at the top level are
// looked at; where they are not conclusive the harness that was named counts.
func detect(agent string, payload object) string {
	var named dialect
	var shaped []string
	for _, h := range slices.Backward(harnesses()) {
		d := h.dialect()
		switch {
		case d.shows != nil && d.shows(payload):
			return h.name
		case h.name == agent:
			named = d
		}
		if d.shaped {
			shaped = append(shaped, h.name)
		}
	}
	if event, _ := payload.text("hook_event_name"); !named.shaped || event == "" {
		return agent
	}
	return byTranscript(agent, shaped, payload)
}

// byTranscript tells harnesses with one payload shape apart by the directory their transcripts lie in, if it names
// exactly one of them.
func byTranscript(agent string, shaped []string, payload object) string {
	path, _ := payload.text("transcript_path")
	path = strings.ReplaceAll(path, `\`, "/")
	found := agent
	hits := 0
	for _, name := range shaped {
		if strings.Contains(path, "/."+name+"/") {
			found = name
			hits++
		}
	}
	if hits != 1 {
		return agent
	}
	return found
}
