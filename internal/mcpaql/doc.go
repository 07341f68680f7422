// Package mcpaql is the door for agents that report what they intend: the MCP-AQL execution safety loop, served over the
// Model Context Protocol on standard input and output or over HTTP. An agent starts an execution, reports each action
// before it acts, and receives a directive: go on, wait for a human, or stop.
//
// It must never decide anything, and never show an agent a challenge code or let it confirm what it was stopped for. A
// reported step becomes an [interlock.Proposal]; what comes back as an [interlock.Answer] is put into the protocol's words
// by directive.go, which holds the one table for that.
//
// What is kept here is kept in memory and ends with the process: executions (execution.go) and confirmation tokens
// (token.go). Both belong to the agent's credential and never to a protocol session; blocks, challenges and approvals are
// admission's and outlive the process.
//
// Start with server.go for the shape and operations.go for what can be asked; docs/mcp.md is the reference.
package mcpaql
