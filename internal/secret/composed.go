package secret

import "strings"

// composed reports whether a value is one that somebody put together by hand or that is no secret by its form: words in it
// say that it is none, or it is the number a clock and a network card make.
func composed(value string) bool {
	if len(value) < 8 || len(value) > maxValue {
		return false
	}
	return timeUUID(value) || saysSo(value)
}

// timeUUID reports a UUID of version 1: a time and the address of a network card, which anybody can work out.
func timeUUID(value string) bool {
	if len(value) != 36 || value[8] != '-' || value[13] != '-' || value[18] != '-' || value[23] != '-' {
		return false
	}
	return value[14] == '1'
}

// saysSo reports whether a word of the value says that it is none.
func saysSo(value string) bool {
	for _, part := range strings.FieldsFunc(strings.ToLower(value), func(c rune) bool { return c < 'a' || c > 'z' }) {
		switch part {
		case "fake", "example", "dummy", "mock", "invalid", "sample", "placeholder", "notreal", "tooshort", "notasecret",
			"foobar", "lorem", "ipsum":
			return true
		}
	}
	return false
}
