package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"interlock/test/chromium"
)

// A browser is a tab of Chromium with a passkey of its own.
type browser struct {
	*chromium.Browser
	session string
	loaded  chan struct{} // takes a value when a page has loaded

	mu         sync.Mutex
	complaints []string
}

func startBrowser(ctx context.Context) (*browser, error) {
	started, err := chromium.Start("--hide-scrollbars")
	if err != nil {
		return nil, err
	}
	b := &browser{Browser: started, loaded: make(chan struct{}, 1)}
	if b.session, err = b.Tab(ctx); err == nil {
		b.Listen(b.session, b.happened)
		for _, domain := range []string{"Page", "Runtime", "Log"} {
			if err == nil {
				err = b.do(ctx, domain+".enable", nil, nil)
			}
		}
	}
	for _, one := range []struct {
		command string
		with    options
	}{
		{"Emulation.setFocusEmulationEnabled", options{"enabled": true}}, {"WebAuthn.enable", options{"enableUI": false}},
		{"WebAuthn.addVirtualAuthenticator", options{"options": options{"protocol": "ctap2", "transport": "internal", "hasResidentKey": true,
			"hasUserVerification": true, "isUserVerified": true, "automaticPresenceSimulation": true}}},
	} {
		if err == nil {
			err = b.do(ctx, one.command, one.with, nil)
		}
	}
	if err != nil {
		_ = b.Close()
		return nil, err
	}
	return b, nil
}

type options = map[string]any

// happened keeps what the browser tells of the page: that it has loaded, a script or style it refused, a file it did not find.
func (b *browser) happened(m chromium.Message) {
	var said struct {
		Entry struct{ Level, Source, Text, URL string }
	}
	switch m.Method {
	case "Page.loadEventFired":
		select {
		case b.loaded <- struct{}{}:
		default:
		}
		return
	case "Runtime.exceptionThrown":
		said.Entry.Text = string(m.Params)
	case "Log.entryAdded":
		if json.Unmarshal(m.Params, &said) != nil || said.Entry.Level != "error" && said.Entry.Level != "warning" {
			return
		}
		if said.Entry.Source == "network" { // one of the pages is that there is no such page
			return
		}
	default:
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, said.Entry.Text+" "+said.Entry.URL)
}

// do sends one command of Chromium's own protocol to the tab.
func (b *browser) do(ctx context.Context, command string, parameters options, into any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if parameters == nil {
		return b.Call(ctx, b.session, command, nil, into)
	}
	return b.Call(ctx, b.session, command, parameters, into)
}

// load does what loads a page, and waits for it.
func (b *browser) load(ctx context.Context, command string, parameters options) error {
	select {
	case <-b.loaded: // of the page before
	default:
	}
	if err := b.do(ctx, command, parameters, nil); err != nil {
		return err
	}
	select {
	case <-b.loaded:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("%s: the page does not load", command)
	}
}

