package console_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/console"
	"interlock/internal/console/render"
	"interlock/internal/identity"
	"interlock/internal/identity/passkeytest"
	"interlock/internal/ledger"
	"interlock/internal/replay"
	"interlock/internal/store/storagetest"
	"interlock/internal/webpush"
)

// A house is a console over a real store.
type house struct {
	t       testing.TB
	backend *embedded.Backend
	server  *httptest.Server
	console *console.Console
	url     string
	decided map[string]*interlock.Decision // by request
	tried   map[string]*interlock.DryRun   // by request
	whatIf  func(replay.Question) (replay.Report, error)
	shadow  replay.ShadowState
	wrong   []string // with hooks and the log
	granted func(context.Context, string, admission.Aim) (interlock.Grant, replay.GrantReport, error)
	trials  []console.Trial
	room    console.Space
	latency console.Latency
	judges  render.Judges
	noKey   bool // for push messages

	mu    sync.Mutex
	ahead time.Duration // by which the console's clock is set forward
}

// open gives a console over an empty store, whose home has these rules beside the shipped ones.
func open(t testing.TB, rules ...string) *house {
	t.Helper()
	home := t.TempDir()
	for n, text := range rules {
		if err := errors.Join(os.MkdirAll(filepath.Join(home, "rules"), 0o700),
			os.WriteFile(filepath.Join(home, "rules", fmt.Sprintf("own%d.yaml", n)), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	backend, err := embedded.Open(t.Context(), embedded.Config{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	return over(t, backend)
}

// over gives a console over a store that is open.
func over(t testing.TB, backend *embedded.Backend) *house {
	t.Helper()
	t.Cleanup(func() { backend.Close() })
	var err error
	h := &house{t: t, backend: backend, decided: map[string]*interlock.Decision{}}
	h.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.console.ServeHTTP(w, r) }))
	t.Cleanup(h.server.Close)
	h.url = strings.Replace(h.server.URL, "127.0.0.1", "localhost", 1)
	h.console, err = console.New(console.Config{Push: webpush.NewSender(h.push()), Backend: backend,
		Tokens: identity.NewTokens(backend.Ground, time.Now), Verify: backend.Proved,
		Attest: backend.Attest, URL: h.url, Logger: slog.New(slog.DiscardHandler), Now: h.now, Log: backend.Store,
		Facts: console.Facts{Rules: backend.Rules, Analyser: backend.Analyser(), Key: backend.Key, Version: "test", Profile: "guard"},
		Decision: func(_ context.Context, request interlock.ApprovalRequest) (*interlock.Decision, error) {
			return h.decided[request.ID], nil
		},
		Warnings: func() []string { return h.wrong },
		Always: func(ctx context.Context, id string, aim admission.Aim) (interlock.Grant, replay.GrantReport, error) {
			return h.granted(ctx, id, aim)
		},
		Disk:    func() (console.Space, error) { return h.room, nil },
		Latency: func() console.Latency { return h.latency },
		DryRun: func(_ context.Context, request interlock.ApprovalRequest) (*interlock.DryRun, error) {
			return h.tried[request.ID], nil
		},
		Judges: func(context.Context) (render.Judges, error) { return h.judges, nil },
		Try:    h.try,
		WhatIf: func(_ context.Context, q replay.Question) (replay.Report, error) { return h.whatIf(q) },
		Shadow: func(context.Context) (replay.ShadowState, error) { return h.shadow, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Add(h.ahead)
}

func (h *house) forward(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ahead += d
}

// hire registers an operator with an enrolment link and returns its secret.
func (h *house) hire(name, role string) string {
	h.t.Helper()
	enrolment, secret, err := console.NewEnrolment(nil, h.now())
	if err != nil {
		h.t.Fatal(err)
	}
	record := interlock.OperatorRecord{Name: name, Role: role, Created: time.Now().UTC(), Enrolment: &enrolment}
	if err := h.backend.PutOperator(h.t.Context(), record); err != nil {
		h.t.Fatal(err)
	}
	return secret
}

// A browser is a cookie jar and an authenticator.
type browser struct {
	*passkeytest.Authenticator
	h      *house
	client *http.Client
	agent  string
	header http.Header // beside what it sends anyway
	plain  bool        // sends neither Origin nor Sec-Fetch-Site, like a text browser
	ticket bool        // came in by a login link, so that its session's word counts
}

func (h *house) browser() *browser {
	h.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	device, err := passkeytest.New(h.url, "localhost")
	if err != nil {
		h.t.Fatal(err)
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &browser{Authenticator: device, h: h, client: client, agent: "TestBrowser/1.0", header: http.Header{}}
}

// An answer is what came back.
type answer struct {
	status   int
	body     string
	header   http.Header
	location string
}

func (b *browser) do(method, path string, form url.Values) answer {
	b.h.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	target := path
	if !strings.HasPrefix(path, "http") {
		target = b.h.url + path
	}
	request, err := http.NewRequestWithContext(b.h.t.Context(), method, target, body)
	if err != nil {
		b.h.t.Fatal(err)
	}
	request.Header.Set("User-Agent", b.agent)
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if !b.plain {
			request.Header.Set("Origin", b.h.url)
			request.Header.Set("Sec-Fetch-Site", "same-origin")
		}
	}
	for name, values := range b.header {
		request.Header[name] = values
		if name == "Host" {
			request.Host = values[0]
		}
	}
	response, err := b.client.Do(request)
	if err != nil {
		b.h.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		b.h.t.Fatal(err)
	}
	return answer{status: response.StatusCode, body: string(text), header: response.Header, location: response.Header.Get("Location")}
}

func (b *browser) get(path string) answer { b.h.t.Helper(); return b.do(http.MethodGet, path, nil) }

// form is what the hidden fields of a page's form with an action say, with more set.
func (b *browser) form(page answer, action string, more ...string) url.Values {
	b.h.t.Helper()
	_, rest, found := strings.Cut(page.body, `action="`+action+`"`)
	if !found {
		b.h.t.Fatalf("no form for %s in:\n%s", action, page.body)
	}
	rest, _, _ = strings.Cut(rest, "</form>")
	values := url.Values{}
	for _, match := range regexp.MustCompile(`<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?`).FindAllStringSubmatch(rest, -1) {
		values.Add(match[1], html.UnescapeString(match[2]))
	}
	for i := 0; i+1 < len(more); i += 2 {
		values.Set(more[i], more[i+1])
	}
	return values
}

// challenge is what a page asks a passkey to sign.
func (b *browser) challenge(page answer, action string) []byte {
	b.h.t.Helper()
	_, rest, _ := strings.Cut(page.body, `action="`+action+`"`)
	match := regexp.MustCompile(`data-challenge="([^"]+)"`).FindStringSubmatch(rest)
	if match == nil {
		b.h.t.Fatalf("nothing to sign in:\n%s", page.body)
	}
	return decoded(b.h.t, match[1])
}

func decoded(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func (b *browser) sign(challenge []byte) string {
	b.h.t.Helper()
	signed, err := b.Get(challenge)
	if err != nil {
		b.h.t.Fatal(err)
	}
	return string(signed)
}

func (b *browser) enrol(name, secret string) answer {
	b.h.t.Helper()
	page := b.get("/enrol?operator=" + name)
	return b.do(http.MethodPost, "/enrol", b.form(page, "/enrol", "secret", secret, "name", "test key",
		"credential", string(b.Create(b.challenge(page, "/enrol")))))
}

func (b *browser) login() answer {
	b.h.t.Helper()
	page := b.get("/login")
	return b.do(http.MethodPost, "/login", b.form(page, "/login", "assertion", b.sign(b.challenge(page, "/login"))))
}

// in is a browser in which a new operator of a role is signed in.
func (h *house) in(name, role string) *browser {
	h.t.Helper()
	b := h.browser()
	if got := b.enrol(name, h.hire(name, role)); got.status != http.StatusSeeOther {
		h.t.Fatalf("enrolling %s: %d %s", name, got.status, got.body)
	}
	return b
}

// byTicket signs the operator of a browser in once more, by a login link that a new SSH key of theirs signed.
func (b *browser) byTicket(name string) *browser {
	b.h.t.Helper()
	signer := b.h.signer()
	err := b.h.backend.UpdateOperator(b.h.t.Context(), name, func(o *interlock.OperatorRecord) error {
		o.SSHKey = signer.PublicKey().String()
		return nil
	})
	if err != nil {
		b.h.t.Fatal(err)
	}
	ticket := console.Ticket{Operator: name, Nonce: fmt.Sprintf("%032x", time.Now().UnixNano()), Issued: b.h.now().UTC()}
	if ticket.Signature, err = signer.SignApproval(rand.Reader, ticket.Statement(b.h.url)); err != nil {
		b.h.t.Fatal(err)
	}
	link, err := ticket.Link(b.h.url)
	if err != nil {
		b.h.t.Fatal(err)
	}
	if got := b.do(http.MethodPost, "/login", b.form(b.get(strings.TrimPrefix(link, b.h.url)), "/login")); got.status != http.StatusSeeOther {
		b.h.t.Fatalf("the link does not let %s in: %d %s", name, got.status, got.body)
	}
	b.ticket = true
	return b
}

// logged counts the events of a type whose body holds a text.
func (h *house) logged(kind interlock.EventType, text string) int {
	h.t.Helper()
	n := 0
	entries, err := h.backend.Store.Entries(context.Background(), "", ledger.From(0, 1000))
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range entries {
		if e.Type == kind && strings.Contains(string(e.Body), text) {
			n++
		}
	}
	return n
}

func (h *house) want(what string, got answer, status int, text string) {
	h.t.Helper()
	if got.status != status || !strings.Contains(html.UnescapeString(got.body), text) {
		h.t.Errorf("%s: %d, want %d and %q in:\n%s", what, got.status, status, text, got.body)
	}
}

func TestNewRefuses(t *testing.T) {
	for address, good := range map[string]bool{
		"http://localhost:7433": true, "https://interlock.example": true, "https://interlock.example:8443/": true, "http://box.localhost": true,
		"http://interlock.example": false, "http://127.0.0.1:7433": false, "https://": false, "ftp://localhost": false, "": false,
		"https://interlock.example/console": false, "https://user@interlock.example": false, "https://interlock.example?x": false,
	} {
		if _, err := console.ParseURL(address); (err == nil) != good {
			t.Errorf("%q: %v", address, err)
		}
	}
	if _, err := console.New(console.Config{}); err == nil || !strings.Contains(err.Error(), "Config.Backend") {
		t.Errorf("an empty configuration: %v", err)
	}
}

// TestHeaders: no page can be framed, cached, run foreign script or send its forms elsewhere.
func TestHeaders(t *testing.T) {
	h := open(t)
	b := h.browser()
	for _, path := range []string{"/login", "/", "/nowhere", "/static/passkey.js"} {
		got := b.get(path).header
		policy := got.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: policy %q lacks %s", path, policy, part)
			}
		}
		for name, value := range map[string]string{"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
			"Cross-Origin-Opener-Policy": "same-origin", "Referrer-Policy": "same-origin"} {
			if got.Get(name) != value {
				t.Errorf("%s: %s is %q", path, name, got.Get(name))
			}
		}
	}
	if page := b.get("/login"); strings.Contains(page.body, "<script>") || regexp.MustCompile(`\son[a-z]+=|style=`).MatchString(page.body) {
		t.Errorf("inline script or style in:\n%s", page.body)
	}
}

// TestNames: a page that resolves its own name to this machine gets nothing; another of our names leads to the one that
// passkeys are made for.
func TestNames(t *testing.T) {
	h := open(t)
	b := h.browser()
	port := h.url[strings.LastIndex(h.url, ":"):]
	got := b.get(h.server.URL + "/pending?x=1")
	if got.status != http.StatusFound || got.location != h.url+"/pending?x=1" {
		t.Errorf("by address: %d to %q", got.status, got.location)
	}
	if got := b.get(h.server.URL + "//evil.example/"); got.location != h.url+"/evil.example/" {
		t.Errorf("a path that looks like a host leads to %q", got.location)
	}
	h.want("a form by address", b.do(http.MethodPost, h.server.URL+"/login", url.Values{}), http.StatusForbidden, "takes answers at "+h.url)
	b.header["Host"] = []string{"evil.example" + port}
	h.want("another name", b.get("/login"), http.StatusForbidden, "does not answer under that name")
}

// agentToken registers an agent and returns its token.
func (h *house) agentToken(name string) string {
	h.t.Helper()
	token, hash, err := identity.NewToken(strings.NewReader(strings.Repeat("r", 64)))
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.backend.PutAgent(h.t.Context(), interlock.AgentRecord{ID: name, TokenHash: hash, Created: time.Now().UTC()}); err != nil {
		h.t.Fatal(err)
	}
	return token
}

// TestAgentsStayOut: an agent's token opens no page, not even one that is open to all, and every try is recorded.
func TestAgentsStayOut(t *testing.T) {
	h := open(t)
	token := h.agentToken("builder")
	operator := h.in("olga", "operator")
	operator.header["Authorization"] = []string{"Bearer " + token}
	tries := 0
	for _, path := range []string{"/", "/login", "/enrol?operator=olga", "/pending", "/sessions", "/static/passkey.js", "/nowhere"} {
		h.want(path, operator.get(path), http.StatusForbidden, "the console is for people")
		tries++
	}
	h.want("a form", operator.do(http.MethodPost, "/logout", url.Values{}), http.StatusForbidden, "the console is for people")
	stranger := h.browser()
	stranger.header["Cookie"] = []string{"interlock=" + token}
	h.want("a token in a cookie", stranger.get("/pending"), http.StatusForbidden, "the console is for people")
	if n := h.logged(interlock.EventApprovalRefused, `"builder"`); n != tries+2 {
		t.Errorf("%d of %d tries are recorded", n, tries+2)
	}
	before := h.logged(interlock.EventApprovalRefused, "")
	stranger.header = http.Header{"Authorization": {"Bearer nonsense"}}
	h.want("a token nobody has", stranger.get("/login"), http.StatusForbidden, "the console is for people")
	if h.logged(interlock.EventApprovalRefused, "") != before {
		t.Error("garbage fills the log")
	}
}

func TestEnrolAndLogin(t *testing.T) {
	h := open(t)
	secret := h.hire("olga", "operator")
	b := h.browser()
	if got := b.get("/pending"); got.status != http.StatusSeeOther || got.location != "/login?next=%2Fpending" {
		t.Fatalf("a stranger: %d to %q", got.status, got.location)
	}
	for name, wrong := range map[string]string{"no secret": "", "another secret": secret[1:] + "A"} {
		h.want(name, b.enrol("olga", wrong), http.StatusForbidden, "this enrolment link is wrong, used or expired")
	}
	h.want("nobody", b.enrol("nobody", secret), http.StatusForbidden, "this enrolment link is wrong, used or expired")
	if got := b.enrol("olga", secret); got.status != http.StatusSeeOther || got.location != "/" {
		t.Fatalf("enrolling: %d to %q\n%s", got.status, got.location, got.body)
	}
	h.want("after enrolment", b.get("/sessions"), http.StatusOK, "olga (operator)")
	other := h.browser()
	h.want("a used link", other.enrol("olga", secret), http.StatusForbidden, "this enrolment link is wrong, used or expired")
	standing, err := h.backend.Ground(t.Context(), storagetest.Everything()...)
	if err != nil {
		t.Fatal(err)
	}
	if olga := standing.Operators["olga"]; olga.Enrolment != nil || len(olga.Passkeys) != 1 || olga.Passkeys[0].Name != "test key" {
		t.Errorf("olga is now %+v", olga)
	}
	h.want("one passkey for two people", b.enrol("otto", h.hire("otto", "admin")), http.StatusConflict, "one passkey is one person")
	late := h.hire("late", "operator")
	h.forward(61 * time.Minute)
	h.want("a link after an hour", other.enrol("late", late), http.StatusForbidden, "this enrolment link is wrong, used or expired")
	if got := b.login(); got.status != http.StatusSeeOther {
		t.Fatalf("logging in: %d\n%s", got.status, got.body)
	}
	h.want("after login", b.get("/sessions"), http.StatusOK, "passkey")
	page := b.get("/sessions")
	if got := b.do(http.MethodPost, "/logout", b.form(page, "/logout")); got.location != "/login" {
		t.Errorf("logging out leads to %q", got.location)
	}
	if got := b.get("/sessions"); got.status != http.StatusSeeOther {
		t.Errorf("after logging out: %d", got.status)
	}
	for what, n := range map[string]int{"enrolled": 1, "entered": 2, "left": 1, "refused": 6} {
		if got := h.logged(interlock.EventSession, `"what":"`+what+`"`); got != n {
			t.Errorf("%d events say %s, want %d", got, what, n)
		}
	}
}

// TestLoginRefuses: every way in that is none.
func TestLoginRefuses(t *testing.T) {
	h := open(t)
	b := h.in("olga", "operator")
	b.login()
	page := b.get("/login")
	good := b.form(page, "/login", "assertion", b.sign(b.challenge(page, "/login")))
	if got := b.do(http.MethodPost, "/login", good); got.status != http.StatusSeeOther {
		t.Fatalf("a good login: %d\n%s", got.status, got.body)
	}
	page = b.get("/login")
	good.Set("csrf", b.form(page, "/login").Get("csrf"))
	h.want("a replay", b.do(http.MethodPost, "/login", good), http.StatusConflict, "used already")

	try := func(name string, status int, want string, change func(d *browser, page answer) url.Values) {
		t.Helper()
		d := *b
		device := *b.Authenticator
		d.Authenticator = &device
		page := d.get("/login")
		form := change(&d, page)
		h.want(name, d.do(http.MethodPost, "/login", form), status, want)
		b.Counter = max(b.Counter, device.Counter)
	}
	signed := func(d *browser, page answer) url.Values {
		return d.form(page, "/login", "assertion", d.sign(d.challenge(page, "/login")))
	}
	try("another origin", 403, "not registered here", func(d *browser, p answer) url.Values { d.Origin = "https://evil.example"; return signed(d, p) })
	try("another port", 403, "another site", func(d *browser, p answer) url.Values { d.Origin = "http://localhost:1"; return signed(d, p) })
	try("another host", 403, "not registered here", func(d *browser, p answer) url.Values { d.RelyingID = "evil.example"; return signed(d, p) })
	try("another challenge", 403, "not registered here", func(d *browser, p answer) url.Values {
		return d.form(p, "/login", "assertion", d.sign([]byte("another challenge of 32 bytes...")))
	})
	try("nobody verified", 403, "not registered here", func(d *browser, p answer) url.Values { d.Unverified = true; return signed(d, p) })
	try("a question nobody asked", 409, "too old", func(d *browser, p answer) url.Values {
		form := signed(d, p)
		form.Set("nonce", strings.Repeat("0", 32))
		return form
	})
	try("no assertion", 400, "not what a browser returns", func(d *browser, p answer) url.Values { return d.form(p, "/login") })
	try("too late", 409, "too old", func(d *browser, p answer) url.Values { form := signed(d, p); h.forward(6 * time.Minute); return form })
	try("a copy whose counter lags", 403, "somebody may hold a copy", func(d *browser, p answer) url.Values { d.Counter = 0; return signed(d, p) })
	if h.logged(interlock.EventApprovalRefused, "copy of it") != 1 {
		t.Error("a copied passkey raises no alert")
	}
	// A question is put to one browser.
	other := h.browser()
	mine := b.get("/login")
	form := b.form(mine, "/login", "assertion", b.sign(b.challenge(mine, "/login")))
	form.Set("csrf", other.form(other.get("/login"), "/login").Get("csrf"))
	h.want("another browser's question", other.do(http.MethodPost, "/login", form), http.StatusConflict, "too old")
}

// TestLoginIsLimited: a flood is answered cheaply, and leaves few events.
func TestLoginIsLimited(t *testing.T) {
	h := open(t)
	b := h.browser()
	form := b.form(b.get("/login"), "/login", "assertion", "{}")
	limited := 0
	for range 40 {
		if got := b.do(http.MethodPost, "/login", form); got.status == http.StatusTooManyRequests {
			limited++
			if got.header.Get("Retry-After") == "" {
				t.Error("it does not say when to come back")
			}
		}
	}
	if limited < 15 || h.logged(interlock.EventSession, "refused") > 0 {
		t.Errorf("%d of 40 were limited, %d recorded", limited, h.logged(interlock.EventSession, "refused"))
	}
	h.forward(time.Minute)
	h.want("a minute later", b.do(http.MethodPost, "/login", form), http.StatusConflict, "load it again")
}

// TestForgery: what does not come from a form of the console in the same browser changes nothing.
func TestForgery(t *testing.T) {
	h := open(t)
	b := h.in("olga", "operator")
	good := b.form(b.get("/sessions"), "/logout")
	other := h.in("otto", "operator")
	foreign := other.form(other.get("/sessions"), "/logout")
	with := func(name, value string) func(*browser) { return func(b *browser) { b.header[name] = []string{value} } }
	for name, test := range map[string]struct {
		form   url.Values
		change func(*browser)
	}{
		"no token":                {url.Values{}, nil},
		"another session's token": {foreign, nil},
		"another origin":          {good, with("Origin", "https://evil.example")},
		"an opaque origin":        {good, with("Origin", "null")},
		"another site":            {good, with("Sec-Fetch-Site", "cross-site")},
		"a neighbouring host":     {good, with("Sec-Fetch-Site", "same-site")},
	} {
		d := *b
		d.header = http.Header{}
		if test.change != nil {
			test.change(&d)
		}
		h.want(name, d.do(http.MethodPost, "/logout", test.form), http.StatusForbidden, "did not come from a page of this console")
	}
	h.want("another method", b.do(http.MethodDelete, "/logout", good), http.StatusBadRequest, "takes GET and POST")
	h.want("too large", b.do(http.MethodPost, "/logout", url.Values{"x": {strings.Repeat("x", 300<<10)}}), http.StatusBadRequest, "larger than")
	h.want("still signed in", b.get("/sessions"), http.StatusOK, "olga")
	d := *b
	d.plain = true
	if got := d.do(http.MethodPost, "/logout", good); got.location != "/login" {
		t.Errorf("a browser that says nothing of origins: %d\n%s", got.status, got.body)
	}
}

// TestSessions: short, bound to their browser, listed, revocable, and ended with their operator.
func TestSessions(t *testing.T) {
	h := open(t)
	b := h.in("olga", "operator")
	cookie := func(b *browser) *http.Cookie {
		t.Helper()
		u, err := url.Parse(h.url)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range b.client.Jar.Cookies(u) {
			if c.Name == "interlock" {
				return c
			}
		}
		t.Fatal("no session cookie")
		return nil
	}
	if got := b.login(); !strings.Contains(strings.Join(got.header["Set-Cookie"], "\n"), "; Path=/; HttpOnly; SameSite=Strict") {
		t.Errorf("cookies %q", got.header["Set-Cookie"])
	}
	h.forward(19 * time.Minute)
	h.want("within its idle time", b.get("/sessions"), http.StatusOK, "TestBrowser/1.0")
	h.forward(21 * time.Minute)
	if got := b.get("/sessions"); got.status != http.StatusSeeOther {
		t.Errorf("idle too long: %d", got.status)
	}
	b.login()
	for range 24 {
		h.forward(19 * time.Minute)
		b.get("/sessions")
	}
	h.forward(19 * time.Minute)
	h.forward(10 * time.Minute)
	if got := b.get("/sessions"); got.status != http.StatusSeeOther {
		t.Errorf("older than its life: %d", got.status)
	}

	// Stolen: the same cookie in another browser ends the session for both and raises an alert.
	b.login()
	thief := h.browser()
	thief.agent = "Thief/1.0"
	thief.header["Cookie"] = []string{"interlock=" + cookie(b).Value}
	if got := thief.get("/sessions"); got.status != http.StatusSeeOther {
		t.Errorf("a stolen session: %d\n%s", got.status, got.body)
	}
	if got := b.get("/sessions"); got.status != http.StatusSeeOther {
		t.Errorf("the session that was stolen: %d", got.status)
	}
	if h.logged(interlock.EventApprovalRefused, "another browser") != 1 {
		t.Error("a stolen session raises no alert")
	}

	// Ended from another browser of the same operator, and by nobody else.
	b.login()
	second := *b
	second.client = h.browser().client
	second.login()
	page := second.get("/sessions")
	if n := strings.Count(page.body, `action="/sessions/end"`); n != 2 {
		t.Fatalf("%d sessions are listed:\n%s", n, page.body)
	}
	ids := regexp.MustCompile(`<code>(ses_[0-9a-f]{16})</code>( \(this one\))?`).FindAllStringSubmatch(page.body, -1)
	for _, id := range ids {
		if id[2] != "" {
			continue
		}
		stranger := h.in("otto", "admin")
		h.want("by another operator", stranger.do(http.MethodPost, "/sessions/end", url.Values{
			"csrf": {stranger.form(stranger.get("/sessions"), "/logout").Get("csrf")}, "id": {id[1]}}), http.StatusNotFound, "no session of yours")
		second.do(http.MethodPost, "/sessions/end", second.form(page, "/sessions/end", "id", id[1]))
	}
	if got := b.get("/sessions"); got.status != http.StatusSeeOther {
		t.Errorf("an ended session: %d", got.status)
	}

	// A revocation holds at once.
	err := h.backend.UpdateOperator(t.Context(), "olga", func(o *interlock.OperatorRecord) error {
		o.Revoked = time.Now().UTC()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := second.get("/sessions"); got.status != http.StatusSeeOther {
		t.Errorf("a revoked operator: %d", got.status)
	}
	h.want("a revoked operator's passkey", second.login(), http.StatusForbidden, "not registered here")
}

// TestRedirects: nobody is sent to another site.
func TestRedirects(t *testing.T) {
	h := open(t)
	b := h.in("olga", "operator")
	for next, want := range map[string]string{
		"/pending?x=1": "/pending?x=1", "": "/", "https://evil.example": "/", "//evil.example": "/", `/\evil.example`: "/", "/\tx": "/",
		"javascript:alert(1)": "/", "pending": "/", "/login": "/", "/%2f/evil.example": "/%2f/evil.example",
	} {
		page := b.get("/login?next=" + url.QueryEscape(next))
		form := b.form(page, "/login", "assertion", b.sign(b.challenge(page, "/login")))
		if got := b.do(http.MethodPost, "/login", form); got.location != want {
			t.Errorf("next %q leads to %q, want %q", next, got.location, want)
		}
		page = b.get("/login")
		form = b.form(page, "/login", "assertion", b.sign(b.challenge(page, "/login")), "next", next)
		if got := b.do(http.MethodPost, "/login", form); got.location != want {
			t.Errorf("a form's next %q leads to %q, want %q", next, got.location, want)
		}
		h.forward(time.Minute)
	}
}

// TestOverTLS: behind TLS, cookies can't be set by neighbours or sent in the clear.
func TestOverTLS(t *testing.T) {
	h := open(t)
	secure, err := console.New(console.Config{Backend: h.backend, Tokens: identity.NewTokens(h.backend.Ground, time.Now), Verify: h.backend.Proved,
		Attest: h.backend.Attest, URL: "https://interlock.example", Logger: slog.New(slog.DiscardHandler), Now: time.Now, Log: h.backend.Store,
		Facts: console.Facts{Rules: h.backend.Rules, Analyser: h.backend.Analyser(), Key: h.backend.Key}})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "https://interlock.example/login", nil)
	w := httptest.NewRecorder()
	secure.ServeHTTP(w, r)
	cookie := w.Header().Get("Set-Cookie")
	if !strings.HasPrefix(cookie, "__Host-interlock-visit=") || !strings.Contains(cookie, "; Path=/; HttpOnly; Secure; SameSite=Strict") ||
		w.Header().Get("Strict-Transport-Security") == "" {
		t.Errorf("cookie %q, headers %v", cookie, w.Header())
	}
	if fmt.Sprint(w.Code) != "200" {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

// signer makes an SSH key.
func (h *house) signer() *identity.Signer {
	h.t.Helper()
	file := filepath.Join(h.t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file).CombinedOutput(); err != nil {
		h.t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	signer, err := identity.FileSigner(file, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return signer
}

// sshOperator registers an operator with an SSH key and returns what signs for it.
func (h *house) sshOperator(name, role string) *identity.Signer {
	h.t.Helper()
	signer := h.signer()
	record := interlock.OperatorRecord{Name: name, Role: role, SSHKey: signer.PublicKey().String(), Created: time.Now().UTC()}
	if err := h.backend.PutOperator(h.t.Context(), record); err != nil {
		h.t.Fatal(err)
	}
	return signer
}

// TestLoginTicket: a link signed by an operator's SSH key lets the operator in once, without script, and nothing else does.
func TestLoginTicket(t *testing.T) {
	h := open(t)
	signer, other := h.sshOperator("olga", "operator"), h.sshOperator("otto", "operator")
	link := func(by *identity.Signer, at string, edit func(*console.Ticket)) string {
		t.Helper()
		ticket := console.Ticket{Operator: "olga", Nonce: fmt.Sprintf("%032x", time.Now().UnixNano()), Issued: h.now().UTC()}
		if edit != nil {
			edit(&ticket)
		}
		var err error
		if ticket.Signature, err = by.SignApproval(rand.Reader, ticket.Statement(at)); err != nil {
			t.Fatal(err)
		}
		address, err := ticket.Link(h.url)
		if err != nil {
			t.Fatal(err)
		}
		return address
	}
	b := h.browser()
	b.plain = true
	good := link(signer, h.url, nil)
	page := b.get(good)
	h.want("a link that was only opened", page, http.StatusOK, "Log in as olga")
	if got := b.get("/sessions"); got.status != http.StatusSeeOther {
		t.Errorf("opening a link is enough to be in: %d", got.status)
	}
	if got := b.do(http.MethodPost, "/login", b.form(page, "/login")); got.status != http.StatusSeeOther || got.location != "/" {
		t.Fatalf("using it: %d\n%s", got.status, got.body)
	}
	h.want("in", b.get("/sessions"), http.StatusOK, "olga (operator)")
	for name, test := range map[string]struct {
		link   string
		status int
		want   string
	}{
		"used":              {good, 409, "used already"},
		"another's key":     {link(other, h.url, nil), 403, "not signed by an operator's key"},
		"another console":   {link(signer, "https://interlock.example", nil), 403, "not signed by an operator's key"},
		"of nobody":         {link(signer, h.url, func(t *console.Ticket) { t.Operator = "nobody" }), 403, "not signed by an operator's key"},
		"old":               {link(signer, h.url, func(t *console.Ticket) { t.Issued = t.Issued.Add(-6 * time.Minute) }), 409, "has expired"},
		"from the future":   {link(signer, h.url, func(t *console.Ticket) { t.Issued = t.Issued.Add(time.Hour) }), 409, "has expired"},
		"before the server": {link(signer, h.url, func(t *console.Ticket) { t.Issued = t.Issued.Add(-time.Minute) }), 409, "has expired"},
	} {
		d := h.browser()
		h.want(name, d.do(http.MethodPost, "/login", d.form(d.get(test.link), "/login")), test.status, test.want)
	}
	for _, text := range []string{"x", "e30", "%00", strings.Repeat("A", 20<<10)} {
		if got := b.get("/login?ticket=" + text); got.status != http.StatusBadRequest {
			t.Errorf("ticket %.20q: %d", text, got.status)
		}
	}
}
