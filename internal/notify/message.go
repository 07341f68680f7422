package notify

import (
	"strings"
	"time"
	"unicode/utf8"

	"interlock/internal/notice"
)

// headline says in one line what a notice is about.
func headline(n notice.Notice) string {
	who := plain(n.Requester.Agent)
	switch n.Kind {
	case "block":
		return "Interlock: " + who + " is blocked"
	case "verify":
		return "Interlock: " + who + " waits for your code"
	case "request":
		return "Interlock: " + who + " waits for an answer"
	case "test":
		return "Interlock: a test of this channel"
	case "alert":
		return "Interlock: alert, " + plain(n.Rule)
	default:
		return "Interlock: " + who + ": alert"
	}
}

// text is the whole message, for channels that carry plain text. room bounds the action that is shown, in bytes; 0 shows all.
func text(n notice.Notice, room int) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			b.WriteString(name + ": " + value + "\n")
		}
	}
	line("agent", plain(n.Requester.Agent))
	line("for", plain(n.Requester.Principal))
	line("run", plain(n.Requester.Run))
	line("why", plain(n.Reason))
	line("rule", plain(n.Rule))
	if n.Display != "" || n.Kind != "alert" {
		b.WriteString("\nIt wanted to do this:\n\n" + strings.TrimRight(shortened(n.Display, room), "\n") + "\n\n")
	}
	line("challenge", n.Challenge)
	line("request", n.Request)
	if n.Code == "" {
		return b.String()
	}
	b.WriteString("code: " + n.Code.Reveal() + "\n")
	line("until", n.Expires.UTC().Format(time.RFC3339))
	b.WriteString("\n" + advice(n) + "\n")
	return b.String()
}

func advice(n notice.Notice) string {
	if n.Kind == "block" {
		return "The code lifts the block: the agent may go on with everything. Give it only if you know why this happened. It counts once."
	}
	return "The code lets exactly this happen, once. Give it only if you want that."
}

// plain keeps a value on its line.
func plain(s string) string { return strings.Join(strings.Fields(s), " ") }

// shortened cuts a text at a character boundary and says so.
func shortened(s string, room int) string {
	if room <= 0 || len(s) <= room {
		return s
	}
	for room > 0 && !utf8.RuneStart(s[room]) {
		room--
	}
	return s[:room] + "\n[more follows; `interlock pending` and the console show all of it]"
}
