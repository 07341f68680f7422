package web

import (
	"slices"
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

// NamesSecret reports whether a variable of the environment is named as what holds a secret. One that says where a secret is
// kept or fetched, how long it lasts or how many words a model may use holds none.
func NamesSecret(key string) bool {
	upper := strings.ToUpper(key)
	for _, end := range [...]string{"_URL", "_URI", "_ENDPOINT", "_HOST", "_PORT", "_FILE", "_FILENAME", "_PATH", "_DIR", "_NAME",
		"_TYPE", "_TTL", "_EXPIRY", "_LENGTH", "_ISSUER", "_AUDIENCE", "_REGION", "_ARN", "MAX_TOKENS", "NUM_TOKENS", "TOTAL_TOKENS",
		"OUTPUT_TOKENS", "TOKENIZER", "_PARALLELISM"} {
		if strings.HasSuffix(upper, end) {
			return false
		}
	}
	for _, word := range [...]string{"TOKEN", "SECRET", "PASSW", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIAL"} {
		if strings.Contains(upper, word) {
			return true
		}
	}
	return false
}

// OthersSecret reports whether a variable is named as what holds a secret that is not for the service a host belongs to.
// Where it only says who asks, as a header does, nothing but the name of another service counts.
func OthersSecret(name, host string, identifies bool) bool {
	if !NamesSecret(name) {
		return false
	}
	service := serviceOf(host)
	known, its := false, false
	for word := range strings.SplitSeq(strings.ToLower(name), "_") {
		known = known || slices.Contains(services(), word)
		its = its || word == service || slices.Contains(hostsOf(word), service)
	}
	return !its && (known || !identifies)
}

// services are the words by which the names of variables say whose secret they hold.
func services() []string {
	return []string{"github", "gh", "gitlab", "aws", "openai", "anthropic", "stripe", "slack", "npm", "docker",
		"google", "gcp", "azure",
		"heroku", "digitalocean", "cloudflare", "vault", "twilio", "sendgrid", "pypi", "huggingface", "hf",
		"ssh", "gpg", "cosign"}
}

// hostsOf are the names under which a service that variables call by another one is reached.
func hostsOf(word string) []string {
	switch word {
	case "aws":
		return []string{"amazonaws"}
	case "google", "gcp":
		return []string{"googleapis"}
	case "gh":
		return []string{"github"}
	case "github":
		return []string{"ghcr"}
	case "hf":
		return []string{"huggingface"}
	case "npm":
		return []string{"npmjs"}
	}
	return nil
}

// serviceOf is the label of a host that somebody had to register: github of api.github.com, and evil of github.evil.example.
func serviceOf(host string) string {
	host, _, _ = strings.Cut(host, ":")
	labels := strings.Split(host, ".")
	if len(labels) < 2 {
		return host
	}
	return labels[len(labels)-2]
}
