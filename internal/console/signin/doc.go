// Package signin keeps who is signed in to the console, and what browsers are asked to have signed by a passkey. Both end with
// the process; no page is rendered here.
//
// Start with session.go.
package signin
