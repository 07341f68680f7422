package docs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"interlock/test/chromium"
)

// A reader is a browser's tab in which pages are opened as files.
type reader struct {
	t       *testing.T
	ctx     context.Context
	browser *chromium.Browser
	session string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	browser, err := chromium.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = browser.Close() }) // what it says of itself when it ends is not ours
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	session, err := browser.Tab(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return &reader{t, ctx, browser, session}
}

func (r *reader) call(method string, params, result any) {
	r.t.Helper()
	if err := r.browser.Call(r.ctx, r.session, method, params, result); err != nil {
		r.t.Fatalf("%s: %v", method, err)
	}
}

// opens has the tab show a file, and waits until it is there.
func (r *reader) opens(file string) {
	r.t.Helper()
	r.call("Page.navigate", map[string]any{"url": "file://" + file}, nil)
	r.says(`new Promise((done) => document.readyState === "complete" ? done("") : addEventListener("load", () => done("")))`)
}

// says is what an expression of the page's own comes to, as text.
func (r *reader) says(expression string) string {
	r.t.Helper()
	var answer struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
		ExceptionDetails json.RawMessage `json:"exceptionDetails"`
	}
	r.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &answer)
	if answer.ExceptionDetails != nil {
		r.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	return fmt.Sprint(answer.Result.Value)
}

// TestTheSiteIsReadWithoutAServer opens every page as a file, on a screen as wide as a phone's, in both themes; searches; and sees that
// nothing is asked of a network.
func TestTheSiteIsReadWithoutAServer(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	if said, err := exec.Command("go", "run", "interlock/docs/generator", "-root", root, "-out", out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	r := newReader(t)
	var heard atomic.Int64
	outside := make(chan string, 1000)
	r.browser.Listen(r.session, func(m chromium.Message) {
		var asked struct {
			Request struct {
				URL string `json:"url"`
			} `json:"request"`
		}
		if m.Method != "Network.requestWillBeSent" || json.Unmarshal(m.Params, &asked) != nil {
			return
		}
		if heard.Add(1); !strings.HasPrefix(asked.Request.URL, "file://"+out) {
			select {
			case outside <- asked.Request.URL:
			default:
			}
		}
	})
	r.call("Network.enable", map[string]any{}, nil)
	r.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true}, nil)
	pages := 0
	err := filepath.WalkDir(out, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".html" {
			return err
		}
		pages++
		r.opens(file)
		if wide := r.says("document.documentElement.scrollWidth - innerWidth"); wide != "0" {
			t.Errorf("%s is %s pixels wider than a phone", strings.TrimPrefix(file, out), wide)
		}
		return nil
	})
	if err != nil || pages < 80 {
		t.Fatalf("%d pages: %v", pages, err)
	}
	r.opens(filepath.Join(out, "docs", "how-to", "blocked.html"))
	r.says(`query.focus(), query.value = "quiet hours", query.dispatchEvent(new Event("input"))`)
	found := r.says(`new Promise((done) => {
		const look = () => found.querySelector("a") ? done(found.querySelector("a").getAttribute("href")) : requestAnimationFrame(look);
		look();
	})`)
	if found != "../../docs/operating.html#quiet-hours" && found != "../../docs/reference/glossary.html#quiet-hours" {
		t.Errorf("the search for quiet hours finds %s first", found)
	}
	light := r.says("getComputedStyle(document.body).backgroundColor")
	r.says(`theme.click()`)
	if dark := r.says("getComputedStyle(document.body).backgroundColor"); dark == light {
		t.Errorf("both themes are %s", dark)
	}
	select {
	case url := <-outside:
		t.Errorf("a page asks for %s", url)
	default:
	}
	if heard.Load() < int64(pages) {
		t.Errorf("only %d requests were seen", heard.Load())
	}
}
