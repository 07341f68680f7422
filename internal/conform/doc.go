// Package conform holds a program against MASO Execution Control, clause by clause, by driving it: throw-away homes with a server,
// agents with real tokens, operators with keys of their own, hooks, gateways and sandboxes. It sees what an agent, an operator or an
// observer sees, and calls nothing inside.
//
// A check is one entry of a table, in the file of its area: which clauses it is about, what it drives, and a function. Start with
// check.go; house.go makes homes, doors.go is what can be done in them.
package conform
