package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"interlock/test/chromium"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
)

// patience is how long a page may take for anything. It is for machines that are busy; nothing waits that long in vain but a
// test that fails.
const patience = 30 * time.Second

// The screen of a phone: the narrow ones are 360 points wide.
const (
	phoneWide = 360
	phoneHigh = 780
)

// A page is one tab in a browser profile of its own: its own cookies, its own passkeys. Whatever the browser complains of on
// it, and whatever character a reader could not see, fails the test.
type page struct {
	t       *testing.T
	browser *chromium.Browser
	session string
	origin  string // of the console; nothing may be loaded from elsewhere
	touch   bool
	scripts bool

	mu         sync.Mutex
	changed    chan struct{} // closed and replaced at every event
	loads      int
	complaints []string
}

// How a page differs from a desktop browser with a passkey.
type device struct {
	noScripts bool
	noPasskey bool
	phone     bool
}

// newPage opens an empty tab in a profile of its own.
func newPage(t *testing.T, browser *chromium.Browser, origin string, d device) *page {
	t.Helper()
	p := &page{t: t, browser: browser, origin: origin, touch: d.phone, scripts: !d.noScripts, changed: make(chan struct{})}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var err error
	if p.session, err = browser.Tab(ctx); err != nil {
		t.Fatal(err)
	}
	browser.Listen(p.session, p.happened)
	for _, domain := range []string{"Page", "Runtime", "Log", "Network", "Audits", "DOM"} {
		p.do(domain+".enable", nil, nil)
	}
	p.do("Emulation.setFocusEmulationEnabled", options{"enabled": true}, nil) // passkeys answer only a page that is looked at
	if d.phone {
		p.do("Emulation.setDeviceMetricsOverride", options{"width": phoneWide, "height": phoneHigh, "deviceScaleFactor": 3, "mobile": true}, nil)
		p.do("Emulation.setTouchEmulationEnabled", options{"enabled": true}, nil)
	}
	if d.noScripts {
		p.do("Emulation.setScriptExecutionDisabled", options{"value": true}, nil)
	}
	if !d.noPasskey {
		p.addPasskeys()
	}
	t.Cleanup(p.quiet)
	return p
}

type options = map[string]any

// addPasskeys plugs an authenticator in that is always touched and knows its user: CTAP2, built into the device.
func (p *page) addPasskeys() string {
	p.t.Helper()
	p.do("WebAuthn.enable", options{"enableUI": false}, nil)
	var added struct{ AuthenticatorID string }
	p.do("WebAuthn.addVirtualAuthenticator", options{"options": options{"protocol": "ctap2", "transport": "internal", "hasResidentKey": true,
		"hasUserVerification": true, "isUserVerified": true, "automaticPresenceSimulation": true}}, &added)
	return added.AuthenticatorID
}

func (p *page) must(session, method string, params, result any) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.browser.Call(ctx, session, method, params, result); err != nil {
		p.t.Fatal(err)
	}
}

func (p *page) do(method string, params, result any) {
	p.t.Helper()
	p.must(p.session, method, params, result)
}

// happened keeps what the browser tells of a page. It is called by the reader of its messages and must not call back.
func (p *page) happened(m chromium.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch m.Method {
	case "Page.loadEventFired":
		p.loads++
	case "Runtime.exceptionThrown":
		p.complaints = append(p.complaints, "a script failed: "+string(m.Params))
	case "Runtime.consoleAPICalled":
		if strings.Contains(string(m.Params), `"value":"[object Event]"`) {
			return // htmx says that a live stream ended, as it does when its operator logs out
		}
		p.complaints = append(p.complaints, "a script wrote to the browser's console: "+string(m.Params))
	case "Log.entryAdded":
		p.logged(m.Params)
	case "Audits.issueAdded":
		if strings.Contains(string(m.Params), "ContentSecurityPolicy") {
			p.complaints = append(p.complaints, "the content security policy was violated: "+string(m.Params))
		}
	case "Network.requestWillBeSent":
		p.requested(m.Params)
	default:
		return
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *page) logged(params json.RawMessage) {
	var entry struct {
		Entry struct{ Source, Level, Text, URL string }
	}
	_ = json.Unmarshal(params, &entry)
	// An answer such as 403 is what some tests are about, and they read it on the page.
	if entry.Entry.Source == "network" && strings.Contains(entry.Entry.Text, "the server responded with a status of 4") {
		return
	}
	if entry.Entry.Level == "error" || entry.Entry.Level == "warning" || entry.Entry.Source == "security" {
		p.complaints = append(p.complaints, fmt.Sprintf("the browser complained: %+v", entry.Entry))
	}
}

func (p *page) requested(params json.RawMessage) {
	var sent struct{ Request struct{ URL string } }
	_ = json.Unmarshal(params, &sent)
	to, err := url.Parse(sent.Request.URL)
	if err != nil || to.Scheme != "about" && to.Scheme != "data" && to.Scheme+"://"+to.Host != p.origin {
		p.complaints = append(p.complaints, "the page asked for something from elsewhere: "+sent.Request.URL)
	}
}

// quiet fails the test for all the browser complained of.
func (p *page) quiet() {
	p.t.Helper()
	for _, complaint := range p.complained() {
		p.t.Error(complaint)
	}
}

func (p *page) complained() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.complaints)
}

