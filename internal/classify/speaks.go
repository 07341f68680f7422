package classify

import (
	"interlock/internal/personal"
	"interlock/internal/secret"
)

// Speaks reports whether a name says of a value what it is, so that the value is looked at with it: of a password, an account, a birth.
func Speaks(name string) bool { return secret.Speaks(name) || personal.Speaks(name) }
