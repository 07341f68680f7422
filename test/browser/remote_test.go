package browser_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// tlsInFront is the reverse proxy that the operator's guide puts before the console: it ends TLS for a name and passes the
// name on. It returns its address and the hash by which a browser is told to take its certificate.
func tlsInFront(t *testing.T, h *house, name string) (address, trusted string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	certificate := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, certificate, certificate, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(h.api)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewUnstartedServer(&httputil.ReverseProxy{ErrorLog: log.New(t.Output(), "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
	}})
	front.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}}
	front.StartTLS()
	t.Cleanup(front.Close)
	sum := sha256.Sum256(public)
	return front.Listener.Addr().String(), base64.StdEncoding.EncodeToString(sum[:])
}

// A phone on another network reaches the console by its name over TLS, and nothing else: no agent's door is open there.
func TestAPhoneElsewhereAnswersOverTLS(t *testing.T) {
	t.Parallel()
	const name = "interlock.example"
	h := newHouse(t, "console_url: https://"+name)
	address, trusted := tlsInFront(t, h, name)
	browser := startChromium(t, "--host-resolver-rules=MAP "+name+" "+address, "--ignore-certificate-errors-spki-list="+trusted)
	olga := newPage(t, browser, "https://"+name, device{phone: true})
	link := strings.TrimSpace(h.run("operator", "add", "olga", "--role", "operator", "--enrol"))
	link = link[strings.Index(link, "https://"):]
	olga.enrol(link, "olga")
	olga.presses("Log out")
	olga.presses("Log in with a passkey")
	agent := h.overStdio("builder")
	agent.begins()
	const push = "git push --force origin release"
	olga.open("/pending/" + agent.asks(push))
	olga.presses("Approve once, with a passkey")
	agent.goesOn(push)
	var cookies struct {
		Cookies []struct {
			Name, SameSite   string
			Secure, HTTPOnly bool
		}
	}
	olga.do("Network.getCookies", nil, &cookies)
	if len(cookies.Cookies) == 0 {
		t.Error("there is no session")
	}
	for _, c := range cookies.Cookies {
		if !c.Secure || !c.HTTPOnly || c.SameSite != "Strict" || !strings.HasPrefix(c.Name, "__Host-") {
			t.Errorf("cookie %+v", c)
		}
	}

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	token := strings.TrimSpace(h.run("agent", "add", "remote"))
	for _, path := range []string{"/v1/checkpoint", "/mcp", "/metrics", "/access/v1/evaluation", "/pending"} {
		request, err := http.NewRequest(http.MethodPost, h.api+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		request.Host = name
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode < 400 || response.StatusCode >= 500 {
			t.Errorf("%s is open to agents under the console's name: %s", path, response.Status)
		}
	}
}

// What the guide says to do about a lost phone: its passkey and its sessions end at once, and the person comes back.
func TestALostPasskeyOpensNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	browser := startChromium(t)
	lost := newPage(t, browser, h.origin, device{})
	lost.enrol(h.link("operator", "add", "olga", "--role", "operator", "--enrol"), "olga")
	h.run("operator", "revoke", "olga")
	link := h.link("operator", "add", "olga", "--role", "operator", "--enrol")
	lost.open("/pending")
	lost.sees("Log in with a passkey")
	lost.presses("Log in with a passkey")
	lost.sees("this passkey is not registered here")
	fresh := newPage(t, browser, h.origin, device{})
	fresh.enrol(link, "olga")
	fresh.open("/sessions")
	fresh.sees("(this one)")
}

// Browsers send a cookie of localhost to every port of it. So an agent that has its user open a page of its own gets the
// console's cookie and the browser's name; with both it reads what the operator may read, and says yes to nothing.
func TestACookieThatAnAgentGotSaysYesToNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	got := make(chan *http.Request, 1)
	trap := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case got <- r:
		default:
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<title>your app</title><link rel=icon href=data:,><p>Hello"))
	}))
	defer trap.Close()
	browser := startChromium(t)
	olga := newPage(t, browser, h.origin, device{})
	olga.enrol(h.link("operator", "add", "olga", "--role", "admin", "--enrol"), "olga")
	agent := h.overStdio("builder")
	agent.begins()
	const push = "git push --force origin release"
	request := agent.asks(push)
	olga.origin = strings.Replace(trap.URL, "127.0.0.1", "localhost", 1)
	olga.open("/")
	olga.sees("Hello")
	caught := <-got
	if caught.Header.Get("Cookie") == "" {
		t.Fatal("the browser sends no cookie, so this test proves nothing")
	}
	send := func(method, path string, form url.Values) (int, string) {
		t.Helper()
		r, err := http.NewRequest(method, h.api+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = strings.TrimPrefix(h.origin, "http://")
		r.Header = http.Header{"Cookie": caught.Header["Cookie"], "User-Agent": caught.Header["User-Agent"],
			"Content-Type": {"application/x-www-form-urlencoded"}}
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	_, page := send(http.MethodGet, "/pending/"+request, nil)
	token := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(page)
	if token == nil {
		t.Fatalf("the cookie opens no page, so this test proves nothing:\n%s", page)
	}
	status, body := send(http.MethodPost, "/pending/"+request, url.Values{"csrf": token[1:], "verb": {"approve"}, "method": {"session"}})
	if status != http.StatusForbidden || !strings.Contains(body, "you came in with a passkey") {
		t.Errorf("a yes by cookie: %d\n%s", status, body)
	}
	if again := agent.asks(push); again != request {
		t.Errorf("the question was answered: %s", again)
	}
	if !strings.Contains(h.logged(), "you came in with a passkey") {
		t.Error("the try is not recorded")
	}
}
