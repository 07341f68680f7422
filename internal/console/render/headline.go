package render

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"
	"sync"

	"interlock"
)

// A Proposed is an action as its display tells it, taken apart for reading. The display itself is what is signed.
type Proposed struct {
	Kind string
	Tool string
	Dir  string
	Hint string
	Body string // what would run, or the arguments
	Lead string // in a few words, where the body is not that by itself
}

// TakeApart reads a display. Its fields hold no line end, so the first empty line is where the action's own text begins.
func TakeApart(display string) Proposed {
	head, body, found := strings.Cut(display, "\n\n")
	if !found {
		return Proposed{Body: display}
	}
	t := Proposed{Body: strings.TrimRight(body, "\n")}
	for _, line := range strings.Split(head, "\n") {
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "kind":
			t.Kind = value
		case "tool":
			t.Tool = value
		case "dir":
			t.Dir = value
		case "stated purpose":
			t.Hint = value
		case "result":
			t.Kind = name
		case "objective": // of a result: what it was asked for
			t.Lead = "for: " + value
		}
	}
	if t.Lead == "" {
		t.Lead = t.lead()
	}
	return t
}

// lead names what arguments are about: the file, the address, the tool.
func (t Proposed) lead() string {
	var named struct {
		Path   string `json:"path"`
		Method string `json:"method"`
		URL    string `json:"url"`
	}
	if strings.HasPrefix(t.Body, "{") && t.Kind != string(interlock.KindTool) {
		_ = json.Unmarshal([]byte(t.Body), &named) // what is not there stays empty
	}
	switch {
	case t.Kind == string(interlock.KindFile) && named.Path != "":
		return strings.TrimSpace(t.Tool + " " + named.Path)
	case t.Kind == string(interlock.KindHTTP) && named.URL != "":
		return strings.TrimSpace(named.Method + " " + named.URL)
	case t.Kind == string(interlock.KindTool):
		return t.Tool
	}
	return ""
}

// briefly is how much of an action is told in a line of a list.
const briefly = 120

// Brief is what would run, in one short line.
func (t Proposed) Brief() string {
	text := t.Lead
	if text == "" {
		text, _, _ = strings.Cut(strings.TrimSpace(t.Body), "\n")
	}
	return Shorten(text, briefly)
}

// Project is the last part of the directory: what people call where they work.
func (t Proposed) Project() string { return ProjectOf(t.Dir) }

