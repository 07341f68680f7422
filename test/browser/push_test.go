package browser_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interlock/internal/webpush/pushtest"
	"interlock/test/chromium"
)

// subscribes stands in for the part of a browser that needs its maker's push service: everything else is Chromium's own.
const subscribes = `(() => {
	const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0)).buffer;
	const made = () => ({endpoint: ENDPOINT, options: {applicationServerKey: bytes(sessionStorage.pushKey)},
		getKey: (name) => bytes({p256dh: P256DH, auth: AUTH}[name]), unsubscribe: async () => { delete sessionStorage.pushKey; return true; }});
	PushManager.prototype.getSubscription = async () => sessionStorage.pushKey ? made() : null;
	PushManager.prototype.subscribe = async ({userVisibleOnly, applicationServerKey}) => {
		if (!userVisibleOnly || applicationServerKey.length !== 65) throw new Error("not as browsers want it");
		sessionStorage.pushKey = btoa(String.fromCharCode(...applicationServerKey));
		return made();
	};
})()`

// A phone is a push service and the browser it belongs to.
type phone struct {
	*pushtest.Receiver
	page   *page
	inside string // the session of the page's service worker
	seen   int
}

// ask is what a number is worth in the worker.
func (p *phone) ask(expression string) int {
	p.page.t.Helper()
	var got struct {
		Result struct{ Value int }
	}
	p.page.must(p.inside, "Runtime.evaluate", options{"expression": expression, "returnByValue": true}, &got)
	return got.Result.Value
}

// next is the next message that arrives.
func (p *phone) next(t *testing.T) (text string) {
	t.Helper()
	timeout := time.After(patience)
	for {
		got, more := p.Got()
		if len(got) > p.seen {
			one := got[p.seen]
			if p.seen++; one.Fault != nil {
				t.Error(one.Fault)
			}
			return string(one.Plain)
		}
		select {
		case <-more:
		case <-timeout:
			t.Fatal("no message arrives")
		}
	}
}

// delivers hands a message to the page's service worker, as the browser does when one arrives, and waits until it has shown it. Before
// that nobody may ask what is shown: Chromium then forgets what it was about to show.
func (p *phone) delivers(text string) {
	p.page.t.Helper()
	if p.inside == "" {
		p.inside = p.page.inside()
		p.ask(`{
			const show = ServiceWorkerRegistration.prototype.showNotification;
			self.told = 0;
			ServiceWorkerRegistration.prototype.showNotification = async function (...what) { await show.apply(this, what); self.told++; };
		} 0`)
	}
	before := p.ask("told")
	defer func() {
		if !strings.Contains(text, `"answered"`) {
			p.page.awaits("the worker to show a message", func() bool { return p.ask("told") > before })
		}
	}()
	p.page.do("ServiceWorker.deliverPushMessage", options{"origin": p.page.origin, "registrationId": p.page.worker(), "data": text}, nil)
}

// worker is the browser's name for the service worker of this page.
func (p *page) worker() (id string) {
	p.t.Helper()
	p.browser.Listen(p.session, func(m chromium.Message) {
		if m.Method == "ServiceWorker.workerRegistrationUpdated" {
			var told struct {
				Registrations []struct {
					RegistrationID, ScopeURL string
					IsDeleted                bool
				}
			}
			_ = json.Unmarshal(m.Params, &told)
			p.mu.Lock()
			for _, one := range told.Registrations {
				if strings.HasPrefix(one.ScopeURL, p.origin) && !one.IsDeleted {
					id = one.RegistrationID
				}
			}
			p.mu.Unlock()
		}
		p.happened(m)
	})
	p.do("ServiceWorker.disable", nil, nil)
	p.do("ServiceWorker.enable", nil, nil)
	p.awaits("its service worker", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return id != ""
	})
	return id
}

// notified is what the browser shows: titles and texts.
func (p *page) notified() (shown []string) {
	p.t.Helper()
	p.evaluate(`navigator.serviceWorker.getRegistration("/").then((r) => r.getNotifications()).then((all) =>
		all.map((n) => n.title + " | " + n.body + " | " + n.data.path))`, &shown)
	return shown
}

// permits lets the page notify its reader.
func (p *page) permits() {
	p.t.Helper()
	var target struct {
		TargetInfo struct{ BrowserContextID string }
	}
	p.do("Target.getTargetInfo", nil, &target)
	p.must("", "Browser.grantPermissions", options{"origin": p.origin, "permissions": []string{"notifications"},
		"browserContextId": target.TargetInfo.BrowserContextID}, nil)
}

