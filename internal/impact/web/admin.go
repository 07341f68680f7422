package web

import (
	"strings"
)

// Administers reports whether the path of a URL is one by which services that follow the common interface of search engines
// are closed, shut down or set up again, rather than asked or fed.
func Administers(url string) bool {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		rest = url
	}
	_, path, _ := strings.Cut(rest, "/")
	path, _, _ = strings.Cut(strings.ToLower(path), "?")
	path = "/" + strings.TrimSuffix(path, "/")
	for _, end := range [...]string{"/_close", "/_shutdown", "/_cluster/settings", "/_cluster/reroute", "/_restore", "/_rollover",
		"/_shrink", "/_freeze", "/_unfollow", "/_plugins/_security/api/internalusers"} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
}