// awaits goes on when a condition holds that something the browser tells can make true.
func (p *page) awaits(what string, holds func() bool) {
	p.t.Helper()
	timeout := time.After(patience)
	look := time.NewTicker(20 * time.Millisecond) // what a script does to a page is told by nobody
	defer look.Stop()
	for {
		p.mu.Lock()
		changed := p.changed
		p.mu.Unlock()
		if holds() {
			return
		}
		select {
		case <-changed:
		case <-look.C:
		case <-timeout:
			p.t.Fatalf("waited in vain for %s; the page says:\n%s", what, p.text())
		}
	}
}

// loading does something and goes on when the page that it leads to has been loaded, and can be seen whole.
func (p *page) loading(what string, act func()) {
	p.t.Helper()
	p.mu.Lock()
	before := p.loads
	p.mu.Unlock()
	act()
	p.awaits(what+" to load a page", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.loads > before
	})
	p.plain()
	p.fits()
}

func (p *page) open(address string) {
	p.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = p.origin + address
	}
	p.loading("the address "+address, func() {
		p.t.Helper()
		var navigated struct{ ErrorText string }
		p.do("Page.navigate", options{"url": address}, &navigated)
		if navigated.ErrorText != "" && navigated.ErrorText != "net::ERR_HTTP_RESPONSE_CODE_FAILURE" {
			p.t.Fatalf("%s: %s", address, navigated.ErrorText)
		}
	})
}

// evaluate returns what an expression is worth in the page.
func (p *page) evaluate(expression string, result any) {
	p.t.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Text string }
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for ctx.Err() == nil { // a page that is being replaced by another has nothing to ask for a moment
		err := p.browser.Call(ctx, p.session, "Runtime.evaluate", options{"expression": expression, "returnByValue": true, "awaitPromise": true}, &got)
		if err == nil {
			break
		}
		if !strings.Contains(err.Error(), "context") && !strings.Contains(err.Error(), "navigated") {
			p.t.Fatal(err)
		}
	}
	if got.ExceptionDetails != nil {
		p.t.Fatalf("%s: %s", expression, got.ExceptionDetails.Text)
	}
	if err := json.Unmarshal(got.Result.Value, result); err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
}

// text is what a reader sees.
func (p *page) text() (text string) {
	p.t.Helper()
	p.evaluate("document.body ? document.body.innerText : ''", &text)
	return text
}

// sees goes on when the page says something.
func (p *page) sees(sentence string) {
	p.t.Helper()
	p.awaits(fmt.Sprintf("%q", sentence), func() bool { return strings.Contains(spaced(p.text()), spaced(sentence)) })
	p.plain()
}

// misses fails if the page says something.
func (p *page) misses(sentence string) {
	p.t.Helper()
	if text := p.text(); strings.Contains(spaced(text), spaced(sentence)) {
		p.t.Errorf("the page says %q:\n%s", sentence, text)
	}
}

func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// plain fails if the page holds a character that is not seen as itself: where an agent's text could say one thing to the
// reader and another to the machine.
func (p *page) plain() {
	p.t.Helper()
	if r := p.unseen(); r != 0 {
		p.t.Errorf("the page holds a raw %U:\n%s", r, p.text())
	}
}

// unseen returns the first such character of the page, or 0.
func (p *page) unseen() rune {
	p.t.Helper()
	var whole string
	p.evaluate("document.documentElement ? document.documentElement.outerHTML : ''", &whole)
	for _, r := range whole {
		if r != '\n' && r != '\t' && (r == '\u2800' ||
			unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)) {
			return r
		}
	}
	return 0
}

