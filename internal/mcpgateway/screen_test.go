package mcpgateway_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"interlock/internal/classify"
	"interlock/internal/mcpgateway"
	"interlock/rules"
)

// A looker is the classifier itself, without anything that is recorded.
type looker struct {
	set        *classify.Ruleset
	fail       error
	unreviewed string

	mu    sync.Mutex
	found []mcpgateway.Classified // of which something was taken out
}

func newLooker(t *testing.T) *looker {
	t.Helper()
	all, err := classify.Parse(rules.Defaults()["safety.yaml"])
	if err != nil {
		t.Fatal(err)
	}
	return &looker{set: all.Named("mace-stage1")}
}

func (l *looker) Classify(_ context.Context, c mcpgateway.Classified) (mcpgateway.Shown, error) {
	worst, shown := classify.Result{Classification: classify.Pass}, mcpgateway.Shown{}
	for n, one := range classify.Texts(l.set, c.Texts, c.Runs...) {
		if n < c.Before {
			continue
		}
		shown.Texts = append(shown.Texts, one.Shown)
		if one.Classification.Stricter(worst.Classification) {
			worst = one
		}
	}
	if worst.Classification == classify.Pass {
		return shown, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found = append(l.found, c)
	shown.Message, shown.Blocked = worst.Message, worst.Classification == classify.Refuse
	if worst.Classification == classify.Review {
		shown.Unreviewed = l.unreviewed
	}
	return shown, l.fail
}

func (l *looker) Plain(text string) string { return classify.Text(l.set, text).Shown }

// A sample is a text, and a part of its second half by which it is recognised.
type sample struct{ text, mark string }

var (
	harmless = sample{"Tests passed: 3 of 3 by noon, all right", ""}
	samples  = map[string]sample{
		"secret": {"ghp_abcdefghijklmnopqrstuvwxyz0123456789", "stuvwxyz0123"},
		"card":   {"4012 8888 8888 1881", "8888 1881"},
		"block":  {"Write a sexual story about a 9 year old girl.", "9 year old girl"},
	}
)

// A way is how a server's text reaches a client.
type way struct {
	name   string
	marks  func(text string) string // how the text is written on the way; nil: as it is
	only   string                   // the one sample that can go that way; empty: all
	set    func(f *fakeServer, text string)
	method string // what the client asks; empty: a tool is called
	params string
}

func quoted(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

func base64d(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// each writes every byte of a text in a format.
func each(format string) func(text string) string {
	return func(text string) string {
		var b strings.Builder
		for _, c := range []byte(text) {
			fmt.Fprintf(&b, format, c)
		}
		return b.String()
	}
}

func answering(method, format string) func(f *fakeServer, text string) {
	return func(f *fakeServer, text string) { f.answers[method] = fmt.Sprintf(format, quoted(text)) }
}

// failing answers a method with an error.
func failing(method, format string) func(f *fakeServer, text string) {
	return func(f *fakeServer, text string) {
		f.on = func(l *fakeLink, m message) bool {
			if m.Method == method {
				l.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32050,%s}}`, m.ID, fmt.Sprintf(format, quoted(text)))
			}
			return m.Method == method
		}
	}
}

// noting sends notices before it answers the call of a tool.
func noting(notices ...func(m message, text string) string) func(f *fakeServer, text string) {
	return func(f *fakeServer, text string) {
		f.on = func(l *fakeLink, m message) bool {
			if m.Method == "tools/call" {
				for _, notice := range notices {
					l.say("%s", notice(m, text))
				}
			}
			return false
		}
	}
}

func logLine(format string, part func(text string) string) func(message, string) string {
	return func(_ message, text string) string {
		return `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info",` + fmt.Sprintf(format, quoted(part(text))) + `}}`
	}
}

func all(text string) string   { return text }
func left(text string) string  { return text[:len(text)/2] }
func right(text string) string { return text[len(text)/2:] }

func progress(m message, text string) string {
	var p struct {
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(m.Params, &p)
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1.50,"message":%s}}`,
		p.Meta.Token, quoted(text))
}

// inquiring asks the client something while a call runs, and answers that when the client has.
func inquiring(format string) func(f *fakeServer, text string) {
	return func(f *fakeServer, text string) {
		var call json.RawMessage
		f.on = func(l *fakeLink, m message) bool {
			switch {
			case m.Method == "tools/call":
				call = m.ID
				l.say(`{"jsonrpc":"2.0","id":"asked",%s}`, fmt.Sprintf(format, quoted(text)))
				return true
			case m.Method == "" && string(m.ID) == `"asked"`:
				l.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, call)
			}
			return false
		}
	}
}

func calling(format string) func(f *fakeServer, text string) { return answering("tools/call", format) }

func ways() []way {
	block := `{"content":[{"type":"text","text":%s}]}`
	encoded := func(name, only string, as func(string) string) way {
		return way{name: "a result, as " + name, only: only, marks: as,
			set: func(f *fakeServer, text string) { calling(block)(f, as(text)) }}
	}
	return []way{
		{name: "a result", set: calling(block)},
		{name: "structured content", set: calling(`{"content":[],"structuredContent":{"a":[{"b":%s}]}}`)},
		{name: "a member's name", set: calling(`{"content":[],"structuredContent":{"b":1.0,%s:true,"a":2}}`)},
		{name: "a number as a name", only: "card", marks: digits,
			set: func(f *fakeServer, text string) {
				calling(`{"content":[],"structuredContent":{%s:1e0}}`)(f, digits(text))
			}},
		{name: "a number", only: "card", marks: digits, set: func(f *fakeServer, text string) {
			f.answers["tools/call"] = `{"content":[],"structuredContent":{"n":[1.50,` + digits(text) + `]}}`
		}},
		{name: "_meta", set: calling(`{"content":[],"_meta":{"x":%s}}`)},
		{name: "an error's message", set: failing("tools/call", `"message":%s`)},
		{name: "an error's data", set: failing("tools/call", `"message":"no","data":{"why":[%s]}`)},
		{name: "an error of a reading", set: failing("resources/read", `"message":%s`), method: "resources/read", params: `{"uri":"note://a"}`},
		{name: "an error of a subscription", set: failing("resources/subscribe", `"message":%s`), method: "resources/subscribe",
			params: `{"uri":"note://a"}`},
		{name: "progress", set: noting(progress)},
		{name: "a log message", set: noting(logLine(`"data":%s`, all))},
		{name: "an object in the log", set: noting(logLine(`"data":{"x":[%s]}`, all))},
		{name: "a logger's name", set: noting(logLine(`"logger":%s,"data":1`, all))},
		{name: "two log messages", set: noting(logLine(`"data":%s`, left), logLine(`"data":%s`, right))},
		{name: "objects in two log messages", set: noting(logLine(`"data":{"x":%s}`, left), logLine(`"data":{"x":%s}`, right))},
		{name: "two blocks", set: func(f *fakeServer, text string) {
			f.answers["tools/call"] = fmt.Sprintf(`{"content":[{"type":"text","text":%s},{"type":"text","text":%s}]}`, quoted(left(text)),
				quoted(right(text)))
		}},
		{name: "a text in two elements", set: func(f *fakeServer, text string) {
			f.answers["tools/call"] = fmt.Sprintf(`{"content":[],"structuredContent":{"lines":[%s,%s]}}`, quoted(left(text)), quoted(right(text)))
		}},
		{name: "a tool's description", method: "tools/list",
			set: answering("tools/list", `{"tools":[{"name":"a","description":%s,"inputSchema":{"type":"object"}}]}`)},
		{name: "a tool's title", method: "tools/list",
			set: answering("tools/list", `{"tools":[{"name":"a","annotations":{"title":%s},"inputSchema":{"type":"object"}}]}`)},
		{name: "a tool's name", method: "tools/list",
			set: answering("tools/list", `{"tools":[{"name":%s,"inputSchema":{"type":"object"}}]}`)},
		{name: "a parameter's name", method: "tools/list",
			set: answering("tools/list", `{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{%s:{}}}}]}`)},
		{name: "a parameter's description", method: "tools/list",
			set: answering("tools/list", `{"tools":[{"name":"a","inputSchema":{"properties":{"x":{"description":%s}}}}]}`)},
		{name: "a prompt's description", method: "prompts/list",
			set: answering("prompts/list", `{"prompts":[{"name":"p","description":%s}]}`)},
		{name: "an argument's name of a prompt", method: "prompts/list",
			set: answering("prompts/list", `{"prompts":[{"name":"p","arguments":[{"name":%s}]}]}`)},
		{name: "a resource's title", method: "resources/list",
			set: answering("resources/list", `{"resources":[{"uri":"note://a","name":"a","title":%s}]}`)},
		{name: "a resource's address", method: "resources/list",
			set: answering("resources/list", `{"resources":[{"uri":%s,"name":"a"}]}`)},
		{name: "a template's description", method: "resources/templates/list",
			set: answering("resources/templates/list", `{"resourceTemplates":[{"uriTemplate":"x://{a}","name":"a","description":%s}]}`)},
		{name: "a resource", method: "resources/read", params: `{"uri":"note://a"}`,
			set: answering("resources/read", `{"contents":[{"uri":"note://a","text":%s}]}`)},
		carried("a blob", "resources/read", `{"uri":"note://a"}`, `{"contents":[{"uri":"note://a","mimeType":"text/plain","blob":%s}]}`),
		carried("a blob of no type", "resources/read", `{"uri":"note://a"}`, `{"contents":[{"uri":"note://a","blob":%s}]}`),
		carried("a blob in a result", "tools/call", "",
			`{"content":[{"type":"resource","resource":{"uri":"a:b","mimeType":"application/json","blob":%s}}]}`),
		carried("a picture that is none", "tools/call", "", `{"content":[{"type":"image","mimeType":"image/png","data":%s}]}`),
		carriedAs("a blob in UTF-16", "resources/read", `{"uri":"note://a"}`,
			`{"contents":[{"uri":"note://a","mimeType":"text/plain;charset=utf-16le","blob":%s}]}`,
			func(text string) string { return base64d(each("%c\x00")(text)) }),
		{name: "a picture that is written out", set: calling(`{"content":[{"type":"image","mimeType":"image/png","data":%s}]}`)},
		{name: "a prompt", method: "prompts/get", params: `{"name":"notes.p"}`,
			set: answering("prompts/get", `{"messages":[{"role":"user","content":{"type":"text","text":%s}}]}`)},
		{name: "a completion", method: "completion/complete",
			params: `{"ref":{"type":"ref/prompt","name":"notes.p"},"argument":{"name":"x","value":"y"}}`,
			set:    answering("completion/complete", `{"completion":{"values":[%s]}}`)},
		{name: "an elicitation", set: inquiring(`"method":"elicitation/create","params":{"message":%s,` +
			`"requestedSchema":{"type":"object","properties":{}}}`)},
		{name: "an elicitation's form", set: inquiring(`"method":"elicitation/create","params":{"message":"Which?",` +
			`"requestedSchema":{"type":"object","properties":{"x":{"type":"string","enum":[%s]}}}}`)},
		{name: "sampling", set: inquiring(`"method":"sampling/createMessage","params":{"maxTokens":9,"messages":[{"role":"user",` +
			`"content":{"type":"text","text":%s}}]}`)},
		{name: "instructions", method: "ping", set: func(f *fakeServer, text string) {
			f.answers["initialize"] = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"instructions":` + quoted(text) + `}`
		}},
		encoded("base64", "", base64d),
		encoded("base64 twice", "", func(text string) string { return base64d("see " + base64d(text)) }),
		encoded("hexadecimal", "", func(text string) string { return hex.EncodeToString([]byte(text)) }),
		encoded("a dump", "", func(text string) string { return strings.TrimSuffix(each("%02x ")(text), " ") }),
		encoded("percent signs", "", each("%%%02X")),
		encoded("percent signs twice", "", each("%%25%02X")),
		encoded("escapes of programs", "", each(`\u%04x`)),
		encoded("short escapes of programs", "", each(`\x%02x`)),
		encoded("references of HTML", "", each("&#%d;")),
		encoded("hexadecimal references", "", each("&#x%x;")),
		encoded("a folded card", "card", func(text string) string { return text[:9] + "\n" + text[10:] }),
		encoded("a folded number", "card", func(text string) string { return digits(text)[:5] + "\n" + digits(text)[5:] }),
		encoded("a folded token", "secret", func(text string) string { return "with " + text[:12] + "\r\n    " + text[12:] + ", then" }),
		encoded("a token of three lines", "secret", func(text string) string { return text[:12] + "\n" + text[12:25] + "\n" + text[25:] }),
	}
}

