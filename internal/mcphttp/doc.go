// Package mcphttp serves a gateway's clients over streamable HTTP: sessions with an id until revision 2025-11-25, requests that
// stand for themselves from 2026-07-28 on.
//
// It establishes who calls, keeps bounds on connections, requests, sessions and what waits for a slow reader, and carries
// messages and streams that a client can come back to. What a message does is the gateway's: to this package a session is what
// takes a message and answers it (conversation, in front.go).
//
// It must never decide anything, let a message through under headers that say something else, pass a header on to a server,
// or show one agent what belongs to another. Start with front.go; post.go takes a message, reply.go answers it; session.go,
// resume.go and stream.go are a client's streams.
package mcphttp
