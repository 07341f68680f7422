// Package aql holds a program against MCP-AQL, clause by clause, as package conform holds it against others: through MCP over standard
// streams and HTTP, and operators' commands, in throw-away homes.
//
// Start with client.go, which is a client of such a home; each other file is an area of the specification.
package aql
