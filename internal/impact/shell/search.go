package shell

import (
	"slices"
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/place"
	"interlock/internal/inject"
)

// keptFrom reports whether a search is narrowed to files that are no secrets: by a kind of files, or by names that are
// not protected below a home directory.
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

// seeksPlain reports whether a search prints nothing but lines that hold plain words, and none of them is beside a secret:
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
	if pattern.Lead || pattern.Dynamic {
		return false
	}
	long := false
	for _, word := range strings.Split(pattern.Text, " ") {
		low := strings.ToLower(word)
		for i := range len(low) {
			if low[i] < 'a' || low[i] > 'z' {
				return false
			}
			for _, part := range besideSecrets[low[i]-'a'] {
				if strings.HasPrefix(low[i:], part) {
					return false
				}
			}
		}
		if len(word) > 2 && low != word && strings.ToUpper(word) == word || len(word) > 16 {
			return false // a name of a variable, or a piece of a key
		}
		long = long || len(word) >= 5
	}
	return long && !inject.SpeaksOfSecret(pattern.Text)
}

// besideSecrets are parts of words that stand on the line of a secret, by their first letter.
var besideSecrets = [26][]string{
	'a' - 'a': {"auth", "account", "api", "aws", "azure", "access", "anthropic", "admin", "assert"},
	'b' - 'a': {"begin", "bearer", "basic", "bank"},
	'c' - 'a': {"cred", "cert", "cookie", "card", "client", "cipher", "connect", "confidential"},
	'd' - 'a': {"database", "docker"},
	'e' - 'a': {"export", "encrypt", "email"},
	'g' - 'a': {"google", "gcp", "git"},
	'h' - 'a': {"host", "hash"},
	'i' - 'a': {"iban"},
	'k' - 'a': {"key"},
	'l' - 'a': {"login", "license"},
	'm' - 'a': {"machine", "mnemonic"},
	'n' - 'a': {"npm"},
	'o' - 'a': {"openai"},
	'p' - 'a': {"pass", "pwd", "private", "public", "proxy", "pypi", "phone", "payment"},
	'r' - 'a': {"rsa", "registry", "root"},
	's' - 'a': {"secret", "ssh", "session", "seed", "sign", "salt", "server", "slack", "stripe"},
	't' - 'a': {"token"},
	'u' - 'a': {"user"},
	'v' - 'a': {"vault"},
	'w' - 'a': {"wallet"},
}

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
	out, copied := found, false
	for i := range found {
		f := &found[i]
		if f.Depth != 0 && (f.Depth == place.WholeTree || strings.Trim(f.Text[strings.LastIndexByte(f.Text, '/')+1:], "*?") == "") {
			if !copied {
				out, copied = slices.Clone(found), true
			}
			out[i].Depth = 0
		}
	}
	return out
}
