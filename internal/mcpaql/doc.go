// Package mcpaql will be the door for agents that report what they intend: the MCP-AQL safety loop, with its operations,
// directives, danger levels, confirmation tokens and challenges, on standard input and output or over HTTP.
//
// It must never decide anything, and never show an agent a challenge code or let it confirm what it was stopped for.
//
// Nothing is here yet. No MCP server is offered.
package mcpaql
