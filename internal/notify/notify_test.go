package notify

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/notice"
	"interlock/spec"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const theCode = "7K3M-0000-1111-2222-3333-4444-5555-6666"

func sample(edit ...func(*notice.Notice)) notice.Notice {
	n := notice.Notice{Severity: interlock.TierDangerZone, Kind: "block", Challenge: "11111111-1111-4111-8111-111111111111",
		Requester: interlock.Requester{Agent: "builder", Principal: "dana", Run: "r1"}, Rule: "policy.deny",
		Reason: "an operator's policy denies this", Display: "kind: shell\n\nrm -rf / # <!channel> ```\n", Code: theCode, Expires: noon.Add(5 * time.Minute)}
	for _, e := range edit {
		e(&n)
	}
	return n
}

func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func build(t *testing.T, c Config, channels ...Settings) *Notifier {
	t.Helper()
	c.Channels, c.Now = channels, func() time.Time { return noon }
	n, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// received is what a real HTTP server was sent.
type received struct {
	header http.Header
	body   string
}

// receiver starts a server that answers with a status and keeps what it gets.
func receiver(t *testing.T, status int) (address string, got *[]received) {
	t.Helper()
	got = &[]received{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*got = append(*got, received{r.Header, string(body)})
		if status == http.StatusTemporaryRedirect {
			w.Header().Set("Location", "http://"+r.Host+"/elsewhere")
		}
		w.WriteHeader(status)
		_, _ = w.Write(body) // an echo must not come back in an error
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

func TestWebhookIsSigned(t *testing.T) {
	spec.Covers(t, "AQL-8.8.6")
	address, got := receiver(t, http.StatusOK)
	n := build(t, Config{Getenv: environment(map[string]string{"KEY": "0123456789abcdef"})}, Settings{Kind: KindWebhook, URL: address, Key: "env:KEY"})
	if diff := cmp.Diff(notice.Delivery{Channels: []string{"webhook"}}, n.Notify(t.Context(), sample())); diff != "" {
		t.Fatal(diff)
	}
	sent := (*got)[0]
	at := sent.header.Get("Interlock-Timestamp")
	if want := "v1=" + sign("0123456789abcdef", at, []byte(sent.body)); sent.header.Get("Interlock-Signature") != want || at != fmt.Sprint(noon.Unix()) {
		t.Errorf("signature %q at %q, want %q", sent.header.Get("Interlock-Signature"), at, want)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(sent.body), &body); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"version": 1.0, "kind": "block", "severity": "danger_zone", "agent": "builder", "principal": "dana", "run": "r1",
		"rule": "policy.deny", "reason": "an operator's policy denies this", "display": sample().Display,
		"challenge": sample().Challenge, "code": theCode, "expires": "2026-11-20T12:05:00Z"}
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSlackCannotBeToldToShout(t *testing.T) {
	address, got := receiver(t, http.StatusOK)
	n := build(t, Config{Getenv: environment(map[string]string{"HOOK": address + "/T0/secret"})}, Settings{Kind: KindSlack, URL: "env:HOOK"})
	if d := n.Notify(t.Context(), sample()); len(d.Channels) != 1 {
		t.Fatal(d)
	}
	var body struct{ Text string }
	if err := json.Unmarshal([]byte((*got)[0].body), &body); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(body.Text, "<!channel>") || strings.Count(body.Text, "```") != 2 || !strings.Contains(body.Text, theCode) {
		t.Errorf("the message: %s", body.Text)
	}
}

func TestNtfyIsNotKept(t *testing.T) {
	address, got := receiver(t, http.StatusOK)
	n := build(t, Config{Getenv: environment(map[string]string{"TOKEN": "tk_1"})}, Settings{Kind: KindNtfy, URL: address + "/topic", Token: "env:TOKEN"})
	if d := n.Notify(t.Context(), sample()); len(d.Channels) != 1 {
		t.Fatal(d)
	}
	sent := (*got)[0]
	if sent.header.Get("Cache") != "no" || sent.header.Get("Authorization") != "Bearer tk_1" ||
		sent.header.Get("Priority") != "urgent" || !strings.Contains(sent.body, theCode) {
		t.Errorf("sent %v %s", sent.header, sent.body)
	}
}

// A mail server that speaks enough SMTP to take a mail, with STARTTLS if it has a certificate.
type mailServer struct {
	address  string
	tls      *tls.Config
	refuse   bool
	greeting string
	mails    chan string
	commands chan string
}

func newMailServer(t *testing.T, configure func(*mailServer)) *mailServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &mailServer{address: listener.Addr().String(), greeting: "220 mail.example.com", mails: make(chan string, 4), commands: make(chan string, 64)}
	if configure != nil {
		configure(s)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.serve(conn)
			conn.Close()
		}
	}()
	return s
}

func (s *mailServer) serve(conn net.Conn) {
	lines := bufio.NewReader(conn)
	say := func(line string) { fmt.Fprint(conn, line+"\r\n") }
	say(s.greeting)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSpace(line)
		s.commands <- line
		switch verb := strings.ToUpper(strings.Fields(line + " ")[0]); verb {
		case "EHLO":
			_, secure := conn.(*tls.Conn)
			if s.tls != nil && !secure {
				say("250-mail.example.com\r\n250 STARTTLS")
			} else {
				say("250-mail.example.com\r\n250 AUTH PLAIN")
			}
		case "STARTTLS":
			say("220 go ahead")
			conn = tls.Server(conn, s.tls)
			lines = bufio.NewReader(conn)
			say = func(line string) { fmt.Fprint(conn, line+"\r\n") }
		case "AUTH":
			say("235 welcome")
		case "MAIL":
			if s.refuse {
				say("550 " + theCode + " is not welcome")
				continue
			}
			say("250 ok")
		case "DATA":
			say("354 go on")
			var mail strings.Builder
			for {
				part, err := lines.ReadString('\n')
				if err != nil || part == ".\r\n" {
					break
				}
				mail.WriteString(part)
			}
			s.mails <- mail.String()
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

// certificate borrows the one of a test server, for 127.0.0.1.
func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return &tls.Config{Certificates: server.TLS.Certificates}, pool
}

func mailSettings(s *mailServer, edit ...func(*Settings)) Settings {
	m := Settings{Kind: KindEmail, Host: s.address, From: "interlock@example.com", To: []string{"olga@example.com", "ada@example.com"}}
	for _, e := range edit {
		e(&m)
	}
	return m
}

func TestMailOverSTARTTLS(t *testing.T) {
	spec.Covers(t, "AQL-8.8.6")
	config, pool := certificate(t)
	server := newMailServer(t, func(s *mailServer) { s.tls = config })
	trust := func(_ *client, m *email) { m.tls.RootCAs = pool }
	n := build(t, Config{trust: trust, Getenv: environment(map[string]string{"PASSWORD": "hunter2"})},
		mailSettings(server, func(m *Settings) { m.User, m.Password = "interlock", "env:PASSWORD" }))
	agent := "büilder\r\nBcc: eve@example.com"
	if diff := cmp.Diff(notice.Delivery{Channels: []string{"email"}},
		n.Notify(t.Context(), sample(func(n *notice.Notice) { n.Requester.Agent = agent }))); diff != "" {
		t.Fatal(diff)
	}
	message, err := mail.ReadMessage(strings.NewReader(<-server.mails))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject"))
	if err != nil || subject != "Interlock: büilder Bcc: eve@example.com is blocked" || message.Header.Get("Bcc") != "" {
		t.Errorf("subject %q, %v, bcc %q", subject, err, message.Header.Get("Bcc"))
	}
	if to := message.Header.Get("To"); to != "olga@example.com, ada@example.com" {
		t.Errorf("to %q", to)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(message.Body))
	if err != nil || !strings.Contains(string(body), "rm -rf / # <!channel>") || !strings.Contains(string(body), "code: "+theCode) {
		t.Errorf("body %q, %v", body, err)
	}
	close(server.commands)
	encrypted := false
	for command := range server.commands {
		encrypted = encrypted || command == "STARTTLS"
		if strings.HasPrefix(command, "AUTH") && !encrypted {
			t.Error("the password went over the wire in the clear")
		}
	}
}

// TestWhatFailsFallsThrough: each way a channel fails is told in words of our own, and the next channel is tried.
func TestWhatFailsFallsThrough(t *testing.T) {
	elsewhere, _ := receiver(t, http.StatusTemporaryRedirect)
	broken, _ := receiver(t, http.StatusInternalServerError)
	config, _ := certificate(t)
	untrusted := newMailServer(t, func(s *mailServer) { s.tls = config })
	plain := newMailServer(t, nil)
	rude := newMailServer(t, func(s *mailServer) { s.refuse = true })
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	secure.Config.ErrorLog = nil
	getenv := environment(map[string]string{"KEY": "0123456789abcdef", "HOOK": broken + "/T0/secret"})
	for want, channel := range map[string]Settings{
		"the server redirects elsewhere, and that is not followed": {Kind: KindWebhook, URL: elsewhere, Key: "env:KEY"},
		"the server answers with status 500":                       {Kind: KindSlack, URL: "env:HOOK"},
		"the server's certificate is not trusted":                  {Kind: KindNtfy, URL: secure.URL + "/secret"},
		"the server can't be reached":                              {Kind: KindNtfy, URL: "http://127.0.0.1:1/secret"},
		"the server does not answer in time":                       {Kind: KindNtfy, URL: "http://" + silent.Addr().String()},
		"the mail server offers no TLS":                            mailSettings(plain),
		"the mail server refuses with 550":                         mailSettings(rude, func(m *Settings) { m.TLS = "none" }),
		"the server's certificate is not trusted ":                 mailSettings(untrusted),
		"there is no desktop here":                                 {Kind: KindDialog},
	} {
		want = strings.TrimSpace(want)
		if channel.Kind == KindDialog && !headless() {
			continue
		}
		channel.Name = "first"
		patience := time.Minute
		if strings.Contains(want, "in time") {
			patience = 100 * time.Millisecond
		}
		n := build(t, Config{Getenv: getenv, Timeout: patience}, channel, Settings{Kind: KindTerminal})
		got := n.Notify(t.Context(), sample())
		if diff := cmp.Diff(notice.Delivery{Channels: []string{"terminal"}, Failed: []string{"first: " + want}}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want, diff)
		}
	}
}

// headless reports whether this system tells from the environment that it has no desktop.
func headless() bool { return screen(environment(nil)) != nil }

// TestFloorsAndOrder: below its floor a channel is not asked, after one that took the notice only those always told are.
func TestFloorsAndOrder(t *testing.T) {
	channels := []Settings{
		{Name: "pager", Kind: KindTerminal, Floor: interlock.TierDangerZone},
		{Name: "mail", Kind: KindTerminal, Floor: interlock.TierVerify},
		{Name: "second", Kind: KindConsole, Floor: interlock.TierVerify},
		{Name: "archive", Kind: KindConsole, Floor: interlock.TierVerify, Always: true},
	}
	n := build(t, Config{}, channels...)
	for severity, want := range map[interlock.Tier]notice.Delivery{
		interlock.TierDangerZone: {Channels: []string{"pager", "archive"}},
		interlock.TierVerify:     {Channels: []string{"mail", "archive"}},
		interlock.TierConfirm:    {Failed: []string{"no channel is configured for this"}},
	} {
		if diff := cmp.Diff(want, n.Notify(t.Context(), sample(func(n *notice.Notice) { n.Severity = severity }))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", severity, diff)
		}
	}
	quiet := build(t, Config{Quiet: func(time.Time) bool { return true }}, channels...)
	if d := quiet.Notify(t.Context(), sample(func(n *notice.Notice) { n.Severity = interlock.TierVerify })); len(d.Channels) != 0 || len(d.Failed) != 1 {
		t.Errorf("in quiet hours: %+v", d)
	}
	if d := quiet.Notify(t.Context(), sample()); len(d.Channels) != 2 {
		t.Errorf("the danger zone in quiet hours: %+v", d)
	}
	if d := build(t, Config{}).Notify(t.Context(), sample()); len(d.Channels) != 0 || len(d.Failed) != 1 {
		t.Errorf("without channels: %+v", d)
	}
}

// TestSettingsAreRefused: what can't work or would betray a secret is refused when it is set, by the field at fault, and
// without repeating the secret.
func TestSettingsAreRefused(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const hidden = "correct-horse-battery-staple"
	mail := func(edit func(*Settings)) Settings {
		m := Settings{Kind: KindEmail, Host: "mail.example.com:587", From: "a@example.com", To: []string{"b@example.com"}}
		edit(&m)
		return m
	}
	for name, test := range map[string]struct {
		channel Settings
		field   string
	}{
		"no kind":                       {Settings{}, "kind"},
		"an unknown kind":               {Settings{Kind: "pigeon"}, "kind"},
		"a setting of another kind":     {Settings{Kind: KindSlack, URL: "env:HOOK", Key: "env:KEY"}, "key"},
		"a webhook without a key":       {Settings{Kind: KindWebhook, URL: "https://example.com"}, "key"},
		"a key in the settings":         {Settings{Kind: KindWebhook, URL: "https://example.com", Key: hidden}, "key"},
		"a short key":                   {Settings{Kind: KindWebhook, URL: "https://example.com", Key: "env:SHORT"}, "key"},
		"a webhook without TLS":         {Settings{Kind: KindWebhook, URL: "http://example.com", Key: "env:KEY"}, "url"},
		"another scheme":                {Settings{Kind: KindNtfy, URL: "file:///etc/passwd"}, "url"},
		"a password in an address":      {Settings{Kind: KindNtfy, URL: "https://user:" + hidden + "@example.com"}, "url"},
		"a token in an address":         {Settings{Kind: KindNtfy, URL: "https://example.com/?auth=" + hidden}, "url"},
		"a Slack address in the open":   {Settings{Kind: KindSlack, URL: "https://hooks.slack.com/" + hidden}, "url"},
		"a variable that is not set":    {Settings{Kind: KindSlack, URL: "env:NOTHING"}, "url"},
		"a file that is not there":      {Settings{Kind: KindSlack, URL: "file:" + filepath.Join(dir, "none")}, "url"},
		"a credential, and none handed": {Settings{Kind: KindSlack, URL: "credential:hook"}, "url"},
		"a file that is empty":          {Settings{Kind: KindSlack, URL: "file:" + empty}, "url"},
		"a mail server without a port":  {mail(func(m *Settings) { m.Host = "mail.example.com" }), "host"},
		"mail without TLS":              {mail(func(m *Settings) { m.TLS = "none" }), "tls"},
		"mail with something else":      {mail(func(m *Settings) { m.TLS = "ssl3" }), "tls"},
		"mail to nobody":                {mail(func(m *Settings) { m.To = nil }), "to"},
		"mail to a header":              {mail(func(m *Settings) { m.To = []string{"b@example.com\r\nBcc: c@example.com"} }), "to"},
		"mail from a name":              {mail(func(m *Settings) { m.From = "Somebody <a@example.com>" }), "from"},
		"a password without a user":     {mail(func(m *Settings) { m.Password = "env:KEY" }), "password"},
		"a mail password in the open":   {mail(func(m *Settings) { m.User, m.Password = "u", hidden }), "password"},
	} {
		_, err := New(Config{Channels: []Settings{test.channel}, Now: time.Now,
			Getenv: environment(map[string]string{"KEY": "0123456789abcdef", "HOOK": "https://hooks.slack.com/x", "SHORT": "x"})})
		refusal, ok := err.(*interlock.Error)
		if !ok || refusal.Field != "channels[0]."+test.field || strings.Contains(err.Error(), hidden) {
			t.Errorf("%s: %v, want a refusal of %s", name, err, test.field)
		}
	}
	if _, err := New(Config{Channels: []Settings{{Kind: KindConsole}, {Kind: KindConsole}}, Now: time.Now}); err == nil {
		t.Error("two channels of one name were taken")
	}
}

// TestNoErrorHoldsTheCode: no failure repeats what was sent, where to, or what a server said.
func TestNoErrorHoldsTheCode(t *testing.T) {
	broken, _ := receiver(t, http.StatusTeapot)
	rude := newMailServer(t, func(s *mailServer) { s.refuse = true })
	greeting := newMailServer(t, func(s *mailServer) { s.greeting = "554 " + theCode })
	getenv := environment(map[string]string{"KEY": "0123456789abcdef", "HOOK": broken + "/T0/" + "secret-path"})
	n := build(t, Config{Getenv: getenv, Timeout: time.Minute}, Settings{Kind: KindSlack, URL: "env:HOOK"},
		Settings{Kind: KindWebhook, URL: broken, Key: "env:KEY"},
		Settings{Kind: KindNtfy, URL: "http://127.0.0.1:1/secret-path"},
		mailSettings(rude, func(m *Settings) { m.TLS = "none" }), mailSettings(greeting, func(m *Settings) { m.TLS, m.Name = "none", "greeting" }))
	d := n.Notify(t.Context(), sample())
	if len(d.Channels) != 0 || len(d.Failed) != 5 {
		t.Fatalf("%+v", d)
	}
	for _, text := range d.Failed {
		for _, secret := range []string{theCode, theCode[:9], "secret-path", "0123456789abcdef", "127.0.0.1"} {
			if strings.Contains(text, secret) {
				t.Errorf("%q holds %q", text, secret)
			}
		}
	}
}
