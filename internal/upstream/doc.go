// Package upstream will speak to the MCP servers that stand behind the gateway: start or reach them, list their tools, pin
// the digest of each tool's definition, and forward exactly the call that was decided.
//
// It must never forward a call that was not decided, or another form of it than the one that was, and it must never take
// a server's word about how harmless a tool is.
//
// Nothing is here yet. No call is forwarded to any server.
package upstream
