package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"time"
)

// A browser is Chromium driven over WebDriver.
type browser struct {
	driver  *exec.Cmd
	base    string
	session string
}

func startBrowser(ctx context.Context, driver, home string) (*browser, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	b := &browser{driver: exec.CommandContext(ctx, driver, "--port="+strconv.Itoa(port)),
		base: "http://127.0.0.1:" + strconv.Itoa(port)}
	if err := b.driver.Start(); err != nil {
		return nil, fmt.Errorf("starting %s (Debian: chromium-driver): %w", driver, err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for {
		response, err := http.Get(b.base + "/status")
		if err == nil {
			response.Body.Close()
			break
		}
		if time.Now().After(deadline) {
			b.close()
			return nil, fmt.Errorf("%s does not answer: %w", driver, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	var made struct{ SessionID string }
	err = b.call(http.MethodPost, "/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"browserName": "chrome", "goog:loggingPrefs": map[string]string{"browser": "ALL"},
		"goog:chromeOptions": map[string]any{"args": []string{"--headless=new", "--no-sandbox", "--disable-gpu",
			"--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
			"--hide-scrollbars", "--user-data-dir=" + home + "/profile"}}}}}, &made)
	if err != nil {
		b.close()
		return nil, err
	}
	b.session = "/session/" + made.SessionID
	return b, nil
}

func (b *browser) close() {
	if b.session != "" {
		_ = b.call(http.MethodDelete, b.session, nil, nil)
	}
	_ = b.driver.Process.Kill()
	_ = b.driver.Wait()
}

// call sends one WebDriver command and decodes its value.
func (b *browser) call(method, path string, body, into any) error {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		reader = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, b.base+path, reader)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct{ Value json.RawMessage }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %.300s", path, answer.Value)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer.Value, into)
}

func (b *browser) open(address string) error {
	return b.call(http.MethodPost, b.session+"/url", map[string]any{"url": address}, nil)
}

func (b *browser) click(selector string) error {
	var element map[string]string
	if err := b.call(http.MethodPost, b.session+"/element", map[string]any{"using": "css selector", "value": selector},
		&element); err != nil {
		return err
	}
	for _, id := range element {
		return b.call(http.MethodPost, b.session+"/element/"+id+"/click", map[string]any{}, nil)
	}
	return fmt.Errorf("no element %s", selector)
}

// devtools sends one command of Chromium's own protocol.
func (b *browser) devtools(command string, parameters map[string]any, into any) error {
	return b.call(http.MethodPost, b.session+"/goog/cdp/execute", map[string]any{"cmd": command, "params": parameters}, into)
}

// picture opens an address and returns what the browser shows, as PNG.
func (b *browser) picture(address string, p picture) ([]byte, error) {
	scheme, scale := "light", 1.0
	if p.wide < 600 {
		scale = 1.5
	}
	if p.dark {
		scheme = "dark"
	}
	err := b.devtools("Emulation.setDeviceMetricsOverride",
		map[string]any{"width": p.wide, "height": p.high, "deviceScaleFactor": scale, "mobile": p.wide < 600}, nil)
	if err == nil {
		err = b.devtools("Emulation.setEmulatedMedia",
			map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	}
	if err == nil {
		err = b.open(address)
	}
	if err != nil {
		return nil, err
	}
	time.Sleep(400 * time.Millisecond) // for the page's scripts: pictures prove nothing, tests do
	if err := b.quiet(); err != nil {
		return nil, err
	}
	var shot struct{ Data string }
	if err := b.devtools("Page.captureScreenshot", map[string]any{"format": "png"}, &shot); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(shot.Data)
}

// quiet is an error if the browser complained about a page: a script or style it refused, a file it did not find.
func (b *browser) quiet() error {
	var entries []struct{ Level, Message string }
	if err := b.call(http.MethodPost, b.session+"/se/log", map[string]any{"type": "browser"}, &entries); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Level == "SEVERE" || e.Level == "WARNING" {
			return fmt.Errorf("the browser says: %s", e.Message)
		}
	}
	return nil
}
