// Package call reads calls of tools: those of MCP servers and of coding agents, file operations, patches, and requests.
//
// A tool's name is split into words, and its verb says what it does as far as a name can; what the server says of the tool may
// raise that and never lower it. Every argument is then judged as what it is, by its key and by what it looks like: a command
// line, code, SQL, a path, an address, a recipient, an amount. Coding agents' own tools (a shell, an editor, a fetcher) are
// handed to the reader of what they carry.
//
// A file operation is judged by its path and by what is written: a file that some program runs by itself is read as that
// program would read it. A patch is a file operation for each file it changes.
package call
