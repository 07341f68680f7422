//go:build unix && !darwin && !ios

package account

import (
	"bytes"
	"os"
	"strconv"
)

// named reads /etc/passwd itself: os/user does so, too, if it was built without a C library, and then believes USER where it
// finds nothing.
func named(uid int) string {
	table, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return ""
	}
	return nameIn(table, uid)
}

// nameIn returns the name of the first user with that number in a table as passwd(5) has it, or nothing.
func nameIn(table []byte, uid int) string {
	want := strconv.Itoa(uid)
	for len(table) > 0 {
		var line []byte
		line, table, _ = bytes.Cut(table, []byte("\n"))
		name, rest, _ := bytes.Cut(line, []byte(":"))
		_, rest, _ = bytes.Cut(rest, []byte(":"))
		number, _, ok := bytes.Cut(rest, []byte(":"))
		if ok && string(number) == want && len(name) > 0 && name[0] != '+' && name[0] != '-' && name[0] != '#' {
			return string(name)
		}
	}
	return ""
}