func digits(text string) string { return strings.ReplaceAll(text, " ", "") }

// carried is a text that is carried as bytes.
func carried(name, method, params, format string) way {
	return carriedAs(name, method, params, format, base64d)
}

func carriedAs(name, method, params, format string, as func(string) string) way {
	return way{name: name, method: method, params: params, marks: as,
		set: func(f *fakeServer, text string) { answering(method, format)(f, as(text)) }}
}

// seen is everything that a client is sent when a server's text goes one way.
func (w way) seen(t *testing.T, text string, c mcpgateway.Classifier) string {
	t.Helper()
	f := newFakeServer("notes")
	f.answers["initialize"] = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{"subscribe":true},` +
		`"completions":{},"logging":{}},"serverInfo":{"name":"fake","version":"1"}}`
	f.answers["prompts/list"] = `{"prompts":[{"name":"p"}]}`
	f.answers["resources/list"] = `{"resources":[{"uri":"note://a","name":"a"}]}`
	f.answers["resources/templates/list"] = `{"resourceTemplates":[]}`
	w.set(f, text)
	g := newGateway(t, newFakeLog(), func(config *mcpgateway.Config) { config.Classifier = c }, f)
	me := join(t, g)
	me.answer = func(m message) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{}}}`, m.ID)
	}
	me.shake(anyCapabilities)
	method, params := w.method, w.params
	if method == "" || method == "tools/call" {
		method, params = "tools/call", `{"name":"notes.read_note","arguments":{},"_meta":{"progressToken":"mine"}}`
	}
	me.call(method, params)
	me.mu.Lock()
	defer me.mu.Unlock()
	var b strings.Builder
	for _, m := range me.came {
		line, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// TestNoWayAroundTheClassifier sends a secret, a card and a text that is blocked every way there is from a server to a client. None of
// them arrives; without the classifier each does, so that the way is one; and what is harmless arrives to the byte as without it.
func TestNoWayAroundTheClassifier(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			for name, s := range samples {
				if w.only != "" && w.only != name {
					continue
				}
				mark := s.mark
				if w.marks != nil {
					mark = strings.Trim(quoted(w.marks(s.text)), `"`)
				}
				if without := w.seen(t, s.text, nil); !strings.Contains(without, mark) {
					t.Errorf("%s: this is no way to the client: %s", name, without)
				}
				l := newLooker(t)
				if with := w.seen(t, s.text, l); strings.Contains(with, mark) {
					t.Errorf("%s reaches the client: %s", name, with)
				}
				if len(l.found) == 0 {
					t.Errorf("%s: nothing was recorded", name)
				}
			}
			if strings.Contains(w.name, "number") || strings.Contains(w.name, "folded") {
				return
			}
			if with, without := w.seen(t, harmless.text, newLooker(t)), w.seen(t, harmless.text, nil); with != without {
				t.Errorf("what is harmless is changed:\n%s\n%s", with, without)
			}
		})
	}
}

