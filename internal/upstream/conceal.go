package upstream

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode"

	"interlock/internal/notice"
	"interlock/internal/secret"
)

// errLost is what a lost error is.
var errLost = io.ErrUnexpectedEOF

// shortestConcealed is the length in bytes below which a secret is not looked for in messages: so short a text is in many
// an innocent one. The accepted risk is that such a secret can be repeated by its server.
const shortestConcealed = 6

// A concealer takes the secrets of a server's settings out of what the server says: a server may print its environment, and
// neither the client nor the log may learn it that way. A server that wants to give its own secret away in another spelling
// can; it has it, and the network.
type concealer struct{ forms [][]byte }

func newConcealer(secrets []notice.Secret) concealer {
	var c concealer
	for _, s := range secrets {
		if len(s) < shortestConcealed {
			continue
		}
		form := []byte(s.Reveal())
		for range 3 { // as it is; in JSON; in JSON in a text in JSON
			if !containsForm(c.forms, form) {
				c.forms = append(c.forms, form)
			}
			quoted, err := json.Marshal(string(form))
			if err != nil {
				break // unreachable: any text can be quoted
			}
			form = quoted[1 : len(quoted)-1]
		}
	}
	return c
}

func containsForm(forms [][]byte, form []byte) bool {
	for _, f := range forms {
		if bytes.Equal(f, form) {
			return true
		}
	}
	return false
}

// message returns a message without the secrets. It changes nothing else and copies only where there is something to change.
func (c concealer) message(text []byte) []byte {
	for i := len(c.forms) - 1; i >= 0; i-- { // the longest spelling of each first
		if bytes.Contains(text, c.forms[i]) {
			text = bytes.ReplaceAll(text, c.forms[i], []byte(secret.Marker))
		}
	}
	return text
}

// line returns a line of a program's output as it may be logged: without these and other secrets, without what steers
// terminals, and not too long.
func (c concealer) line(text []byte, longest int) string {
	clean, _ := secret.Redact(strings.ToValidUTF8(string(c.message(text)), "?"))
	clean = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == ' ' {
			return r
		}
		return '?'
	}, strings.ReplaceAll(clean, "\t", " "))
	if len(clean) > longest {
		clean = strings.ToValidUTF8(clean[:longest], "") + "…"
	}
	return clean
}
