package notify

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
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
		if n.Harness {
			return "Interlock: " + who + " asks its user, in the harness"
		}
		return "Interlock: " + who + " waits for an answer"
	case "answered":
		return "Interlock: " + who + " waits no more: " + plain(n.Status)
	case "test":
		return "Interlock: a test of this channel"
	case "alert":
		return "Interlock: alert, " + plain(n.Rule)
	default:
		return "Interlock: " + who + ": alert"
	}
}

// text is the whole message, for channels that carry plain text. What is Interlock's own comes first; what an agent wrote comes last,
// behind a line that says so, each line of it with a bar before it, so that nothing in it can be taken for a code or for advice. room
// bounds the action that is shown, in bytes; 0 shows all.
func text(n notice.Notice, room int) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			b.WriteString(name + ": " + value + "\n")
		}
	}
	if n.Code != "" {
		line("code", n.Code.Reveal())
		line("until", n.Expires.UTC().Format(time.RFC3339))
		b.WriteString(advice(n) + "\n\n")
	}
	line("agent", named(n.Requester.Agent))
	line("for", named(n.Requester.Principal))
	line("run", named(n.Requester.Run))
	line("why", plain(n.Reason))
	line("rule", plain(n.Rule))
	line("challenge", n.Challenge)
	line("request", n.Request)
	if n.Kind == "answered" { // it was shown when it was asked
		line("became", plain(n.Status))
		return b.String()
	}
	if n.Display != "" || n.Kind != "alert" {
		shown, cut := barred(n.Display, room)
		b.WriteString("\nIt wanted to do this. ")
		if cut {
			b.WriteString("Not all of it is here; `interlock pending` and the console show the rest. ")
		}
		b.WriteString("Every line below is the agent's and begins with a bar:\n\n" + shown)
	}
	return b.String()
}

// The bar before what an agent wrote, and where a line of it goes on.
const (
	bar      = "| "
	barAgain = "|   "
	barWidth = 120 // characters to a line, so that what a reader's window would wrap has its bar too
)

// barred puts a bar before each line of a text, whatever ends its lines, and spells out what does not show as itself. It keeps to
// so many bytes, if there is a bound, and reports whether it left something out.
func barred(s string, room int) (shown string, cut bool) {
	var b strings.Builder
	width, begun := 0, false
	for _, r := range strings.TrimRight(s, "\n") {
		if room > 0 && b.Len() > room {
			return strings.TrimRight(b.String(), "\n") + "\n", true
		}
		switch {
		case !begun:
			b.WriteString(bar)
		case width >= barWidth:
			b.WriteString("\n" + barAgain)
			width = 0
		}
		if begun = !endsLine(r); !begun {
			b.WriteByte('\n')
			width = 0
			continue
		}
		width++
		b.WriteString(visible(r))
	}
	if begun {
		b.WriteByte('\n')
	}
	return b.String(), false
}

// endsLine reports whether some reader begins a new line behind a character.
func endsLine(r rune) bool {
	return r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

func visible(r rune) string {
	if r == '\t' || unicode.IsPrint(r) {
		return string(r)
	}
	return fmt.Sprintf("⟦%U⟧", r)
}

// named is a name that an agent may have chosen: quoted, if it is more than a name.
func named(s string) string {
	simple := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.@/+\\", r)
	}
	if strings.IndexFunc(s, func(r rune) bool { return !simple(r) && r != ':' }) < 0 {
		return s
	}
	return strconv.Quote(plain(s))
}

func advice(n notice.Notice) string {
	if n.Kind == "block" {
		return "The code lifts the block: the agent may go on with everything. Give it only if you know why this happened. It counts once."
	}
	return "The code lets exactly this happen, once. Give it only if you want that."
}

// plain keeps a value on its line, and spells out what does not show as itself.
func plain(s string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(s), " ") {
		b.WriteString(visible(r))
	}
	return b.String()
}

// shortened cuts a text at a character boundary and says so.
func shortened(s string, room int) string {
	if room <= 0 || len(s) <= room {
		return s
	}
	for room > 0 && !utf8.RuneStart(s[room]) {
		room--
	}
	return s[:room] + "…"
}
