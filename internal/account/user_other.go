//go:build !unix || darwin || ios

package account

import "strconv"

// A User is who another process runs as, as the system knows them.
type User struct {
	Name string // as [Name] would say in that process
	Home string // empty where the table of users has none
}

// Of names a user by number alone: no server is asked by other users on these systems.
func Of(uid int) User { return User{Name: "uid:" + strconv.Itoa(uid)} }
