package upstream

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zalando/go-keyring"

	"interlock"
	"interlock/internal/secret"
)

// The defaults of a [Config], and the longest name.
const (
	DefaultMaxMessage = 16 << 20
	DefaultConnect    = 10 * time.Second
	DefaultStop       = 2 * time.Second
	MaxName           = 64
)

// Config describes one server: a Command or a URL. Values of Env and Headers may be references to secrets, see reference.go.
type Config struct {
	Name string // 1 to 64 of A-Z, a-z, 0-9, _ and -

	Command string            // a program, by path or by a name that is looked for in PATH
	Args    []string          // its arguments
	Env     map[string]string // set beside the few variables every program gets, see environment.go
	Dir     string            // working directory; absolute; empty: this process's

	URL     string            // https://…, or http://… to a loopback address
	Headers map[string]string // sent with every request
	CA      string            // file of further authorities, PEM, for servers with a certificate of one's own

	Connect    time.Duration // to reach an HTTP server; default 10 s
	Stop       time.Duration // a program gets to exit after each of: end of its input, a signal; default 2 s
	MaxMessage int           // bytes of one message; default 16 MiB
}

// Options are what a server needs of the world. The zero value is the real one.
type Options struct {
	Getenv  func(name string) string
	Keyring func(service, account string) (string, error)
	Now     func() time.Time
	Random  func() float64               // from 0 up to 1; spreads restarts
	Log     func(server, line string)    // takes what a program writes to its error output, redacted; default: nowhere
	Trust   func(client *http.Transport) // for tests: whom to trust beside the system's authorities
}

func (o Options) withDefaults() Options {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Keyring == nil {
		o.Keyring = keyring.Get
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = fraction
	}
	if o.Log == nil {
		o.Log = func(string, string) {}
	}
	return o
}

// fraction is a random number from 0 up to 1. A system without randomness spreads nothing.
func fraction() float64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, see its documentation
	return float64(binary.LittleEndian.Uint64(b[:])>>11) / (1 << 53)
}

// Check says what is wrong with a server's settings, naming the field. It reads nothing: that a reference leads to a secret is
// found out when the server is dialed.
func (c Config) Check() error {
	if !ValidName(c.Name) {
		return invalid("name", "%.80q is no name of a server; use 1 to %d letters, digits, _ and -", c.Name, MaxName)
	}
	switch {
	case c.Command == "" && c.URL == "":
		return invalid("command", "is missing; name the program of the server, or its url")
	case c.Command != "" && c.URL != "":
		return invalid("url", "can't stand beside command; a server is a program or an address")
	case c.Connect < 0 || c.Stop < 0 || c.MaxMessage < 0:
		return invalid("timeouts", "durations and bounds can't be negative")
	case c.Command != "":
		return c.checkProgram()
	default:
		return c.checkAddress()
	}
}

