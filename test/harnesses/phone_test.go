package harnesses

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"interlock/test/chromium"
	"interlock/test/wait"
)

// A phone is one tab of a browser as small as a phone, with a finger in place of a mouse and a passkey that is always touched.
type phone struct {
	t       *testing.T
	browser *chromium.Browser
	session string
	origin  string // of the console
}

func newPhone(t *testing.T) *phone {
	t.Helper()
	browser, err := chromium.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := browser.Close(); err != nil && t.Failed() {
			t.Log(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p := &phone{t: t, browser: browser}
	if p.session, err = browser.Tab(ctx); err != nil {
		t.Fatal(err)
	}
	for _, domain := range []string{"Page", "Runtime", "DOM"} {
		p.do(domain+".enable", nil, nil)
	}
	p.do("Emulation.setFocusEmulationEnabled", options{"enabled": true}, nil) // passkeys answer only a page that is looked at
	p.do("Emulation.setDeviceMetricsOverride", options{"width": 390, "height": 844, "deviceScaleFactor": 3, "mobile": true}, nil)
	p.do("Emulation.setTouchEmulationEnabled", options{"enabled": true}, nil)
	p.do("WebAuthn.enable", options{"enableUI": false}, nil)
	p.do("WebAuthn.addVirtualAuthenticator", options{"options": options{"protocol": "ctap2", "transport": "internal", "hasResidentKey": true,
		"hasUserVerification": true, "isUserVerified": true, "automaticPresenceSimulation": true}}, nil)
	return p
}

type options = map[string]any

func (p *phone) do(method string, params, result any) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	if err := p.browser.Call(ctx, p.session, method, params, result); err != nil {
		p.t.Fatal(err)
	}
}

// awaits looks again and again until something holds: what a page's own scripts do is told by nobody.
func (p *phone) awaits(what string, holds func() bool) {
	p.t.Helper()
	if !wait.Holds(holds) {
		p.t.Fatalf("waited in vain for %s; the page says:\n%s", what, p.text())
	}
}

// evaluate is what an expression is worth on the page; false where a page is just being replaced by another.
func (p *phone) evaluate(expression string, result any) bool {
	p.t.Helper()
	var got struct {
		Result struct{ Value json.RawMessage }
	}
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	err := p.browser.Call(ctx, p.session, "Runtime.evaluate", options{"expression": expression, "returnByValue": true}, &got)
	return err == nil && json.Unmarshal(got.Result.Value, result) == nil
}

// text is what a reader sees, with single blanks.
func (p *phone) text() (text string) {
	p.t.Helper()
	p.evaluate("document.body ? document.body.innerText : ''", &text)
	return strings.Join(strings.Fields(text), " ")
}

func (p *phone) sees(sentence string) {
	p.t.Helper()
	p.awaits(`"`+sentence+`"`, func() bool { return strings.Contains(p.text(), sentence) })
	var wide float64
	if p.evaluate("document.documentElement.scrollWidth", &wide); wide > 390 {
		p.t.Errorf("the page is %v wide and does not fit the phone:\n%s", wide, p.text())
	}
}

// open goes to an address, or to a path of the console.
func (p *phone) open(address string) {
	p.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = p.origin + address
	}
	p.leaving(func() { p.do("Page.navigate", options{"url": address}, nil) })
}

// leaving goes on when what is done has led to another page and that one is there whole.
func (p *phone) leaving(act func()) {
	p.t.Helper()
	var marked bool
	p.awaits("a page to leave", func() bool { return p.evaluate("window.before = true", &marked) })
	act()
	p.awaits("another page", func() (there bool) {
		return p.evaluate("window.before !== true && document.readyState === 'complete' && location.href !== 'about:blank'", &there) && there
	})
}

// touches puts a finger on the middle of the first visible element of an XPath: what lies over it would feel it.
func (p *phone) touches(path string) {
	p.t.Helper()
	quoted, _ := json.Marshal(path)
	var at []float64
	p.awaits(path, func() bool {
		return p.evaluate(`(() => {
			if (document.querySelector("[class*=settling]")) return []; // what comes is still moving
			const all = document.evaluate(`+string(quoted)+`, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
			for (let i = 0; i < all.snapshotLength; i++) {
				const one = all.snapshotItem(i);
				if (!one.getClientRects().length || one.disabled) continue;
				one.scrollIntoView({block: "center", behavior: "instant"});
				const box = one.getClientRects()[0];
				const x = box.x + box.width / 2, y = box.y + box.height / 2, there = document.elementFromPoint(x, y);
				return one === there || one.contains(there) ? [x, y] : [];
			}
			return [];
		})()`, &at) && len(at) == 2
	})
	p.do("Input.dispatchTouchEvent", options{"type": "touchStart", "touchPoints": []options{{"x": at[0], "y": at[1]}}}, nil)
	p.do("Input.dispatchTouchEvent", options{"type": "touchEnd", "touchPoints": []options{}}, nil)
}

// follows touches what leads to another page.
func (p *phone) follows(path string) {
	p.t.Helper()
	p.leaving(func() { p.touches(path) })
}

func (p *phone) presses(button string) {
	p.t.Helper()
	p.follows(`//button[normalize-space()="` + button + `"]`)
}

// enrols makes the phone's passkey an operator's, by the link that they were given.
func (p *phone) enrols(link, name string) {
	p.t.Helper()
	p.origin = link[:strings.Index(link, "/enrol")]
	p.open(link)
	p.sees("This registers a passkey for the operator " + name)
	p.presses("Register a passkey")
	p.sees(name + " (")
}
