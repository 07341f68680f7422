package web

import (
	"slices"
	"strings"

	"interlock/internal/secret"
)

// PlainSecret returns the kind of a secret in text that carries its issuer's own form. Values that only a name calls
// secret are too common in tests and examples to speak of.
func PlainSecret(text string) string {
	for _, span := range secret.Suspect(text) {
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
		"_TYPE", "_TTL", "_EXPIRY", "_LENGTH", "_ISSUER", "_AUDIENCE", "_REGION", "_ARN", "MAX_TOKENS",
		"NUM_TOKENS", "TOTAL_TOKENS",
		"OUTPUT_TOKENS", "TOKENIZER", "_PARALLELISM"} {
		if strings.HasSuffix(upper, end) {
			return false
		}
	}
	for _, word := range [...]string{"TOKEN", "SECRET", "PASSW", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIAL",
		"DEPLOY_KEY", "SSH_KEY", "SIGNING_KEY", "MASTER_KEY", "ENCRYPTION_KEY", "SERVICE_KEY", "AUTH_KEY", "PASSPHRASE"} {
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

// OthersToken reports whether a text spells out a token in its issuer's own form, and the host is none of that issuer's.
func OthersToken(text, host string, identifies bool) bool {
	if len(text) < 16 || len(text) > 64<<10 {
		return false
	}
	kind := PlainSecret(text)
	return kind != "" && OthersSecret(strings.ReplaceAll(kind, "-", "_")+"_token", host, identifies)
}

// TellsToken reports whether an address hands its host a token of somebody else's: the issuer's form is enough here, since
// nobody puts even an example of one into a stranger's address without meaning to send it.
func TellsToken(url, host string) bool {
	_, said, ok := strings.Cut(url, "://")
	if !ok || len(url) > 4096 {
		return false
	}
	for _, form := range [...][2]string{{"ghp_", "github"}, {"gho_", "github"}, {"ghs_", "github"}, {"github_pat_", "github"},
		{"glpat-", "gitlab"}, {"xoxb-", "slack"}, {"xoxp-", "slack"}, {"sk-ant-", "anthropic"}, {"sk_live_", "stripe"},
		{"npm_", "npm"}, {"hf_", "huggingface"}, {"AKIA", "aws"}, {"AIza", "google"}} {
		if at := strings.Index(said, form[0]); at >= 0 && longWord(said[at+len(form[0]):]) &&
			OthersSecret(form[1]+"_token", host, false) {
			return true
		}
	}
	return false
}

// longWord reports whether a text begins with sixteen letters and digits or more.
func longWord(text string) bool {
	for i := 0; i < 16; i++ {
		if i >= len(text) || text[i] != '_' && text[i] != '-' && !(text[i] >= '0' && text[i] <= '9') &&
			!(text[i]|0x20 >= 'a' && text[i]|0x20 <= 'z') {
			return false
		}
	}
	return true
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