// fits fails if something on a phone's page stands where only scrolling sideways shows it, or is too small for a finger.
func (p *page) fits() {
	p.t.Helper()
	if !p.touch {
		return
	}
	var wide struct {
		Width int
		Far   []string
		Small []string
	}
	p.evaluate(`(() => {
		const far = [], small = [];
		for (const e of document.querySelectorAll("main *, header *")) {
			const box = e.getBoundingClientRect();
			let scrolls = false; // inside a block that scrolls by itself, with the page standing still
			for (let up = e.parentElement; up; up = up.parentElement) scrolls ||= getComputedStyle(up).overflowX !== "visible";
			if (!scrolls && box.width > 0 && box.right > `+strconv.Itoa(phoneWide+1)+`) far.push(e.outerHTML.slice(0, 120));
			if (e.matches("button, input:not([type=hidden]), select, summary") && box.width > 0 && box.height < 24 && !e.closest("label"))
				small.push(box.height + ": " + e.outerHTML.slice(0, 120));
		}
		return {Width: document.documentElement.scrollWidth, Far: far.slice(0, 5), Small: small.slice(0, 5)};
	})()`, &wide)
	if wide.Width > phoneWide || len(wide.Far) > 0 || len(wide.Small) > 0 {
		var at string
		p.evaluate("location.pathname", &at)
		p.t.Errorf("%s does not fit a phone: %+v", at, wide)
	}
}

// node finds one visible element by an XPath, and fails if there is none.
func (p *page) node(path string) (object string) {
	p.t.Helper()
	quoted, _ := json.Marshal(path)
	p.awaits("an element "+path, func() bool {
		var got struct{ Result struct{ ObjectID string } }
		p.do("Runtime.evaluate", options{"expression": `(() => {
			const all = document.evaluate(` + string(quoted) + `, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
			for (let i = 0; i < all.snapshotLength; i++) if (all.snapshotItem(i).getClientRects().length) return all.snapshotItem(i);
			return null;
		})()`}, &got)
		object = got.Result.ObjectID
		return object != ""
	})
	return object
}

// has reports whether there is such an element and it is seen.
func (p *page) has(path string) (has bool) {
	p.t.Helper()
	quoted, _ := json.Marshal(path)
	p.evaluate(`(() => {
		const all = document.evaluate(`+string(quoted)+`, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
		for (let i = 0; i < all.snapshotLength; i++) if (all.snapshotItem(i).getClientRects().length) return true;
		return false;
	})()`, &has)
	return has
}

// touches an element where it stands, as a finger or a mouse does: what lies over it would get the touch.
func (p *page) touches(path string) {
	p.t.Helper()
	x, y := p.place(path)
	if p.touch {
		p.do("Input.dispatchTouchEvent", options{"type": "touchStart", "touchPoints": []options{{"x": x, "y": y}}}, nil)
		p.do("Input.dispatchTouchEvent", options{"type": "touchEnd", "touchPoints": []options{}}, nil)
		return
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		p.do("Input.dispatchMouseEvent", options{"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}, nil)
	}
}

// place scrolls to an element and returns its middle.
func (p *page) place(path string) (x, y float64) {
	p.t.Helper()
	p.awaits(path+" to stand still", func() bool {
		object := options{"objectId": p.node(path)}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		var at struct{ Quads [][]float64 }
		if p.browser.Call(ctx, p.session, "DOM.scrollIntoViewIfNeeded", object, nil) != nil ||
			p.browser.Call(ctx, p.session, "DOM.getContentQuads", object, &at) != nil || len(at.Quads) == 0 {
			return false // the page put another in its place just now
		}
		q := at.Quads[0]
		x, y = (q[0]+q[4])/2, (q[1]+q[5])/2
		return true
	})
	return x, y
}

// presses a button that leads to a page.
func (p *page) presses(button string) {
	p.t.Helper()
	p.follows(`//button[normalize-space()="` + button + `"]`)
}

// follows a link or a button to the page it leads to.
func (p *page) follows(path string) {
	p.t.Helper()
	p.loading(path, func() { p.touches(path) })
}

// writes into a field.
func (p *page) writes(path, text string) {
	p.t.Helper()
	p.do("DOM.focus", options{"objectId": p.node(path)}, nil)
	for _, kind := range []string{"rawKeyDown", "keyUp"} { // select what stands there
		p.do("Input.dispatchKeyEvent", options{"type": kind, "key": "a", "code": "KeyA", "modifiers": 2, "commands": []string{"selectAll"}}, nil)
	}
	p.do("Input.insertText", options{"text": text}, nil)
}
