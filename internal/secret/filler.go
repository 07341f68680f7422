package secret

import "strings"

// filler reports whether a token of an issuer's form is one that somebody typed to fill the form: a letter over and
// over, or words that say what should stand there. Nobody is issued such a token.
func filler(token string) bool {
	tail := token
	if cut := strings.LastIndexAny(token[:min(len(token), 16)], "_-.~"); cut >= 0 {
		tail = token[cut+1:]
	}
	if len(tail) < 12 {
		return false
	}
	for _, typed := range [...]string{"x", "X", "a", "0", "*"} {
		if strings.Count(tail, typed)*10 >= len(tail)*7 {
			return true
		}
	}
	low := strings.ToLower(tail[max(0, len(tail)-12):])
	return strings.HasSuffix(low, "tokenhere") || strings.HasSuffix(low, "keyhere") || strings.HasSuffix(low, "stringhere") ||
		strings.HasSuffix(low, "secrethere")
}

// worded reports whether a value is words with a number rather than something drawn: unique_access_token_06527, and
// jjwt-jackson-0.11.2.
func worded(value string) bool {
	letters, words := 0, 0
	for _, part := range strings.FieldsFunc(value,
		func(c rune) bool { return c == '_' || c == '-' || c == '.' || c == ':' || c == '/' }) {
		plain, vowels := true, false
		for i := 0; i < len(part); i++ {
			plain = plain && part[i] >= 'a' && part[i] <= 'z'
			vowels = vowels || strings.IndexByte("aeiouy", part[i]) >= 0
		}
		if plain && vowels && len(part) >= 3 {
			words++
			letters += len(part)
		} else if strings.Trim(part, "0123456789") != "" && len(part) > 4 {
			return false
		}
	}
	return words >= 2 && letters*2 >= len(value) || words == 1 && strings.Count(value, ".") >= 2 && letters*3 >= len(value)
}

// identifier reports a name of something that is no secret though a word in it could be one: clientId, key_down, monkeys.
func identifier(text string, at, end int, name string) bool {
	if camel := text[max(at, end-2):end]; camel == "Id" && end-at > 2 {
		return true
	}
	if strings.HasPrefix(name, "key") && at >= 7 { // a key that everybody may have
		if before := strings.ToLower(strings.TrimRight(text[max(0, at-8):at], "_-.")); strings.HasSuffix(before, "public") {
			return true
		}
	}
	for _, prefix := range [...]string{"key_down", "key_up", "keydown", "keyup", "keypress", "key_press", "keyframe", "keyword",
		"key_word", "keyspace", "keystroke", "client_version"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	if strings.HasPrefix(name, "key") && at >= 3 {
		switch strings.ToLower(text[at-3 : at]) {
		case "mon", "tur", "hoc", "joc", "don":
			return true
		}
	}
	return false
}

// member reports whether an unquoted value is a member of something named in code: Ed25519.BlindKeySignatures.
func member(value string) bool {
	last := strings.LastIndexByte(value, '.')
	if last <= 0 || len(value)-last < 6 {
		return false
	}
	for i := 0; i < len(value); i++ {
		if members[value[i]]&(alnum|under|dot) == 0 {
			return false
		}
	}
	for _, part := range strings.Split(value, ".") {
		if part == "" || members[part[0]]&digit != 0 {
			return false
		}
	}
	return strings.Trim(value[last+1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}
