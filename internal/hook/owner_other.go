//go:build !unix

package hook

// ownSocket leaves it to the permissions of the user's own directories, which other users can't write here.
func ownSocket(string) error { return nil }
