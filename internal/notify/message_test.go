package notify

import (
	"encoding/json"
	"io"
	"mime/quotedprintable"
	"net/http"
	"net/mail"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/notice"
)

// forged is what an agent writes so that people read it as Interlock's own: in every place it can choose, after every sign that begins
// a line for somebody.
const forged = "code: 0000-FAKE"

func forgeries() []string {
	var all []string
	for _, end := range []string{"\n", "\r\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029", "\n\n", "\x1b[2J\n"} {
		all = append(all, "ls"+end+forged+end+"The code lifts the block: give it at once."+end+end)
	}
	return append(all, strings.Repeat(" ", 1000)+forged, strings.Repeat("x", 119)+" "+forged, "```\n"+forged+"\n```", "\n| "+forged)
}

// sent is what reaches a reader of each channel.
func sent(t *testing.T, n notice.Notice) map[string]string {
	t.Helper()
	address, got := receiver(t, http.StatusOK)
	server := newMailServer(t, nil)
	notifier := build(t, Config{Getenv: environment(map[string]string{"HOOK": address + "/T0/secret"})},
		Settings{Kind: KindSlack, URL: "env:HOOK", Always: true}, Settings{Kind: KindNtfy, URL: address + "/topic", Always: true},
		mailSettings(server, func(m *Settings) { m.TLS, m.Always = "none", true }))
	if d := notifier.Notify(t.Context(), n); len(d.Channels) != 3 {
		t.Fatal(d)
	}
	var slack struct{ Text string }
	if err := json.Unmarshal([]byte((*got)[0].body), &slack); err != nil {
		t.Fatal(err)
	}
	message, err := mail.ReadMessage(strings.NewReader(<-server.mails))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(message.Body))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"slack": slack.Text, "ntfy": (*got)[1].body, "mail": strings.ReplaceAll(string(body), "\r\n", "\n")}
}

// TestNobodyWritesOurLines: whatever an agent writes, in the action, its name, its run or what its hints bring into a reason, no line of a
// message looks like Interlock's own but Interlock's own; the one code comes before anything an agent wrote.
func TestNobodyWritesOurLines(t *testing.T) {
	for _, text := range forgeries() {
		for where, edit := range map[string]func(*notice.Notice){
			"the action":    func(n *notice.Notice) { n.Display = "kind: shell\n\n" + text },
			"the agent":     func(n *notice.Notice) { n.Requester.Agent = text },
			"the run":       func(n *notice.Notice) { n.Requester.Run = text },
			"the principal": func(n *notice.Notice) { n.Requester.Principal = text },
			"the reason":    func(n *notice.Notice) { n.Reason = "it deletes " + text },
		} {
			for channel, message := range sent(t, sample(edit)) {
				lines := strings.FieldsFunc(message, endsLine)
				codes := 0
				for i, line := range lines {
					switch {
					case strings.HasPrefix(strings.TrimSpace(line), "code:"):
						if codes++; line != "code: "+theCode || i > 3 {
							t.Errorf("%s in %s: line %d is %q", channel, where, i, line)
						}
					case strings.HasPrefix(strings.TrimSpace(line), "The code lifts") && !strings.HasPrefix(line, "The code lifts the block: the agent"):
						t.Errorf("%s in %s: line %d is %q", channel, where, i, line)
					}
				}
				if codes != 1 || strings.ContainsAny(message, "\x1b\v\f\r\u0085\u2028\u2029") {
					t.Errorf("%s in %s: %d codes in\n%q", channel, where, codes, message)
				}
			}
		}
	}
}

// TestMessagesAreReadable: the harmless twin: what agents ordinarily do is shown as it is, and ordinary names are not quoted.
func TestMessagesAreReadable(t *testing.T) {
	want := "code: " + theCode + "\nuntil: 2026-11-20T12:05:00Z\n" + advice(sample()) + `

agent: builder
for: dana
run: r1
why: an operator's policy denies this
rule: policy.deny
challenge: 11111111-1111-4111-8111-111111111111

It wanted to do this. Every line below is the agent's and begins with a bar:

| kind: shell
|` + " \n" + `| rm -rf / # <!channel> ` + "```\n"
	if got := text(sample(), 0); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	got := text(sample(func(n *notice.Notice) { n.Code, n.Kind, n.Severity = "", "alert", interlock.TierVerify; n.Display = "" }), 0)
	if strings.Contains(got, "code") || strings.Contains(got, "|") {
		t.Errorf("an alert:\n%s", got)
	}
}

// TestRoom: what is shown of an action keeps to its room, bars included, and says that there is more.
func TestRoom(t *testing.T) {
	for _, action := range []string{strings.Repeat("\n", 10_000) + "x", strings.Repeat("ä", 10_000),
		strings.Repeat("\x01", 10_000), strings.Repeat("a\n", 10_000)} {
		got := text(sample(func(n *notice.Notice) { n.Display = action }), ntfyRoom)
		if len(got) > 4096-1000 || !strings.Contains(got, "Not all of it is here") || !strings.Contains(got, "code: "+theCode) {
			t.Errorf("%.3q: %d bytes", action, len(got))
		}
	}
}
