// Package sse reads and writes server-sent events (WHATWG HTML 9.2), for those that have them: servers behind the gateway, its
// clients over HTTP, and the console's pages.
//
// It must never hold more of an event than its bound, and knows nothing of what an event says. Start with read.go.
package sse
