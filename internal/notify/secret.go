package notify

import (
	"strings"

	"interlock"
	"interlock/internal/fileio"
	"interlock/internal/notice"
)

// maxSecret bounds what is read of a secret's file, in bytes.
const maxSecret = 8 << 10

// secret resolves a reference, env:NAME, file:PATH or credential:NAME. A secret that is in the settings itself is refused:
// settings are shown, copied and kept in repositories.
func secret(field, reference string, getenv func(string) string) (notice.Secret, error) {
	kind, name, _ := strings.Cut(reference, ":")
	switch {
	case kind == "env" && name != "":
		if value := getenv(name); value != "" {
			return notice.Secret(value), nil
		}
		return "", interlock.Errorf(interlock.CodeInvalid, field, "the environment variable %.60q is not set", name)
	case kind == "file" && name != "":
		return secretFile(field, name)
	case kind == "credential" && name != "":
		text, err := fileio.Credential(getenv, name, maxSecret)
		return found(field, "credential", text, err)
	default:
		return "", interlock.Errorf(interlock.CodeInvalid, field,
			"must be a reference, env:NAME, file:PATH or credential:NAME; a secret does not stand in the settings")
	}
}

func secretFile(field, path string) (notice.Secret, error) {
	text, err := fileio.Own(path, maxSecret, fileio.Secret)
	return found(field, "file", text, err)
}

// found is a secret that was read, or why there is none.
func found(field, what string, text []byte, err error) (notice.Secret, error) {
	value := strings.TrimSpace(string(text))
	switch {
	case err != nil:
		return "", interlock.Errorf(interlock.CodeInvalid, field, "the %s of the secret can't be used: %s", what, fileio.Reason(err))
	case value == "":
		return "", interlock.Errorf(interlock.CodeInvalid, field, "the %s of the secret is empty", what)
	}
	return notice.Secret(value), nil
}

// isReference reports whether a setting that may be plain is a reference.
func isReference(value string) bool {
	return strings.HasPrefix(value, "env:") || strings.HasPrefix(value, "file:") || strings.HasPrefix(value, "credential:")
}
