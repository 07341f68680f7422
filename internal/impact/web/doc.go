// Package web judges a request by its method, where it goes and what it carries, no matter who makes it: a client on a command
// line, a call in a program, the address argument of a tool, or an action of kind http.
//
// What a request changes follows from its method and its path: money that is charged, rights that are given, things that are
// deleted by an interface's name for them. Where it goes is judged by the host as a client would read it: spellings of an
// address (octal, whole numbers, wide letters) are undone first, and addresses that hand out the credentials of a machine are
// known. What it carries is searched for secrets; an address without a host name and other schemes are not sent anywhere
// silently.
package web
