package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"interlock/test/chromium"
)

// patience is how long a page may take.
const patience = 30 * time.Second

// A browser is a tab of Chromium.
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
	if err != nil {
		_ = b.Close()
		return nil, err
	}
	return b, nil
}

// happened keeps what the browser tells of the page: that it has loaded, a script or style it refused, a file it did not find.
func (b *browser) happened(m chromium.Message) {
	var said struct {
		Entry struct{ Level, Text, URL string }
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
	default:
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, said.Entry.Text+" "+said.Entry.URL)
}

// do sends one command of Chromium's own protocol to the tab.
func (b *browser) do(ctx context.Context, command string, parameters map[string]any, into any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if parameters == nil {
		return b.Call(ctx, b.session, command, nil, into)
	}
	return b.Call(ctx, b.session, command, parameters, into)
}

// load does what loads a page, and waits for it.
func (b *browser) load(ctx context.Context, command string, parameters map[string]any) error {
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

func (b *browser) open(ctx context.Context, address string) error {
	return b.load(ctx, "Page.navigate", map[string]any{"url": address})
}

// click clicks an element that leads to another page.
func (b *browser) click(ctx context.Context, selector string) error {
	return b.load(ctx, "Runtime.evaluate", map[string]any{"expression": "document.querySelector(" + strconv.Quote(selector) + ").click()"})
}

// picture opens an address and returns what the browser shows, as PNG.
func (b *browser) picture(ctx context.Context, address string, p picture) ([]byte, error) {
	scheme, scale := "light", 1.0
	if p.wide < 600 {
		scale = 1.5
	}
	if p.dark {
		scheme = "dark"
	}
	err := b.do(ctx, "Emulation.setDeviceMetricsOverride",
		map[string]any{"width": p.wide, "height": p.high, "deviceScaleFactor": scale, "mobile": p.wide < 600}, nil)
	if err == nil {
		err = b.do(ctx, "Emulation.setEmulatedMedia",
			map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	}
	if err == nil {
		err = b.open(ctx, address)
	}
	if err != nil {
		return nil, err
	}
	time.Sleep(400 * time.Millisecond) // for the page's scripts: pictures prove nothing, tests do
	if err := b.quiet(); err != nil {
		return nil, err
	}
	var shot struct{ Data string }
	if err := b.do(ctx, "Page.captureScreenshot", map[string]any{"format": "png"}, &shot); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(shot.Data)
}

// quiet is an error if the browser complained about a page.
func (b *browser) quiet() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complaints) > 0 {
		return fmt.Errorf("the browser says: %s", b.complaints[0])
	}
	return nil
}
