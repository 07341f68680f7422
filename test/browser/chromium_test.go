package browser_test

import (
	"testing"

	"interlock/test/chromium"
)

// startChromium starts a browser that ends with the test.
func startChromium(t *testing.T, more ...string) *chromium.Browser {
	t.Helper()
	b, err := chromium.Start(more...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil && t.Failed() {
			t.Log(err)
		}
	})
	return b
}
