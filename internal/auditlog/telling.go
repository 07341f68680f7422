package auditlog

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock"
)

// ActionLine is an action as a list tells it: what would run, the file, the address, or the tool with its arguments. How much of it is
// shown, and how what does not show is spelled, is decided where it is listed.
func ActionLine(a interlock.Action) string {
	if a.Input != "" {
		return a.Input
	}
	var named struct {
		Path   string `json:"path"`
		Method string `json:"method"`
		URL    string `json:"url"`
	}
	_ = json.Unmarshal(a.Arguments, &named) // what is not there stays empty
	switch {
	case a.Kind == interlock.KindFile && named.Path != "":
		return strings.TrimSpace(a.Tool + " " + named.Path)
	case a.Kind == interlock.KindHTTP && named.URL != "":
		return strings.TrimSpace(named.Method + " " + named.URL)
	default:
		return strings.TrimSpace(a.Tool + " " + string(a.Arguments))
	}
}

// Telling is what an event that is no decision says in one line, for a list. It is never empty: an event of a kind that nobody has
// words for is told by its members.
func Telling(e Event) string {
	t := telling{}
	if json.Unmarshal(e.Payload, &t.members) == nil {
		t.classified()
	}
	if len(t.parts) == 0 {
		t.byType(e.Type)
		if len(t.parts) == 0 {
			t.anything()
		}
	}
	if len(t.parts) == 0 {
		return strings.ToLower(strings.ReplaceAll(string(e.Type), "_", " "))
	}
	return strings.Join(t.parts, " · ")
}

// A telling collects what a payload's members say.
type telling struct {
	members map[string]json.RawMessage
	parts   []string
}

func (t *telling) say(texts ...string) {
	for _, text := range texts {
		if text != "" {
			t.parts = append(t.parts, text)
		}
	}
}

// read reads a member; what is not there, or is another thing than is looked for, stays as it is.
func (t *telling) read(name string, into any) { _ = json.Unmarshal(t.members[name], into) }

func (t *telling) text(name string) (text string) {
	t.read(name, &text)
	return text
}

// add says what members of an object, or of the payload itself where it has no name, hold as texts.
func (t *telling) add(object string, names ...string) {
	from := t.members
	if object != "" {
		from = nil
		t.read(object, &from)
	}
	for _, name := range names {
		var text string
		if json.Unmarshal(from[name], &text) == nil {
			t.say(text)
		}
	}
}

func (t *telling) byType(kind interlock.EventType) {
	switch kind {
	case interlock.EventOutcome:
		t.outcome()
	case interlock.EventDryRun:
		t.dryRun()
	case interlock.EventPin:
		t.pins()
		t.order()
	case interlock.EventTrust:
		t.trust()
	case interlock.EventExecution:
		t.execution()
	case interlock.EventRuleset, interlock.EventMode:
		t.settings()
		t.order()
	case interlock.EventShadow:
		t.say(t.text("step"), prefixed("ruleset ", brief(t.text("ruleset"))), prefixed("beside ", brief(t.text("in_force"))))
	case interlock.EventArchive:
		var first, size int64
		t.read("first", &first)
		t.read("size", &size)
		t.say("entries "+strconv.FormatInt(first, 10)+" to "+strconv.FormatInt(size-1, 10), prefixed("to ", t.text("to")))
	case interlock.EventInstalled:
		t.installed()
	case interlock.EventReplayRequest, interlock.EventReplayResult:
		t.replay()
	case interlock.EventIntegrity:
		var held []string
		t.read("held", &held)
		t.say(t.text("why"), strings.Join(held, ", "))
	case interlock.EventIdentity:
		t.identity()
	default:
		if !t.private(kind) && !t.control(kind) {
			t.other()
		}
	}
}

// other says what most kinds of events have: the first of the members that tell something.
func (t *telling) other() {
	t.add("", "alert", "message", "what", "hold", "result", "state", "outcome", "operation", "code", "verb", "subject")
	t.add("error", "message")
	t.add("approval", "verdict", "operator", "request", "reason")
	t.order()
	t.add("challenge", "kind", "outcome", "rule")
	t.add("grant", "agent", "tool", "operator", "reason")
	t.add("suppression", "rule", "agent", "path", "command", "operator", "reason")
	t.add("operator", "name", "role")
	t.add("agent", "id")
	t.add("", "agent", "operator", "status", "why", "evidence", "reason", "detail", "ended", "lifted", "request")
}

func (t *telling) order() { t.add("order", "verb", "subject", "operator", "reason") }

