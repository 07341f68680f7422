// Package webpush tells operators through their browsers: Web Push (RFC 8030), with messages that only the browser can read (RFC 8291)
// and a sender whom the push service knows by his key (RFC 8292).
//
// A push service is a stranger's server whose address comes from a browser. So it is spoken to over TLS alone, at public addresses unless
// the settings name it, without redirects, and nothing it says is repeated. A message names a request and why it is asked about, and
// carries no code, no command and no secret; it proves nothing and answers nothing.
//
// Start with sender.go, which knows who is told; seal.go encrypts, vapid.go signs, client.go sends.
package webpush
