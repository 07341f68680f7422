// Package console will be the door for people: a page in the browser where operators see what is pending, answer it with a
// passkey, look through the log and give standing orders.
//
// It must never decide anything, never be reachable with an agent's credential, and never show an approver less than what
// is going to be signed.
//
// Nothing is here yet. People use the command line.
package console
