package upstream

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/fileio"
	"interlock/internal/notice"
)

// A reference says where a secret is instead of what it is:
//
//	env:NAME                   an environment variable of Interlock's own process
//	file:PATH                  the contents of a file, without the line end; "~/" is the user's home
//	keyring:SERVICE/ACCOUNT    the keyring of the system
//	credential:NAME            what systemd handed to this process under that name (LoadCredential=)
//
// "Bearer " may stand before one, because headers want it so, and "secret:" must where it is an argument. A text that is none and
// looks like one, as file:/data.db does, is written with "text:" before it. References are followed when a server is dialed and
// no earlier.
const (
	bearer    = "Bearer "
	argSecret = "secret:"
	literal   = "text:"
)

// maxSecret bounds what is read of a secret's file, in bytes.
const maxSecret = 64 << 10

// asReference splits a value into the kind of its reference and what it names.
func asReference(value string) (kind, name string, is bool) {
	kind, name, is = strings.Cut(strings.TrimPrefix(value, bearer), ":")
	return kind, name, is && (kind == "env" || kind == "file" || kind == "keyring" || kind == "credential")
}

// LooksReference reports whether a text would be taken for a reference, or for a text written as one is.
func LooksReference(value string) bool {
	_, _, is := asReference(value)
	return is || strings.HasPrefix(value, literal)
}

// checkReference says what is wrong with a reference as it is written.
func checkReference(field, value string) error {
	kind, name, _ := asReference(value)
	switch kind {
	case "env":
		if name == "" || strings.ContainsAny(name, "= \x00") {
			return invalid(field, "must name an environment variable after env:")
		}
	case "file":
		if !filepath.IsAbs(name) && !strings.HasPrefix(name, "~/") {
			return invalid(field, "must name an absolute path after file:, or one that begins with ~/")
		}
	case "credential":
		if !fileio.CredentialName(name) {
			return invalid(field, "must name a credential after credential:, in letters, digits, dots, _ and -")
		}
	default:
		service, account, ok := strings.Cut(name, "/")
		if !ok || service == "" || account == "" {
			return invalid(field, "must name SERVICE/ACCOUNT after keyring:")
		}
	}
	return nil
}

// Secret follows a reference to a secret that is no server's; field names where it is, for errors.
func Secret(getenv func(string) string, field, value string) (notice.Secret, error) {
	if _, _, is := asReference(value); !is {
		return "", interlock.Errorf(interlock.CodeInvalid, field, "must be a reference: env:NAME, file:PATH, keyring:SERVICE/ACCOUNT or credential:NAME")
	}
	if err := checkReference(field, value); err != nil {
		return "", err
	}
	_, hidden, err := Options{Getenv: getenv}.resolve(field, value)
	return hidden, err
}

// resolve returns a value as the server is to see it, and the secret in it, if it is a reference.
func (o Options) resolve(field, value string) (text string, hidden notice.Secret, err error) {
	kind, name, is := asReference(value)
	if !is {
		return strings.TrimPrefix(value, literal), "", nil
	}
	var found string
	switch kind {
	case "env":
		if found = o.Getenv(name); found == "" {
			return "", "", interlock.Errorf(interlock.CodeUnavailable, field,
				"the environment variable %.60q is not set for the gateway", name)
		}
	case "file":
		if found, err = o.secretFile(field, name); err != nil {
			return "", "", err
		}
	case "credential":
		text, err := fileio.Credential(o.Getenv, name, maxSecret)
		if found = strings.TrimRight(string(text), "\r\n"); err == nil && found == "" {
			err = errors.New("it is empty")
		}
		if err != nil {
			return "", "", interlock.Errorf(interlock.CodeUnavailable, field, "the credential can't be used: %s", fileio.Reason(err))
		}
	default:
		service, account, _ := strings.Cut(name, "/")
		if found, err = o.Keyring(service, account); err != nil || found == "" { // its words may quote what it holds
			return "", "", interlock.Errorf(interlock.CodeUnavailable, field,
				"the system's keyring has no secret %.60q of %.60q, or is locked", account, service)
		}
	}
	if strings.ContainsAny(found, "\x00\r\n") && (strings.HasPrefix(field, "headers.") || strings.ContainsRune(found, 0)) {
		return "", "", interlock.Errorf(interlock.CodeInvalid, field, "the secret holds a character that can't be sent")
	}
	if strings.HasPrefix(value, bearer) {
		return bearer + found, notice.Secret(found), nil
	}
	return found, notice.Secret(found), nil
}

func (o Options) secretFile(field, path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", interlock.Errorf(interlock.CodeUnavailable, field, "this user has no home directory")
		}
		path = filepath.Join(home, rest)
	}
	text, err := fileio.Own(path, maxSecret, fileio.Secret)
	value := strings.TrimRight(string(text), "\r\n")
	switch {
	case fileio.IsOpen(err) || errors.Is(err, fileio.ErrKind):
		return "", interlock.Errorf(interlock.CodeUnavailable, field,
			"the file of the secret must be a plain file that nobody else can read; set its mode to 0600")
	case err != nil:
		return "", interlock.Errorf(interlock.CodeUnavailable, field, "the file of the secret can't be used: %s", fileio.Reason(err))
	case value == "":
		return "", interlock.Errorf(interlock.CodeUnavailable, field, "the file of the secret is empty")
	}
	return value, nil
}

// resolveAll resolves a map of values and returns the secrets among them.
func (o Options) resolveAll(prefix string, values map[string]string) (map[string]string, []notice.Secret, error) {
	resolved := make(map[string]string, len(values))
	var secrets []notice.Secret
	for _, name := range slices.Sorted(maps.Keys(values)) {
		text, hidden, err := o.resolve(prefix+name, values[name])
		if err != nil {
			return nil, nil, err
		}
		resolved[name] = text
		if hidden != "" {
			secrets = append(secrets, hidden)
		}
	}
	return resolved, secrets, nil
}

// resolveArgs resolves those arguments that are references.
func (o Options) resolveArgs(args []string) ([]string, []notice.Secret, error) {
	resolved := make([]string, len(args))
	var secrets []notice.Secret
	for i, arg := range args {
		reference, is := strings.CutPrefix(arg, argSecret)
		if !is {
			resolved[i] = arg
			continue
		}
		text, hidden, err := o.resolve("args", reference)
		if err != nil {
			return nil, nil, err
		}
		resolved[i] = text
		secrets = append(secrets, hidden)
	}
	return resolved, secrets, nil
}
