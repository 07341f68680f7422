//go:build unix && !darwin && !ios

package account

import (
	"bytes"
	"os"
	"path"
	"strconv"
)

// A User is who another process runs as, as the system knows them.
type User struct {
	Name string // as [Name] would say in that process
	Home string // empty where the table of users has none
}

// Of looks up a user by number. It is for servers that other users ask: the kernel tells the number of who asks.
func Of(uid int) User {
	user := User{Name: "uid:" + strconv.Itoa(uid)}
	table, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return user
	}
	name := nameIn(table, uid)
	if name == "" {
		return user
	}
	return User{Name: name, Home: homeIn(table, name)}
}

// homeIn returns the home directory of the first user of that name in a table as passwd(5) has it, or nothing.
func homeIn(table []byte, name string) string {
	for line := range bytes.Lines(table) {
		fields := bytes.Split(bytes.TrimRight(line, "\n"), []byte(":"))
		if len(fields) < 6 || string(fields[0]) != name {
			continue
		}
		if home := string(fields[5]); path.IsAbs(home) && path.Clean(home) != "/" {
			return path.Clean(home)
		}
		return ""
	}
	return ""
}
