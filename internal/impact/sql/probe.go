package sql

import (
	"strings"
)

// quoteClosed reports whether the first quote of a text closes a value that began before it, and an operator goes on from
// there: x' = 'x, a' regexp '. A pair of quotes around a word, or the mark of a possessive, is none.
func quoteClosed(flat string) bool {
	at := strings.IndexAny(flat, `'"`)
	if at < 0 || at > 0 && strings.IndexByte(" +=(,:", flat[at-1]) >= 0 {
		return false // such a quote opens
	}
	if strings.IndexByte(flat[at+1:], flat[at]) < 0 {
		return false // not opened again, so that the rest of the statement would not fit
	}
	rest := strings.TrimLeft(flat[at+1:], " )")
	for _, operator := range []string{"=", "!=", "<>", "<=>", "<<", ">>", "^", "||", "&&", "regexp ", "rlike ", "sounds like",
		"div ", "xor ", "like ", "glob ", "is not ", "not like ", "collate "} {
		if strings.HasPrefix(rest, operator) {
			return true
		}
	}
	for _, joint := range []string{"or ", "and ", "or(", "and("} {
		if condition, ok := strings.CutPrefix(rest, joint); ok {
			return condition != "" && (condition[0] == '\'' || condition[0] == '"') || strings.ContainsAny(condition, "=<>(") ||
				strings.Contains(condition, " like ")
		}
	}
	return false
}

// probes reports texts that only try a server out: a column counted by its number, two constants compared, a sleep.
func probes(flat string) bool {
	body := strings.TrimRight(flat, " -#;/*")
	cut := len(strings.TrimRight(flat, " ")) > len(body)
	if at := strings.LastIndex(body, "order by "); at >= 0 && (at == 0 || cut || at < 8) &&
		numbersOnly(body[at+len("order by "):]) {
		return true
	}
	if cut && strings.HasSuffix(strings.TrimRight(flat, " "), "--") && strings.HasPrefix(body, "(") &&
		strings.HasSuffix(body, ")") {
		return true
	}
	for _, call := range []string{"sleep(", "sleep (", "benchmark (", "select sleep", "select pg_sleep"} {
		if strings.HasPrefix(strings.TrimLeft(flat, "'\" ();"), call) {
			return true
		}
	}
	if call, ok := strings.CutSuffix(body, "("); ok { // the rest of a call is to come from elsewhere
		call = strings.TrimRight(call, " \\`\"+&")
		if call != "" && isSQLWord(call[len(call)-1]) {
			return true
		}
	}
	for _, joint := range []string{"or ", "and ", "having ", "&&", "||"} {
		if condition, ok := strings.CutPrefix(strings.TrimLeft(body, " )"), joint); ok && strings.ContainsAny(condition, "=<>") {
			return true
		}
	}
	left, rest := side(body)
	if left != "" && left[0] >= '0' && left[0] <= '9' && numbersOnly(left) {
		rest = strings.TrimLeft(rest, " ")
		for _, operator := range []string{"==", "=", "!=", "<>", "like ", "<=>"} {
			if right, ok := strings.CutPrefix(rest, operator); ok {
				return numbersOnly(strings.TrimSpace(right))
			}
		}
	}
	return false
}

// numbersOnly reports whether text is one number or a list of them.
func numbersOnly(text string) bool {
	if text == "" {
		return false
	}
	for i := 0; i < len(text); i++ {
		if c := text[i]; !(c >= '0' && c <= '9' || c == ',' || c == ' ') {
			return false
		}
	}
	return true
}