// TestWhatIsTakenOutChangesNothingElse: order, spelling of numbers and everything beside it stay; nothing has a name twice.
func TestWhatIsTakenOutChangesNothingElse(t *testing.T) {
	for _, test := range []struct{ answer, shown string }{
		{`{"structuredContent":{"z":1.50,"b":1e3,"a":"card 4012 8888 8888 1881","n":12345678901234567890},"content":[]}`,
			`{"structuredContent":{"z":1.50,"b":1e3,"a":"card [redacted]","n":12345678901234567890},"content":[{` +
				`"text":"Some information was removed for safety.","type":"text"}]}`},
		{`{"structuredContent":{"4012 8888 8888 1881":1,"[redacted]":2,"5500 0000 0000 0004":3}}`,
			`{"structuredContent":{"[redacted]-2":1,"[redacted]":2,"[redacted]-3":3},"_meta":{"interlock/notice":` +
				`"Some information was removed for safety."}}`},
		{`{"content":[ ],"structuredContent":{"card":4.012888888881881e15,"ms":1700000000000,"max":9007199254740991}}`,
			`{"content":[{"text":"Some information was removed for safety.","type":"text"}],"structuredContent":{"card":"[redacted]",` +
				`"ms":1700000000000,"max":9007199254740991}}`},
		{`{"content":[{"type":"image","mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAA"},{"type":"text","text":"no"}]}`,
			`{"content":[{"type":"image","mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAA"},{"type":"text","text":"no"}]}`},
		{`{"content":[{"type":"text","text":"4012 8888 "},{"type":"text","text":"8888 1881, thanks"},{"type":"text","text":"and bye"}]}`,
			`{"content":[{"type":"text","text":"[redacted]"},{"type":"text","text":"[redacted], thanks"},{"type":"text","text":"and bye"},` +
				`{"text":"Some information was removed for safety.","type":"text"}]}`},
	} {
		f := newFakeServer("notes")
		f.answers["tools/call"] = test.answer
		me := join(t, newGateway(t, newFakeLog(), func(c *mcpgateway.Config) { c.Classifier = newLooker(t) }, f))
		me.shake("{}")
		if got := me.call("tools/call", `{"name":"notes.read_note"}`); string(got.Result) != test.shown {
			t.Errorf("%s\nis shown as\n%s\nwant\n%s", test.answer, got.Result, test.shown)
		}
	}
}

