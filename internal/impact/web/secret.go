package web

import (
	"interlock/internal/secret"
)

// PlainSecret returns the kind of a secret in text that carries its issuer's own form. Values that only a name calls
// secret are too common in tests and examples to speak of.
func PlainSecret(text string) string {
	for _, span := range secret.Find(text) {
		if span.Kind != "password" && span.Kind != "assigned-secret" && span.Kind != "url-password" && span.Kind != "web-token" {
			return span.Kind
		}
	}
	return ""
}
