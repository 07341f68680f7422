// Package account names the operating-system user this process runs as. The user an agent acts for is named by the system and
// never by the environment, which the agent may change: blocks, approvals and grants are bound to the name.
//
// It must stay cheap to link and to run, because every call of a hook asks it, and must give the same name in every program
// of Interlock however that was built. Start with [Name].
package account

import (
	"os"
	"strconv"
)

// Name returns the user's login name as the system knows it, or uid:N for a user the system has no name for. On Linux and
// the like that is the name in /etc/passwd: users of a directory service are named by their number there, since asking such
// a service takes a C library or another process. It is never empty.
func Name() string {
	if name := named(os.Getuid()); name != "" {
		return name
	}
	return "uid:" + strconv.Itoa(os.Getuid())
}
