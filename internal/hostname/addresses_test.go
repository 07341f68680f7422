package hostname_test

import (
	"net/netip"
	"testing"

	"interlock/internal/hostname"
)

func TestPublicAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"93.184.215.14": true, "8.8.8.8": true, "2606:4700:4700::1111": true, "::ffff:8.8.8.8": true,
		"127.0.0.1": false, "127.255.0.1": false, "0.0.0.0": false, "10.0.0.1": false, "100.64.0.1": false, "169.254.169.254": false,
		"172.16.0.1": false, "172.32.0.1": true, "192.168.1.1": false, "224.0.0.1": false, "255.255.255.255": false, "168.63.129.16": false,
		"::1": false, "::": false, "fe80::1": false, "fd00:ec2::254": false, "fc00::1": false, "ff02::1": false,
		"::ffff:127.0.0.1": false, "::ffff:169.254.169.254": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "2001:db8::1": false,
	} {
		if got := hostname.Public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	if hostname.Public(netip.Addr{}) || hostname.Public(netip.MustParseAddr("fe80::1%eth0")) {
		t.Error("no address, or one of an interface, is public")
	}
}
