package secret

import "strings"

// wellFormed reports whether the tail of a token has the inner form its issuer gives it, where that is known and more than
// an alphabet and a length. A form that nothing more is known about is well formed.
func wellFormed(literal, tail string) bool {
	switch literal {
	case "SG.":
		id, key, ok := strings.Cut(tail, ".")
		return ok && len(id) >= 16 && len(key) >= 32 && !strings.Contains(key, ".")
	case "dapi":
		return len(tail) == 32 || len(tail) == 34 && tail[32] == '-'
	case "ntn_":
		return len(tail) >= 11 && strings.Trim(tail[:11], "0123456789") == "" && len(tail) <= 50 &&
			strings.Trim(tail, "0123456789") != ""
	case "sgp_":
		key := tail[strings.LastIndexByte(tail, '_')+1:]
		return len(key) == 40 && strings.Trim(strings.ToLower(key), "0123456789abcdef") == ""
	case "v1.0-":
		return len(tail) > 25 && tail[24] == '-' && strings.Count(tail, "-") == 1
	case "bedrock-api-key-":
		const host = "YmVkcm9jay5hbWF6b25hd3MuY29t" // what such a key says first, encoded
		return strings.HasPrefix(tail, host)
	}
	return true
}

// header reports whether the first part of a web token can be one: text that encodes an object.
func header(part string) bool {
	if len(part)%4 == 1 {
		return false
	}
	text := decoded(part)
	if len(text) < 8 || text[0] != '{' || text[len(text)-1] != '}' {
		return false
	}
	for _, c := range text {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

func sixBits(c byte) int {
	switch {
	case c >= 'A' && c <= 'Z':
		return int(c - 'A')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 26
	case c >= '0' && c <= '9':
		return int(c-'0') + 52
	case c == '-' || c == '+':
		return 62
	}
	return 63
}
