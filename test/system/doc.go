// Package system tries the server under a user of its own with the users of a real system: what another user can read of it, what that
// user can ask of it, and in whose name. It needs root, to be those users.
package system