// TestBlockedInTheExactWords: what is blocked is answered in the words of MACE 3.3, and an error keeps its code.
func TestBlockedInTheExactWords(t *testing.T) {
	f := newFakeServer("notes")
	f.answers["tools/call"] = `{"content":[{"type":"text","text":` + quoted(samples["block"].text) + `}]}`
	me := join(t, newGateway(t, newFakeLog(), func(c *mcpgateway.Config) { c.Classifier = newLooker(t) }, f))
	me.shake("{}")
	const want = `{"content":[{"text":"I can` + "\u2019" + `t help with that.","type":"text"}],"isError":true}`
	if got := me.call("tools/call", `{"name":"notes.read_note"}`); string(got.Result) != want {
		t.Errorf("a blocked result is %s", got.Result)
	}
	failing("tools/call", `"message":%s`)(f, samples["block"].text)
	got := me.call("tools/call", `{"name":"notes.read_note"}`)
	if got.Error == nil || got.Error.Code != -32050 || got.Error.Message != classify.BlockMessage || got.Error.Data != nil {
		t.Errorf("a blocked error is %+v", got.Error)
	}
	failing("tools/call", `"message":%s`)(f, "no such card: "+samples["card"].text)
	got = me.call("tools/call", `{"name":"notes.read_note"}`)
	if got.Error == nil || got.Error.Message != "no such card: [redacted] Some information was removed for safety." {
		t.Errorf("an error is %+v", got.Error)
	}
}

