//go:build !unix || darwin || ios

package account

import "os/user"

// named asks the system: the directory of macOS, the access token of Windows. Neither looks at the environment.
func named(int) string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