// anything says the members of an event that nobody has words for.
func (t *telling) anything() {
	const most = 3
	for _, name := range slices.Sorted(maps.Keys(t.members)) {
		if len(t.parts) == most {
			return
		}
		var text string
		switch raw := t.members[name]; {
		case json.Unmarshal(raw, &text) == nil && text != "":
			t.say(name + " " + text)
		case len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' || string(raw) == "true"):
			t.say(name + " " + string(raw))
		}
	}
}

func (t *telling) outcome() {
	var took time.Duration
	t.read("duration_ns", &took)
	t.say(t.text("alert"), t.text("outcome"), t.text("detail")) // the detail of a run in a sandbox names the files
	if took > 0 {
		t.say("after " + took.Round(time.Millisecond).String())
	}
}

func (t *telling) dryRun() {
	var exit int
	var effects []interlock.Effect
	t.read("exit", &exit)
	t.read("effects", &effects)
	t.say("tried in a throw-away copy, ended with "+strconv.Itoa(exit), prefixed("stopped by the limit on ", t.text("stopped")))
	t.changed(effects)
	t.add("", "request")
}

// changed says which files a run has changed.
func (t *telling) changed(effects []interlock.Effect) {
	const most = 3
	for i := range effects {
		if i == most {
			t.say("and " + strconv.Itoa(len(effects)-most) + " more")
			return
		}
		t.say(effects[i].Change + " " + effects[i].Path)
	}
}

// pins says what became of a server's tools.
func (t *telling) pins() {
	const most = 3
	var steps []PinStep
	t.read("steps", &steps)
	t.add("", "server")
	for i, step := range steps {
		if i == most {
			t.say("and " + strconv.Itoa(len(steps)-most) + " more")
			return
		}
		text := strings.TrimSpace(step.Tool + " " + string(step.Status))
		if step.Why != "" {
			text += " (" + string(step.Why) + ")"
		}
		t.say(text)
	}
}

func (t *telling) trust() {
	t.add("", "agent")
	t.say(words(t.text("before")) + " to " + words(t.text("after")))
	t.say(prefixed("until ", t.text("until")), prefixed("by ", t.text("operator")), t.text("evidence"))
}

func (t *telling) execution() {
	var steps int
	t.read("steps", &steps)
	t.add("", "state", "execution", "element")
	t.say("step "+strconv.Itoa(steps), t.text("reason"))
}

// settings says what of standing settings changed.
func (t *telling) settings() {
	var before, after map[string]string
	t.read("before", &before)
	t.read("after", &after)
	first := []string{"mode", "profile", "ruleset"}
	for _, name := range append(first, slices.Sorted(maps.Keys(after))...) {
		text := brief(after[name])
		if before[name] == after[name] || text == "" || strings.HasSuffix(name, "_text") {
			continue
		}
		if !slices.Contains(first[:2], name) { // these say by themselves what they are
			text = words(name) + " " + text
		}
		if before[name] != "" {
			text += ", before " + brief(before[name])
		}
		t.say(text)
		delete(after, name)
	}
}

func (t *telling) installed() {
	var removed, again bool
	t.read("removed", &removed)
	t.read("again", &again)
	t.add("", "harness")
	switch {
	case removed:
		t.say("taken out of")
	case again:
		t.say("written anew in")
	default:
		t.say("registered in")
	}
	t.add("", "settings")
}

func (t *telling) replay() {
	var made, same int
	var orders []interlock.Order
	t.read("orders", &orders)
	t.add("", "mode", "what")
	if t.read("decisions", &made); len(t.members["decisions"]) > 0 {
		t.read("same", &same)
		t.say(strconv.Itoa(same)+" of "+strconv.Itoa(made)+" decisions came out the same", t.text("code"), t.text("detail"))
	}
	for i := range orders {
		t.say("ordered by "+orders[i].Operator, orders[i].Reason)
	}
}

// identity says who was added, changed or revoked.
func (t *telling) identity() {
	var gone struct {
		Revoked time.Time `json:"revoked"`
	}
	var first bool
	t.add("operator", "name", "role")
	t.add("agent", "id", "principal")
	t.read("operator", &gone)
	t.read("agent", &gone)
	if !gone.Revoked.IsZero() {
		t.say("revoked")
	}
	if t.read("first", &first); first {
		t.say("the first who governs")
	}
	t.order()
}

// prefixed is a text with a word before it, or nothing.
func prefixed(word, text string) string {
	if text == "" {
		return ""
	}
	return word + text
}

func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// brief is the beginning of a digest, or a text as it is.
func brief(text string) string {
	if digest, is := strings.CutPrefix(text, "sha256:"); is && len(digest) > 12 {
		return digest[:12]
	}
	return text
}
