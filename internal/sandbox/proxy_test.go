package sandbox

import (
	"net/netip"
	"strings"
	"testing"
)

// Property: what is taken is a name that no resolver reads as an address, in one spelling, with a port that exists.
func FuzzTarget(f *testing.F) {
	for _, seed := range []string{"example.com:443", "EXAMPLE.com.:8443", "127.0.0.1:80", "[::1]:80", "0x7f.1:80",
		"2130706433:80", "a:b:c", ":443", "x:0", "x:65536", "a b:1", "1.2.3.4.:80", "x.0x7f:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, target string) {
		host, port, err := splitTarget(target)
		if err != nil {
			return
		}
		if _, err := netip.ParseAddr(host); err == nil || port < 1 || port > 65535 || host != strings.ToLower(host) ||
			strings.ContainsAny(host, " \r\n\t/@:%") {
			t.Errorf("%q was taken as %q, port %d", target, host, port)
		}
		labels := strings.Split(host, ".")
		if last := labels[len(labels)-1]; last == "" || last[0] >= '0' && last[0] <= '9' && strings.Trim(last, "0123456789") == "" {
			t.Errorf("%q ends like an address", host)
		}
	})
}
