package shell

import (
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/place"
	"interlock/internal/inject"
)

// keptFrom reports whether a search is narrowed to files that are no secrets: by a kind of files, or by names none of which
// is protected below a home directory.
func keptFrom(u *flow.Use, s *flow.Scan) bool {
	kept := false
	for _, g := range u.Flags {
		switch {
		case g.Option.Sorting:
			kept = true
		case g.Option.Naming && g.Value.Text != "" && g.Value.Text[0] != '!':
			if name := g.Value.Text[strings.LastIndexByte(g.Value.Text, '/')+1:]; s.Holds("/", name, fact.TraitSecret) {
				return false
			}
			kept = true
		}
	}
	return kept
}

// seeksPlain reports whether a search prints nothing but lines that hold plain words, none of which stands beside a secret:
// what such a search shows of a key or a password is nothing.
func seeksPlain(u *flow.Use) bool {
	if !u.Spec.Seeks || len(u.Operands) < 2 {
		return false
	}
	for _, g := range u.Flags {
		switch g.Name {
		case "-i", "-r", "-R", "-n", "-o", "-h", "-H", "-w", "-s", "-I", "-F", "-Z",
			"--recursive", "--ignore-case", "--line-number", "--fixed-strings", "--word-regexp":
		case "--include", "--exclude", "--exclude-dir", "--color", "--colour":
		default:
			return false
		}
	}
	return plainWords(u.Operands[0])
}

// plainWords reports whether a pattern is ordinary language: words of letters, one of them long, none about access.
func plainWords(pattern flow.Field) bool {
	if pattern.Lead || pattern.Dynamic || inject.SpeaksOfSecret(pattern.Text) {
		return false
	}
	long := false
	for _, word := range strings.Split(pattern.Text, " ") {
		low := strings.ToLower(word)
		for i := range len(low) {
			if low[i] < 'a' || low[i] > 'z' {
				return false
			}
		}
		if len(word) > 2 && strings.ToUpper(word) == word || len(word) > 16 {
			return false // a name of a variable, or a piece of a key
		}
		for _, part := range besideSecrets {
			if strings.Contains(low, part) {
				return false
			}
		}
		long = long || len(word) >= 5
	}
	return long
}

// besideSecrets are parts of words that stand on the line of a secret.
var besideSecrets = []string{"pass", "pwd", "secret", "token", "key", "auth", "cred", "login", "user", "account",
	"api", "aws", "azure", "google", "gcp", "git", "private", "public", "begin", "rsa", "ssh", "cert", "bearer",
	"basic", "session", "cookie", "export", "machine", "host", "seed", "mnemonic", "wallet", "card", "iban", "access",
	"client", "sign", "hash", "salt", "cipher", "encrypt", "proxy", "server", "database", "connect", "slack", "stripe",
	"openai", "anthropic", "npm", "pypi", "docker", "registry", "email", "phone", "bank", "payment", "vault", "admin",
	"root", "license", "assert", "confidential"}

// searched are the places a search goes through.
func searched(u *flow.Use) []flow.Field {
	targets := u.Operands
	if u.Spec.Seeks && !has(u, "-e") && !has(u, "-f") && len(targets) > 0 { // the first is what is looked for
		targets = targets[1:]
	}
	if len(targets) == 0 {
		targets = []flow.Field{flow.Literal(".")}
	}
	return narrowed(u, targets)
}

// withDepth marks fields that stand for all that lies below them.
func withDepth(found []flow.Field) []flow.Field {
	for i := range found {
		if found[i].Depth == 0 {
			found[i].Depth = place.WholeTree
		}
	}
	return found
}

// withoutDepth takes from fields that stand for whole trees that they do.
func withoutDepth(found []flow.Field) []flow.Field {
	out := append([]flow.Field(nil), found...)
	for i := range out {
		if out[i].Depth == place.WholeTree || strings.Trim(out[i].Text[strings.LastIndexByte(out[i].Text, '/')+1:], "*?") == "" {
			out[i].Depth = 0
		}
	}
	return out
}
