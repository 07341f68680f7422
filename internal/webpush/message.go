package webpush

import (
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"

	"interlock"
)

// A Message is what a browser shows. Its names are part of the contract with push-worker.js.
type Message struct {
	Kind  string    `json:"kind"` // asks, answered or test
	Title string    `json:"title"`
	Body  string    `json:"body"`
	Tag   string    `json:"tag,omitempty"` // the request: what is shown of it later takes the place of what was shown before
	Path  string    `json:"path"`          // the page of the console that a click opens
	Until time.Time `json:"-"`             // when there is no use in showing it any more
	Asked time.Time `json:"-"`             // a browser that was switched on later is not told; zero: all are
}

// maxWords bounds each part of a message, in characters: a screen that is locked shows a line or two.
const maxWords = 120

// Asks is that a request waits: which rule asks, and why in the rule's own words. What the agent wrote is not in it but its name and the
// name of its project; a screen that is locked is read by anybody.
func Asks(r interlock.ApprovalRequest, why string) Message {
	who := shown(r.Requester.Agent)
	if project := projectOf(r.Display); project != "" {
		who += " in " + shown(project)
	}
	if why = shown(why); why != "" {
		who += ": " + why
	}
	return Message{Kind: "asks", Title: "Interlock asks: " + shown(r.Rule), Body: who, Tag: r.ID, Path: "/pending/" + r.ID, Until: r.Expires,
		Asked: r.Created}
}

// Many is that so many requests wait which came at once, the newest of them named: nobody reads one message for each.
func Many(n int, newest interlock.ApprovalRequest) Message {
	return Message{Kind: "asks", Title: "Interlock asks", Body: strconv.Itoa(n) + " more actions wait for an answer", Tag: "many",
		Path: "/pending", Until: newest.Expires, Asked: newest.Created}
}

// projectOf is the last part of the directory that a display names. Its fields hold no line end, so the first empty line is where the
// action's own text begins.
func projectOf(display string) string {
	head, _, _ := strings.Cut(display, "\n\n")
	for line := range strings.Lines(head) {
		if dir, found := strings.CutPrefix(strings.TrimSpace(line), "dir: "); found {
			if base := path.Base(strings.ReplaceAll(dir, `\`, "/")); base != "." && base != "/" {
				return base
			}
		}
	}
	return ""
}

// Answered is that a request waits no more, and what became of it.
func Answered(r interlock.ApprovalRequest, state string) Message {
	return Message{Kind: "answered", Title: "Interlock: it waits no more", Body: shown(r.Requester.Agent) + ", " + shown(r.Rule) + ": " + shown(state),
		Tag: r.ID, Path: "/pending/" + r.ID, Until: r.Expires, Asked: r.Created}
}

// Test is a message that an operator asks for to see one.
func Test(now time.Time) Message {
	return Message{Kind: "test", Title: "Interlock: a test", Body: "This browser is told when an action waits for an answer.", Path: "/pending",
		Until: now.Add(5 * time.Minute)}
}

// shown keeps a text on a line and within bounds, without what would not show as itself.
func shown(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.Join(strings.Fields(s), " ") {
		if n++; n > maxWords {
			b.WriteRune('…')
			break
		}
		if !unicode.IsPrint(r) {
			r = '�'
		}
		b.WriteRune(r)
	}
	return b.String()
}
