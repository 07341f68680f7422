// Package console is the door for people: pages in the browser where operators see what is pending, answer it with a
// passkey, look through the log and give standing orders.
//
// It decides nothing: every answer, order and grant is signed here and counted by package quorum behind the Backend. It
// can't be reached with an agent's credential: a bearer token is refused everywhere and its use recorded. It never shows an
// approver less than what is going to be signed. It works without script for everything but passkeys, and keeps no state
// that a restart would lose beside sessions, which end with the process.
//
// Start with console.go for what every request passes through; session.go, csrf.go and login.go are who is there,
// approve.go is what they are there for, rights.go is who may see and order what, and the other files are a page each.
// Agents' words reach a template only as pieces (layout.go) or through html/template's own escaping.
package console
