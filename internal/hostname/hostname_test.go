package hostname_test

import (
	"testing"

	"interlock/internal/hostname"
)

func TestNames(t *testing.T) {
	names := hostname.New("Tools.Internal", "app.example.com:8443")
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.0.0.1:7433": true, "localhost": true, "LocalHost:1": true, "::1": true, "[::1]": true, "[::1]:7433": true,
		"tools.internal": true, "TOOLS.internal:99": true, "app.example.com:8443": true, "APP.example.com:8443": true,
		"app.example.com": false, "app.example.com:8444": false, "evil.example": false, "localhost.evil.example": false,
		"127.0.0.1.evil.example": false, "evil.example:127": false, "localhost:1:2": false, "127.0.0.2": false, "tools.internal.": false,
	} {
		if got := names.Has(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
	var none hostname.Names
	if none.Has("tools.internal") || none.Has("") || !none.Has("localhost:7433") {
		t.Error("no names but loopback's, and those always")
	}
}
