// Package mcpgateway will be the door that stands in front of real MCP servers and lets no call through that was not
// decided, whether the agent cooperates or not.
//
// It must never decide anything itself, never answer for a server, and never forward bytes it did not judge.
//
// Nothing is here yet. No gateway is offered.
package mcpgateway