// TestAPhoneIsTold: somebody who switches notifications on is told when an action waits and when it does not any more, by a message only
// their browser can read, and a click leads to the request.
func TestAPhoneIsTold(t *testing.T) {
	t.Parallel()
	service, err := pushtest.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(service.Close)
	trusted := filepath.Join(t.TempDir(), "trusted.pem")
	if err := os.WriteFile(trusted, service.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newHouseWith(t, []string{"SSL_CERT_FILE=" + trusted}, "push_hosts: [127.0.0.1]")
	olga := newPage(t, startChromium(t), h.origin, device{phone: true})
	key, auth := service.Keys()
	quoted := func(text string) string { return `"` + text + `"` }
	olga.do("Page.addScriptToEvaluateOnNewDocument", options{"source": strings.NewReplacer("ENDPOINT", quoted(service.Endpoint()),
		"P256DH", quoted(key), "AUTH", quoted(auth)).Replace(subscribes)}, nil)
	olga.permits()
	olga.enrol(h.link("operator", "add", "olga", "--role", "operator", "--enrol"), "olga")
	olga.open("/sessions")
	olga.loading("switching it on", func() { olga.touches(`//button[.="Notify me in this browser"]`) })
	olga.sees("(this one)")
	olga.accessible(axeEngine(t), "with notifications")
	phone := &phone{Receiver: service, page: olga}
	olga.loading("a test", func() { olga.touches(`//button[.="Send a test"]`) })
	phone.delivers(phone.next(t))
	olga.awaits("the test to show", func() bool { return len(olga.notified()) == 1 })

	agent := h.overStdio("builder")
	agent.begins()
	request := agent.asks("git push --force origin release")
	asks := phone.next(t)
	if strings.Contains(asks, "origin release") || strings.Contains(asks, "code") {
		t.Errorf("it says more than a locked screen may: %s", asks)
	}
	phone.delivers(asks)
	want := "/pending/" + request
	olga.awaits("the question to show", func() bool {
		shown := olga.notified()
		return len(shown) == 2 && strings.Contains(strings.Join(shown, "\n"), "Interlock asks: git.force-push | builder") &&
			strings.Contains(strings.Join(shown, "\n"), want)
	})
	if opened := phone.clicked(want); opened != h.origin+want {
		t.Errorf("a click opens %q", opened)
	}

	phone.delivers(asks)
	olga.open(want)
	olga.presses("Approve once, with a passkey")
	phone.delivers(phone.next(t)) // somebody looks at the console, so that nothing more is to be shown
	olga.awaits("the question to go", func() bool { return !strings.Contains(strings.Join(olga.notified(), "\n"), want) })

	olga.open("/sessions")
	olga.misses("not yet")
	olga.loading("switching it off", func() { olga.touches(`//button[.="Switch off"]`) })
	olga.sees("Notify me in this browser")
	if log := h.logged(); !strings.Contains(log, `"unsubscribed"`) || strings.Contains(log, "secret-of-this-browser") {
		t.Errorf("the log says\n%s", log)
	}
	if said := h.run("operator", "list"); !strings.Contains(said, "olga") {
		t.Error(said)
	}
}

// clicked clicks the notification that leads somewhere, and returns what the worker would open: browsers let it only for a real finger.
func (p *phone) clicked(path string) (opened string) {
	p.page.t.Helper()
	var got struct {
		Result struct{ Value string }
	}
	p.page.must(p.inside, "Runtime.evaluate", options{"awaitPromise": true, "returnByValue": true, "expression": `(async () => {
		const shown = (await registration.getNotifications()).find((n) => n.data.path === "` + path + `");
		const opened = new Promise((resolve) => { clients.openWindow = async (to) => resolve(to); });
		dispatchEvent(new NotificationEvent("notificationclick", {notification: shown}));
		return opened;
	})()`}, &got)
	return got.Result.Value
}

// inside attaches to the page's service worker, which then goes on running.
func (p *page) inside() (session string) {
	p.t.Helper()
	var targets struct {
		TargetInfos []struct{ TargetID, Type, URL string }
	}
	p.must("", "Target.getTargets", options{"filter": []options{{"type": "service_worker"}}}, &targets)
	var attached struct{ SessionID string }
	for _, one := range targets.TargetInfos {
		if strings.HasPrefix(one.URL, p.origin+"/push-worker.js") {
			p.must("", "Target.attachToTarget", options{"targetId": one.TargetID, "flatten": true}, &attached)
		}
	}
	if attached.SessionID == "" {
		p.t.Fatalf("no worker runs: %+v", targets)
	}
	return attached.SessionID
}
