package quorum

import (
	"strings"

	"interlock"
)

// What an answer or an order was proved by, as far as anybody can tell who checks it.
const (
	ProvesPerson = "person" // a passkey whose device saw its user, or a security key that was touched
	ProvesKey    = "key"    // an SSH key in software: anyone who can use the key
	ProvesServer = "server" // the server's word, for a session or a code
)

// Proves says what a proof by a method proves. An SSH key of a security key's type signs only when it is touched, which the
// signature says and is checked.
func Proves(operator interlock.OperatorRecord, method string) string {
	switch method {
	case interlock.MethodPasskey:
		return ProvesPerson
	case interlock.MethodSSH, "":
		if strings.HasPrefix(operator.SSHKey, "sk-") {
			return ProvesPerson
		}
		return ProvesKey
	}
	return ProvesServer
}
