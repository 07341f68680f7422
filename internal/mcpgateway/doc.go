// Package mcpgateway is the door between MCP clients and their real servers, and lets no call through that was
// not decided, whether the agent cooperates or not.
//
// What travels is JSON-RPC envelopes. A message is decoded once, strictly; a call becomes a proposal over the canonical form
// of its arguments; only an Allow with a durable event is forwarded, in exactly the form that was judged, once; and how it
// ended is reported under the same attempt id. Towards the client there is one server with the union of what its servers
// offer, under names "server.tool".
//
// It must never decide anything itself, never answer for a server, never forward bytes it did not judge, and never repeat a
// call whose outcome it does not know. Start with ports.go, which says what it needs of others; package rpc reads messages,
// session.go is one client's session, mount.go one server in it, call.go what happens to a tool call.
package mcpgateway