// ValidName reports whether a server may be called so.
func ValidName(name string) bool {
	return name != "" && len(name) <= MaxName &&
		strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

func (c Config) checkProgram() error {
	switch {
	case len(c.Headers) > 0:
		return invalid("headers", "belong to a server with a url")
	case c.CA != "":
		return invalid("ca", "belongs to a server with a url")
	case strings.ContainsRune(c.Command, 0):
		return invalid("command", "holds a NUL byte")
	case c.Dir == "" && !filepath.IsAbs(c.Command) && strings.ContainsAny(c.Command, `/\`):
		return invalid("command", "is a relative path, and what that leads to depends on where the gateway is started; write an absolute one, or set dir")
	case c.Dir != "" && !filepath.IsAbs(c.Dir):
		return invalid("dir", "must be an absolute path")
	}
	for _, arg := range c.Args {
		if strings.ContainsRune(arg, 0) {
			return invalid("args", "hold a NUL byte")
		}
		if reference, is := strings.CutPrefix(arg, argSecret); is {
			if err := checkReference("args", reference); err != nil {
				return err
			}
		}
	}
	if i := SecretArg(c.Args); i >= 0 {
		return invalid("args", "number %d looks like a secret, and every program of this machine can read arguments; "+
			"hand it over in env, as a reference, or if it must be an argument, as secret:file:PATH", i+1)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return invalid("env", "%.80q is no name of an environment variable", name)
		}
		if err := checkValue("env."+name, name, c.Env[name]); err != nil {
			return err
		}
	}
	return nil
}

func (c Config) checkAddress() error {
	switch {
	case len(c.Args) > 0 || len(c.Env) > 0 || c.Dir != "":
		return invalid("url", "can't stand beside args, env or dir; those belong to a server with a command")
	}
	address, err := url.Parse(c.URL)
	switch {
	case err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http":
		return invalid("url", "is no address such as https://example.com/mcp")
	case address.User != nil:
		return invalid("url", "holds a user or a password; put them into headers, as a reference")
	case address.Fragment != "":
		return invalid("url", "can't have a fragment")
	case address.Scheme == "http" && !loopback(address.Hostname()):
		return invalid("url", "would send everything in the clear; use https, or http to this machine only")
	case looksSecret("", c.URL):
		return invalid("url", "holds what looks like a secret; put it into headers, as a reference")
	}
	for name, values := range address.Query() {
		for _, value := range values {
			if looksSecret(name, value) {
				return invalid("url", "holds what looks like a secret in %.40q; put it into headers, as a reference", name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		if !validHeader(name) || reservedHeader(name) {
			return invalid("headers", "%.80q is no header that may be set", name)
		}
		if err := checkValue("headers."+name, name, c.Headers[name]); err != nil {
			return err
		}
	}
	return nil
}

// checkValue checks one value of env or headers: plain text that is no secret, or a reference that is well formed.
func checkValue(field, name, value string) error {
	if _, _, is := asReference(value); is {
		return checkReference(field, value)
	}
	value = strings.TrimPrefix(value, literal)
	if strings.ContainsAny(value, "\x00") || strings.HasPrefix(field, "headers.") && strings.ContainsAny(value, "\r\n") {
		return invalid(field, "holds a character that can't be sent")
	}
	if looksSecret(name, value) {
		return invalid(field, "looks like a secret, and settings are shown and copied; write a reference instead: "+
			"env:NAME, file:PATH, keyring:SERVICE/ACCOUNT or credential:NAME")
	}
	return nil
}

// SecretArg returns the index of the first argument that looks like a secret, or -1: by itself, or because of the flag before it.
func SecretArg(args []string) int {
	for i, arg := range args {
		if strings.HasPrefix(arg, argSecret) {
			continue
		}
		flag := ""
		if i > 0 && strings.HasPrefix(args[i-1], "-") && !strings.HasPrefix(arg, "-") && !strings.Contains(args[i-1], "=") {
			flag = strings.TrimLeft(args[i-1], "-")
		}
		name, value, assigned := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if looksSecret(flag, arg) || assigned && strings.HasPrefix(arg, "-") && looksSecret(name, value) {
			return i
		}
	}
	return -1
}

// LooksSecret reports whether a setting of that name with that value is more likely a secret than not. It errs to the side of
// yes: a name that speaks of a secret is enough where the value could be one.
func LooksSecret(name, value string) bool { return looksSecret(name, value) }

func looksSecret(name, value string) bool {
	if value == "" {
		return false
	}
	if len(secret.Suspect(value)) > 0 || name != "" && len(secret.Suspect(name+"="+value)) > 0 {
		return true
	}
	scheme, rest, _ := strings.Cut(value, " ")
	if strings.EqualFold(name, "Authorization") || strings.EqualFold(name, "Proxy-Authorization") ||
		strings.EqualFold(name, "Cookie") {
		return true
	}
	if strings.EqualFold(scheme, "Bearer") && len(rest) > 0 {
		return true
	}
	return namesSecret(name) && len(value) >= 8 && !plainValue(value)
}

// namesSecret reports whether a variable or header of that name usually holds a secret: its last word says so.
func namesSecret(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	if len(words) == 0 {
		return false
	}
	switch last := words[len(words)-1]; last {
	case "token", "key", "secret", "password", "passwd", "pass", "pwd", "pat", "apikey", "credential", "credentials",
		"passphrase", "jwt", "cookie", "dsn":
		return true
	default:
		return strings.HasSuffix(last, "token") || strings.HasSuffix(last, "apikey") || strings.HasSuffix(last, "password") ||
			strings.HasSuffix(last, "secret")
	}
}

// plainValue reports whether a value is a path, a number, an address without credentials or a word, which nobody keeps secret.
func plainValue(value string) bool {
	if filepath.IsAbs(value) || strings.HasPrefix(value, "~/") || strings.HasPrefix(value, "./") {
		return true
	}
	if address, err := url.Parse(value); err == nil && address.Scheme != "" && address.Host != "" && address.User == nil {
		return true
	}
	return strings.Trim(value, "0123456789.") == "" ||
		strings.Trim(strings.ToLower(value), "abcdefghijklmnopqrstuvwxyz") == "" && len(value) < 12
}

// Identity is a digest of what a server is, everything sorted. A secret counts as one, wherever it comes from: that it moves
// makes no other server.
func (c Config) Identity() interlock.Digest {
	args := slices.Clone(c.Args)
	for i, arg := range args {
		if strings.HasPrefix(arg, argSecret) {
			args[i] = argSecret
		}
	}
	text, err := json.Marshal(struct { // maps are written sorted by key
		Command string            `json:"command,omitempty"`
		Args    []string          `json:"args,omitempty"`
		Dir     string            `json:"dir,omitempty"`
		Env     map[string]string `json:"env,omitempty"`
		URL     string            `json:"url,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
		CA      string            `json:"ca,omitempty"`
	}{c.Command, args, c.Dir, withoutReferences(c.Env), c.URL, withoutReferences(c.Headers), c.CA})
	if err != nil {
		return "" // unreachable: text and maps of text can be written
	}
	sum := sha256.Sum256(text)
	return interlock.Digest("sha256:" + hex.EncodeToString(sum[:]))
}

func withoutReferences(values map[string]string) map[string]string {
	plain := make(map[string]string, len(values))
	for name, value := range values {
		if _, _, is := asReference(value); is {
			value = argSecret
		}
		plain[name] = value
	}
	return plain
}

func invalid(field, format string, args ...any) *interlock.Error {
	return interlock.Errorf(interlock.CodeInvalid, field, format, args...)
}
