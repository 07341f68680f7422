// Package clients holds tests that drive the built program's MCP server with clients others wrote: the MCP Inspector's command
// line and the protocol's conformance suite, as package.json pins them, and the Go SDK at both revisions of the
// protocol. Two of them play agents that mean harm or meet it: one that was stopped and tries to escape, several
// whose server is killed. Two servers that others wrote are reached directly and through the gateway, which must make
// no difference. There is nothing to import. `make setup` installs what the tests need; without it they fail and say
// so.
package clients
