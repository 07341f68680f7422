// Package upstream reaches the MCP servers that stand behind the gateway: a program it starts and speaks to over pipes, or an
// address it speaks streamable HTTP with. It carries whole JSON-RPC messages and knows as little of MCP as that needs.
//
// It must never send a message on its own account, send one twice, or send another form of it than it was given; and it must
// never let a secret of a server's settings into a log, an error, an identity or a message from the server. MCP's handshake is
// the gateway's to make.
//
// What the caller of a [Link] has to know:
//
//   - Send may be called by many goroutines at once. It returns when the message is written; over HTTP a notification or an
//     answer is waited for until the server has taken it, so that what is sent next comes next. The context of a request's Send
//     ends the exchange over HTTP: cancel it when nobody waits for the answer any more, and no earlier.
//   - An error of Send that is [io.ErrUnexpectedEOF] says that the message was, or may have been, delivered. Every other error
//     is an [*interlock.Error] and says that it was not: CodeUnavailable, the server can't be reached or is being left alone
//     for a while; CodeUnauthorized, CodeLimited or CodeInvalid, an HTTP server refused it.
//   - A request whose Send succeeded is answered by Receive, or the link ends. Where HTTP lost the answer and nobody can say
//     what came of the request, it is answered with its id and neither result nor error. Where the HTTP server refused it
//     before its MCP server saw it, it is answered with the JSON-RPC error -32000.
//   - Receive ends with [io.EOF] when the connection is gone, for whatever reason: what was pending has an unknown outcome. Dial
//     again; Dial refuses with CodeUnavailable while the server is backing off.
//   - An answer over the size bound is read, dropped and replaced by a JSON-RPC error with its id. So is a secret of the server's
//     settings in a message: by "[redacted]".
//
// Both links are our own and not the SDK's client transports, which decode and encode every message: in one run on one machine a
// call of 250 bytes and its answer took 15 µs of processor time and 0.6 KB of memory over pipes against 120 µs and
// 167 KB, and 70 µs and 12 KB over HTTP, the server included, against 150 µs and 143 KB; see bench_test.go.
//
// Start with server.go; stdio.go and http.go are the two kinds of link, reference.go says where secrets come from.
package upstream
