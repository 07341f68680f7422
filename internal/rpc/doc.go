// Package rpc is JSON-RPC 2.0 as every door and link of MCP speaks it: one strict reader and one writer of messages, what looks
// into a message without building anything from it, and lines of bounded length.
//
// A message is read once; its parts are pieces of the text as it was sent, and what passes one on writes it again. The package
// decides nothing, waits for nobody and knows no method. Start with envelope.go; scan.go checks the text, line.go finds where
// a message ends.
package rpc
