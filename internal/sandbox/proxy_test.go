package sandbox

import (
	"net/netip"
	"strings"
	"testing"
)

func TestPublicAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"93.184.215.14": true, "8.8.8.8": true, "2606:4700:4700::1111": true, "::ffff:8.8.8.8": true,
		"127.0.0.1": false, "127.255.0.1": false, "0.0.0.0": false, "10.0.0.1": false, "100.64.0.1": false, "169.254.169.254": false,
		"172.16.0.1": false, "172.32.0.1": true, "192.168.1.1": false, "224.0.0.1": false, "255.255.255.255": false, "168.63.129.16": false,
		"::1": false, "::": false, "fe80::1": false, "fd00:ec2::254": false, "fc00::1": false, "ff02::1": false,
		"::ffff:127.0.0.1": false, "::ffff:169.254.169.254": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "2001:db8::1": false,
	} {
		if got := public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	if public(netip.Addr{}) || public(netip.MustParseAddr("fe80::1%eth0")) {
		t.Error("no address, or one of an interface, is public")
	}
}

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
