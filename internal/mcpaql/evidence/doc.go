// Package evidence asks a running MCP-AQL server, as any client would, for everything the specification's conformance runner
// wants to see, and puts the answers into the bundle that the runner reads (MCP-AQL 10, conformance testing 3). It must never
// make an answer up: what is in a bundle is what the server said, and what could be asked is never assumed. It knows the
// protocol and nothing of the server's inside. Start with bundle.go; collect.go asks.
package evidence
