package web

import (
	"strings"

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

// NamesSecret reports whether a variable of the environment is named as what holds a secret.
func NamesSecret(key string) bool {
	upper := strings.ToUpper(key)
	for _, word := range [...]string{"TOKEN", "SECRET", "PASSW", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIAL"} {
		if strings.Contains(upper, word) {
			return true
		}
	}
	return false
}
