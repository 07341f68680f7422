package inject

import (
	"interlock/internal/lex"
)

var (
	// ProseWords are commands whose names are also everyday words; in prose they need an option or a path behind them.
	ProseWords = lex.Set([]string{"make", "find", "test", "sort", "time", "watch", "cut", "join", "split", "read", "cat", "kill",
		"who", "man", "more", "less", "last", "at",
		"wall", "write", "file", "install", "top", "set", "head", "tail", "yes", "look", "go", "python", "node", "service",
		"host", "link", "users", "date", "open", "code",
		"which", "type", "wait", "exit", "sleep", "paste", "fold", "let", "for", "if", "in", "history", "help", "return",
		"source", "export", "enable", "docker", "script",
		"route", "stat", "touch", "factor", "fuser", "locate", "nice", "pr", "tee", "true", "false", "trap", "eval", "mail",
		"screen", "do", "then", "while", "up", "select", "function", "git", "update", "start", "stop", "shutdown", "reboot",
		"halt", "clear", "reset", "print", "echo", "users", "groups", "id", "expand", "column", "look", "dd", "w", "x", "case",
		"local", "bind", "jobs", "complete", "command", "test", "hash", "times", "mount", "patch", "compress", "transfer",
		"image", "convert", "compare", "display", "mesg", "play", "record", "fc", "bg", "fg"})
)

func WordAt(words []string, i int) string {
	if i < 0 || i >= len(words) {
		return ""
	}
	return words[i]
}

func SpeaksOfSecret(text string) bool {
	before := ""
	for _, word := range lex.NameWords(text) {
		if Confided.Has(word) || (word == "key" || word == "number" || word == "code" || word == "phrase") && ConfidedKind.Has(before) {
			return true
		}
		before = word
	}
	return false
}

// Confided are words for what nobody sends around: a message that has one of them is not read as mere talk.
var Confided = lex.Set([]string{"password", "passwords", "passwd", "passcode", "passphrase", "pin", "otp", "cvv", "cvc", "ssn",
	"iban", "credential", "credentials",
	"secret", "secrets", "token", "tokens", "id_rsa", "id_ed25519", "api-key", "apikey", "confidential", "passport", "salary",
	"salaries", "diagnosis", "wallet", "seed",
	"genetic", "genome", "medication", "medications", "prescription", "allergies", "birthdate"})

// ConfidedKind are words that make a key, a number or a code one that nobody sends around.
var ConfidedKind = lex.Set([]string{"private", "secret", "access", "encryption", "signing", "recovery", "account", "card",
	"routing", "passport", "license", "phone",
	"telephone", "mobile", "security", "verification", "pin", "backup", "api", "insurance"})