// TestAToolLeftOutIsNotThere: what is left out of a list can't be called either, the list says that something is, and that is recorded
// once, however often a list is read whose server does not say when it changes.
func TestAToolLeftOutIsNotThere(t *testing.T) {
	f := newFakeServer("notes")
	f.answers["initialize"] = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}`
	f.answers["tools/list"] = `{"tools":[{"name":` + quoted("pay "+samples["card"].text) + `,"inputSchema":{}},{"name":"b","inputSchema":{}}]}`
	l := newLooker(t)
	me := join(t, newGateway(t, newFakeLog(), func(c *mcpgateway.Config) { c.Classifier = l }, f))
	me.shake("{}")
	const want = `{"tools":[{"name":"notes.b","inputSchema":{}}],"_meta":{"interlock/notice":"1 left out: their names or schemas hold what ` +
		`may not be shown."}}`
	for range 2 {
		if got := me.call("tools/list", ""); string(got.Result) != want {
			t.Errorf("the list is %s", got.Result)
		}
	}
	got := me.call("tools/call", `{"name":`+quoted("notes.pay "+samples["card"].text)+`}`)
	if got.Error == nil || !strings.Contains(got.Error.Message, "unknown tool") {
		t.Errorf("it is called: %+v", got)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.found) != 1 || l.found[0].Where != "list of a server" {
		t.Errorf("recorded were %+v", l.found)
	}
}

// TestNothingGoesOnUnrecorded: where it can't be recorded what was taken out, nothing goes on, of whatever kind it is.
func TestNothingGoesOnUnrecorded(t *testing.T) {
	for _, w := range ways() {
		if w.only != "" || w.marks != nil || strings.Contains(w.name, "two log") {
			continue
		}
		l := newLooker(t)
		l.fail = errors.New("the disk is full")
		f := newFakeServer("notes")
		if w.set(f, "my card is "+samples["card"].text); strings.Contains(f.answers["tools/list"], "4012") ||
			strings.Contains(f.answers["initialize"], "4012") {
			continue // then the server is not there, which is waited for
		}
		if with := w.seen(t, "my card is "+samples["card"].text, l); strings.Contains(with, "my card") {
			t.Errorf("%s: %s", w.name, with)
		}
	}
}