// evaluate returns what an expression is worth in the page.
func (b *browser) evaluate(ctx context.Context, expression string, into any) error {
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if err := b.do(ctx, "Runtime.evaluate", options{"expression": expression, "returnByValue": true, "awaitPromise": true}, &got); err != nil {
		return err
	}
	if got.ExceptionDetails != nil {
		return errors.New(got.ExceptionDetails.Text + " " + got.ExceptionDetails.Exception.Description)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(got.Result.Value, into)
}

// A dress is how a page is looked at.
type dress struct {
	name string
	wide int
	most int // how high it may be
	dark bool
}

// screenHigh is how high a phone's screen is.
const screenHigh = 780

// dresses are all of them, phones first: what a page does when it loads is for the narrow one.
func dresses() []dress {
	return []dress{{"-phone", 360, 1500, false}, {"-phone-dark", 360, 1500, true}, {"", 1200, 1500, false}, {"-dark", 1200, 1500, true}}
}

// photograph opens a page, takes the steps that lead to what is to be seen, and looks at it in each dress; it keeps the pictures
// that are wanted. It returns what is wrong with the page.
func (b *browser) photograph(ctx context.Context, origin string, p page, into string, wanted map[string]bool) (wrong []error,
	err error) {
	first := dresses()[0]
	if err := b.wear(ctx, first, first.most); err != nil {
		return nil, err
	}
	if p.path != "" {
		if err := b.load(ctx, "Page.navigate", options{"url": origin + p.path}); err != nil {
			return nil, err
		}
	}
	for _, script := range p.steps {
		if err := b.load(ctx, "Runtime.evaluate", options{"expression": script}); err != nil {
			return nil, fmt.Errorf("%s: %w", script, err)
		}
	}
	for _, d := range dresses() {
		file := p.name + d.name + ".png"
		small, found, err := b.picture(ctx, p, d)
		if err == nil && wanted[file] {
			err = os.WriteFile(filepath.Join(into, file), small, 0o644)
		}
		if err != nil {
			return nil, err
		}
		if found != "" {
			wrong = append(wrong, fmt.Errorf("%s%s does not fit: %s", p.name, d.name, found))
		}
		fmt.Printf("%s%s %d KB\n", p.name, d.name, len(small)>>10)
	}
	for _, script := range p.after {
		if err := b.load(ctx, "Runtime.evaluate", options{"expression": script}); err != nil {
			return nil, fmt.Errorf("%s: %w", script, err)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range b.complaints {
		wrong = append(wrong, fmt.Errorf("%s: the browser says: %s", p.name, one))
	}
	b.complaints = nil
	return wrong, nil
}

// wear puts a dress on.
func (b *browser) wear(ctx context.Context, d dress, high int) error {
	scheme, scale := "light", 1.0
	if d.wide < 600 {
		scale = 1.5
	}
	if d.dark {
		scheme = "dark"
	}
	err := b.do(ctx, "Emulation.setDeviceMetricsOverride",
		options{"width": d.wide, "height": high, "deviceScaleFactor": scale, "mobile": d.wide < 600}, nil)
	if err == nil {
		err = b.do(ctx, "Emulation.setEmulatedMedia",
			options{"features": []options{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	}
	return err
}

// settled waits until a page has drawn itself, and says how high it is and what of it is outside of the screen.
const settled = `(async () => {
	await document.fonts.ready;
	await new Promise((done) => setTimeout(done, 120));
	await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
	const far = [];
	for (const e of document.querySelectorAll("main *, header *")) {
		let scrolls = false;
		for (let up = e.parentElement; up; up = up.parentElement) scrolls ||= getComputedStyle(up).overflowX !== "visible";
		const box = e.getBoundingClientRect();
		if (!scrolls && box.width > 0 && box.right > WIDE + 1) far.push(e.outerHTML.slice(0, 100));
	}
	return {High: document.documentElement.scrollHeight, Far: far.slice(0, 3).join(" and ")};
})()`

// picture is what the browser shows, no higher than the page is.
func (b *browser) picture(ctx context.Context, p page, d dress) (small []byte, wrong string, err error) {
	var seen struct {
		High int
		Far  string
	}
	if err = b.wear(ctx, d, 480); err == nil {
		err = b.evaluate(ctx, strings.ReplaceAll(settled, "WIDE", strconv.Itoa(d.wide)), &seen)
	}
	if p.screen && d.wide < 600 {
		d.most = screenHigh
	}
	if err == nil {
		err = b.wear(ctx, d, min(seen.High, d.most))
	}
	if err == nil {
		err = b.evaluate(ctx, strings.ReplaceAll(settled, "WIDE", strconv.Itoa(d.wide)), &seen)
	}
	var shot struct{ Data []byte }
	if err == nil {
		err = b.do(ctx, "Page.captureScreenshot", options{"format": "png"}, &shot)
	}
	if err != nil {
		return nil, "", err
	}
	picture, err := png.Decode(bytes.NewReader(shot.Data))
	if err != nil {
		return nil, "", err
	}
	small, err = shrink(picture)
	if err != nil {
		return nil, "", err
	}
	return small, seen.Far, nil
}
