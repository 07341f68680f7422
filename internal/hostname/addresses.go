package hostname

import "net/netip"

// inside are the ranges that are not the internet's: this machine, its networks, the addresses at which clouds tell their secrets,
// and what is no single public host.
var inside = []string{
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"168.63.129.16/32", // a cloud's own service behind a public address
	"::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16",
	"3fff::/20", "5f00::/16",
	"fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
}

// Public reports whether an address is one of the internet's: where what a stranger named may be looked for. An address in
// another's clothes, such as IPv4 in IPv6, is looked at as what it is.
func Public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	for _, text := range inside {
		if netip.MustParsePrefix(text).Contains(a) {
			return false
		}
	}
	return true
}
