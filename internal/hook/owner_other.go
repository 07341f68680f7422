//go:build !unix

package hook

import "errors"

// ownSocket leaves it to the permissions of the user's own directories, which other users can't write here.
func ownSocket(string) error { return nil }

// systemSocket: there is no server of the system's here.
func systemSocket(string) (int, error) {
	return 0, errors.New("a server of the system's is known on Linux only")
}