func ProjectOf(dir string) string {
	if dir == "" {
		return ""
	}
	if base := path.Base(strings.ReplaceAll(dir, `\`, "/")); base != "." && base != "/" {
		return base
	}
	return dir
}

// Like is what makes two questions alike: the kind, the tool, and the first words of what would run.
func (t Proposed) Like() string {
	words := strings.Fields(t.Body)
	if t.Lead != "" {
		words = strings.Fields(t.Lead)[:1]
	}
	return t.Kind + "\x00" + t.Tool + "\x00" + strings.Join(words[:min(len(words), 2)], " ")
}

// A Word is a stretch of a text for reading: plain, a character that was spelled out, or one to look at twice.
type Word struct {
	Text  string
	Class string // "", "unseen" or "danger"
}

// spelledOut is how a display spells a character that does not show as itself. No text can pass for it: see admission.Display.
var spelledOut = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`⟦U\+[0-9A-F]{4,6}⟧`)
})

// dangerous are words that do harm more often than others. Marking them is a help for the eye; what is dangerous is decided elsewhere.
var dangerous = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.Join([]string{
		`\b(?:sudo|doas|mkfs[.\w]*|dd|shred|wipefs|fdisk|shutdown|reboot|killall|pkill|kill|chmod|chown|chattr|eval|truncate)\b`,
		`\brm(?:dir)?\b(?:\s+-{1,2}[\w-]+)*`,
		`--(?:force|hard|delete|no-preserve-root|no-verify|mirror|prune|purge|recursive|auto-approve|privileged|all)[\w-]*`,
		`\s-(?:rf|fr|auto-approve|delete|exec)\b`,
		`\bpush\b(?:\s+-f\b)?|\bgit\s+(?:reset|clean|filter-branch)\b`,
		`\b(?:DROP|DELETE|TRUNCATE|ALTER|GRANT|REVOKE|UPDATE)\b`,
		`\b(?:publish|destroy|apply|deploy|purge|prune|terminate|uninstall|wipe|erase)\b`,
		`\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b|\|\s*(?:python3?|perl|node|ruby)\b`,
		`\bprod(?:uction)?\b|\bmaster\b`,
		`/dev/[sh]d\w+|/dev/nvme\w+|/etc/[\w./-]*`,
		`[\w~./-]*/\.(?:ssh|aws|gnupg|kube|docker|netrc)[\w./-]*|\.env\b|\bid_(?:rsa|ed25519)\b|\b(?:credentials?|passwords?|secrets?)\b`,
	}, "|"))
})

// Marked takes a display's text apart for the eye.
func Marked(text string) (words []Word) {
	for text != "" {
		at := spelledOut().FindStringIndex(text)
		if at == nil {
			return append(words, eyed(text)...)
		}
		words = append(append(words, eyed(text[:at[0]])...), Word{text[at[0]:at[1]], "unseen"})
		text = text[at[1]:]
	}
	return words
}

// eyed marks the words to look at twice.
func eyed(text string) (words []Word) {
	at := 0
	for _, found := range dangerous().FindAllStringIndex(text, -1) {
		if found[0] > at {
			words = append(words, Word{Text: text[at:found[0]]})
		}
		words = append(words, Word{text[found[0]:found[1]], "danger"})
		at = found[1]
	}
	if at < len(text) {
		words = append(words, Word{Text: text[at:]})
	}
	return words
}

// RiskWord says how large a risk of 100 is.
func RiskWord(risk int) string {
	switch {
	case risk > 60:
		return "high"
	case risk > 30:
		return "medium"
	default:
		return "low"
	}
}

// Became says in words what has become of a request. A status that this page does not know is told by its own name.
func Became(r *interlock.ApprovalRequest) string {
	by := ""
	if r.Approval != nil && r.Approval.Operator != "" {
		by = " by " + r.Approval.Operator
	}
	switch r.Status {
	case interlock.RequestSettled:
		return r.State()
	case interlock.RequestPending:
		if r.Harness {
			return r.State()
		}
		if r.First != nil {
			return "waits for a second yes, after one by " + r.First.Operator
		}
		return "waits for an answer"
	case interlock.RequestApproved:
		return "approved" + by + ", not used yet"
	case interlock.RequestSpent:
		return "approved" + by + ", and used"
	case interlock.RequestDenied:
		if r.Approval != nil && r.Approval.Method == interlock.MethodRequester {
			return "taken back by the side that asked"
		}
		return "denied" + by
	case interlock.RequestExpired:
		if r.Approval != nil {
			return "approved" + by + ", and nobody used it in time"
		}
		return "expired: nobody answered in time"
	}
	return strings.ReplaceAll(string(r.Status), "_", " ")
}

// BadgeOf is how a request's status is coloured.
func BadgeOf(status interlock.RequestStatus) string {
	switch status {
	case interlock.RequestPending:
		return "ask"
	case interlock.RequestApproved, interlock.RequestSpent:
		return "allow"
	case interlock.RequestDenied:
		return "deny"
	}
	return "none"
}

// LeadOf is a request's action on one line.
func LeadOf(r interlock.ApprovalRequest) string {
	p := TakeApart(r.Display)
	if p.Lead != "" {
		return Shorten(p.Lead, MaxSummary)
	}
	return Shorten(strings.Join(strings.Fields(p.Body), " "), MaxSummary)
}

// MarkedRaw is marked for a text that was not spelled out before: what does not show as itself is.
func MarkedRaw(text string) (words []Word) {
	for _, p := range Readable(text) {
		if p.Special {
			words = append(words, Word{p.Text, "unseen"})
		} else {
			words = append(words, eyed(p.Text)...)
		}
	}
	return words
}
