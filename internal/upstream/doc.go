// Package upstream reaches the MCP servers that stand behind the gateway: a program it starts and speaks to over pipes, or an
// address it speaks streamable HTTP with. It carries whole JSON-RPC messages and knows as little of MCP as that needs.
//
// It must never send a message on its own account, send one twice, or send another form of it than it was given; and it must
// never let a secret of a server's settings into a log, an error, an identity or a message from the server. MCP's handshake is
// the gateway's to make.
//
// What the caller of a [Link] has to know:
//
//   - Send may be called by many goroutines at once. To a program it returns when the message is written. Over HTTP a request is
//     an exchange: Send lasts until its answer has been handed to Receive, so call it from the goroutine that waits for the
//     answer, holding no lock. Its context ends the exchange.
//   - An error of Send that is [io.ErrUnexpectedEOF] says that the message was, or may have been, delivered and that no answer
//     will come: the outcome is unknown. Every other error is an [*interlock.Error] and says that it was not delivered:
//     CodeUnavailable, the server can't be reached or is being left alone for a while; CodeUnauthorized, CodeLimited or
//     CodeInvalid, an HTTP server refused it.
//   - Receive ends with [io.EOF] when the connection is gone, for whatever reason: what was pending has an unknown outcome. Dial
//     again; Dial refuses with CodeUnavailable while the server is backing off.
//   - An answer over the size bound is read, dropped and replaced by a JSON-RPC error with its id. So is a secret of the server's
//     settings in a message: by "[redacted]".
//
// Start with server.go; stdio.go and http.go are the two kinds of link, reference.go says where secrets come from.
package upstream
