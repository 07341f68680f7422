package impact

import "strings"

// deceptive reports whether a URL has a sign of having been put up to do harm: names that look made up by a machine where
// people choose readable ones, or, on hosting that anybody may use under its owner's name, a page that calls itself
// harmful or carries the name of another host.
func deceptive(url, host string, table *pathTable) bool {
	if host == "" || len(url) > 4096 {
		return false
	}
	labels := strings.Split(host, ".")
	if n := len(labels); n >= 3 && labels[n-1] != "internal" && randomName(labels[n-2]) && randomName(labels[n-3]) {
		return true
	}
	if !sharedHosting(host, table) {
		return false
	}
	page := strings.TrimPrefix(pathOf(url), "/")
	for page != "" {
		part, rest, _ := strings.Cut(page, "/")
		page = rest
		stem := strings.ToLower(part)
		for _, ending := range [...]string{".html", ".htm", ".php", ".asp", ".aspx"} {
			stem = strings.TrimSuffix(stem, ending)
		}
		if table.harmful[strings.TrimRight(stem, "0123456789-_")] {
			return true
		}
		if names := strings.Split(stem, "."); len(names) >= 3 && len(stem) < len(part) {
			for _, name := range names[:len(names)-1] {
				if randomName(name) {
					return true
				}
			}
		}
	}
	return false
}

// sharedHosting reports whether anybody may open a page under a host's last labels.
func sharedHosting(host string, table *pathTable) bool {
	host = strings.ToLower(host)
	for i := strings.IndexByte(host, '.'); i >= 0; {
		if table.hosting[host[i+1:]] {
			return true
		}
		next := strings.IndexByte(host[i+1:], '.')
		if next < 0 {
			return false
		}
		i += next + 1
	}
	return false
}

// randomName reports whether a name looks made up by a machine: letters on both sides of digits, or no vowel among many
// letters, or five consonants and more in a row beside digits.
func randomName(name string) bool {
	if len(name) < 5 || len(name) > 40 || strings.Contains(name, "--") {
		return false
	}
	vowels, letters, digits, run, longest := 0, 0, 0, 0, 0
	before, between := false, false
	for i := 0; i < len(name); i++ {
		switch c := name[i] | 0x20; {
		case name[i] >= '0' && name[i] <= '9':
			digits++
			before = letters > 0
			run = 0
		case c >= 'a' && c <= 'z':
			between = between || before && digits > 0
			letters++
			if strings.IndexByte("aeiouy", c) >= 0 {
				vowels, run = vowels+1, 0
			} else {
				run++
				longest = max(longest, run)
			}
		default:
			return false
		}
	}
	switch {
	case digits > 0 && between && vowels <= letters/3:
		return true
	case digits == 0:
		return letters >= 6 && vowels == 0
	}
	return digits > 0 && longest >= 5
}
