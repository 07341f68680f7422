package console

import (
	"testing"

	"interlock/internal/console/signin"
)

func TestBrowserName(t *testing.T) {
	const kit, safari = "AppleWebKit/537.36 (KHTML, like Gecko) ", "AppleWebKit/605.1.15 (KHTML, like Gecko) "
	for _, test := range [][2]string{
		{"Chrome 156 on Linux", "Mozilla/5.0 (X11; Linux x86_64) " + kit + "Chrome/156.0.0.0 Safari/537.36"},
		{"Edge 156 on Windows", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + kit + "Chrome/156.0.0.0 Safari/537.36 Edg/156.0.0.0"},
		{"Safari 19 on a Mac", "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) " + safari + "Version/19.1 Safari/605.1.15"},
		{"Safari 19 on an iPhone", "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) " + safari + "Version/19.0 Mobile Safari/604.1"},
		{"Firefox 150 on Android", "Mozilla/5.0 (Android 16; Mobile; rv:150.0) Gecko/150.0 Firefox/150.0"},
		{"TestBrowser/1.0", "TestBrowser/1.0"},
		{"a browser without a name", ""},
	} {
		if got := signin.BrowserName(test[1]); got != test[0] {
			t.Errorf("%s\nis called %q, want %q", test[1], got, test[0])
		}
	}
}
