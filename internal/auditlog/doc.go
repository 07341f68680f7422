// Package auditlog is the format and the mathematics of Interlock's tamper-evident log: how an event becomes bytes, how
// bytes become a leaf of an RFC 6962 tree, how a signed checkpoint covers them, and how anybody checks all of it offline.
package auditlog
