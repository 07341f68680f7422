package secret

import (
	"math"
	"strings"
)

// Values that are known by more than their alphabet, and where they stand.

// scrambled reports letters alone that nobody wrote: their case changes within every few.
func scrambled(value string) bool {
	if len(value) < 14 || !only(value, lower|lowerHex|upper|upperHex) {
		return false
	}
	runs, small, capitals := 0, 0, 0
	for i := 0; i < len(value); i++ {
		if members[value[i]]&lower != 0 {
			if small++; i == 0 || members[value[i-1]]&lower == 0 {
				runs++
			}
		} else if i > 0 && members[value[i-1]]&upper != 0 {
			capitals++
		}
	}
	return runs >= 3 && capitals >= 2 && small*10 <= runs*22
}

// inElement reports a value that is all there is in an element: <password>…</password>
func inElement(text string, from, stop int) bool {
	return from > 0 && text[from-1] == '>' && strings.HasPrefix(text[stop:], "</")
}

// wholeLine reports a value that ends its line, which holds nothing but it and its name: NAME=value in settings and environments.
func wholeLine(text string, at, from, stop int) bool {
	if stop < len(text) && text[stop] != '\n' && !strings.HasPrefix(text[stop:], "\r\n") {
		return false
	}
	for i := at; i > 0 && text[i-1] != '\n'; i-- {
		if at-i > maxName || text[i-1] == ' ' && !strings.HasSuffix(strings.TrimLeft(text[max(0, i-12):i], " \n"), "export ") &&
			strings.TrimLeft(text[max(0, i-12):i], " \n") != "" || strings.IndexByte("|&;()<>$'\"`{}[]#/*", text[i-1]) >= 0 {
			return false
		}
	}
	return true
}

// spelledOut reports a word that says something of a password and is none.
func spelledOut(value string) bool {
	if strings.HasSuffix(value, ":") {
		return true
	}
	if len(value) < 6 || !only(value, lower|lowerHex|upper|upperHex) && !hyphenated(value) && !isCode(value) {
		return len(value) < 6
	}
	switch strings.ToLower(value) {
	case "password", "required", "optional", "enabled", "disabled", "always", "prompt", "unset", "hidden", "plaintext", "encrypted", "hashed", "integer",
		"number", "object", "varchar", "username", "passwords", "default", "missing", "invalid", "incorrect", "forgotten", "protected", "manager",
		"policy", "generated", "stored", "unknown", "nullable", "confirm", "confirmation", "recovery", "authentication", "authorization", "grant",
		"unlimited", "denied", "empty":
		return true
	}
	return !only(value, lower|lowerHex|upper|upperHex)
}

// template reports a value with a variable in it that something else puts in: ${NAME}, {{ name }}. Passwords have such signs too.
func template(value string) bool {
	for _, signs := range [...][2]string{{"${", "}"}, {"{{", "}}"}} {
		_, rest, opened := strings.Cut(value, signs[0])
		name, _, closed := strings.Cut(rest, signs[1])
		if opened && closed && strings.IndexFunc(name, func(c rune) bool { return strings.ContainsRune("(){}[]<>#$@!^&*;", c) }) < 0 || opened && rest == "" {
			return true
		}
	}
	return strings.HasSuffix(value, "${") || strings.HasPrefix(value, "{{")
}

// productKey reports a licence key: four groups of five capitals and digits at least, which are no words.
func productKey(value string) bool {
	groups := strings.Split(value, "-")
	for _, group := range groups {
		if len(group) != 5 || !only(group, digit|upper|upperHex) {
			return false
		}
	}
	return len(groups) >= 4 && strings.Count(value, "A")+strings.Count(value, "E")+strings.Count(value, "O") < len(value)/4
}

// printableKey reports a long value of all printable characters, as salts are that a site is installed with.
func printableKey(value string) bool {
	if len(value) < 40 {
		return false
	}
	var seen [256]int
	kinds, other := alphabet(0), 0
	for i := 0; i < len(value); i++ {
		seen[value[i]]++
		kinds |= members[value[i]] & (digit | lower | upper)
		if members[value[i]]&alnum == 0 {
			other++
		}
	}
	entropy := 0.0
	for _, n := range seen {
		if n > 0 {
			p := float64(n) / float64(len(value))
			entropy -= p * math.Log2(p)
		}
	}
	return kinds == digit|lower|upper && other >= len(value)/8 && strings.Count(value, " ") <= 4 && entropy >= 4.6
}

// shortKey reports letters of both sizes and digits, too few for a name alone to make them a secret.
func shortKey(value string) bool {
	kinds := alphabet(0)
	for i := 0; i < len(value); i++ {
		kinds |= members[value[i]] & (digit | lower | upper)
	}
	return len(value) >= 8 && only(value, alnum|lowerHex|upperHex) && kinds == digit|lower|upper && !placeholder(value) && !composed(value)
}

// inHeader reports a name of a header of several words that a colon follows.
func inHeader(text string, at, end int) bool {
	begin := headerName(text, at)
	return begin >= 0 && end < len(text) && text[end] == ':' && strings.Contains(text[begin:end], "-")
}

// inPath returns a token that stands in an address behind a word for one: …/token/…
func inPath(text string, w word, from int) Span {
	if w.text != "token" && w.text != "secret" && w.text != "apikey" && w.text != "api_key" && w.text != "api-key" {
		return Span{}
	}
	stop := from
	for stop < len(text) && stop-from < maxValue && members[text[stop]]&urlSafe != 0 {
		stop++
	}
	value := text[from:stop]
	if len(value) < 20 || !random(value) || worded(value) || placeholder(value) || composed(value) || only(value, digit|lowerHex|dash) {
		return Span{}
	}
	return Span{from, stop, "assigned-secret"}
}

// compared returns a password that a program holds another one against: password == "…"
func compared(text string, end int) Span {
	from := end + blanks(text, end)
	if from == len(text) || text[from] != '=' && text[from] != '!' {
		return Span{}
	}
	for from < len(text) && (text[from] == '=' || text[from] == '!') {
		from++
	}
	if from += blanks(text, from); from == len(text) || text[from] != '"' && text[from] != '\'' {
		return Span{}
	}
	stop := valueEnd(text, from+1, text[from], maxValue)
	if value := text[from+1 : stop]; !shortKey(value) && !(len(value) >= 8 && unspoken(value, true)) || placeholder(value) || composed(value) {
		return Span{}
	}
	return Span{from + 1, stop, "password"}
}

// fewBytes is from how many on numbers in a row are taken for a key.
const fewBytes = 12

// byteArray returns the bytes that a name for a key is given one by one: []byte{1, 2, …}
func byteArray(text string, at int) Span {
	open := at
	for open < len(text) && open-at < 24 && text[open] != '{' && text[open] != '(' && text[open] != '\n' && text[open] != '=' && text[open] != ',' {
		open++
	}
	if open == len(text) || text[open] != '{' {
		if at == len(text) || text[at] != '[' {
			return Span{}
		}
		open = at
	}
	stop, numbers, large := open+1, 0, false
	for in := 0; stop < len(text) && stop-open < 4<<10; stop++ {
		switch c := text[stop]; {
		case members[c]&(digit|lowerHex|upperHex) != 0 || c == 'x' || c == 'X':
			if in == 0 {
				numbers++
			}
			in++
			large = large || in >= 3
		case c == ',' || c <= ' ' || c == '\\':
			in = 0
		default:
			if (c != '}' && c != ']') || numbers < fewBytes || !large {
				return Span{}
			}
			return Span{open, stop + 1, "assigned-secret"}
		}
	}
	return Span{}
}

// loginCall returns the password that is the second text a call of login is given.
func loginCall(text string, end int) Span {
	if end >= len(text) || text[end] != '(' {
		return Span{}
	}
	from := end + 1
	for n := range 2 {
		from += blanks(text, from)
		if from >= len(text) || text[from] != '"' && text[from] != '\'' {
			return Span{}
		}
		quote := text[from]
		stop := valueEnd(text, from+1, quote, maxValue)
		if stop >= len(text) || text[stop] != quote {
			return Span{}
		}
		if n == 1 {
			if value := text[from+1 : stop]; len(value) >= 6 && unspoken(value, true) && !placeholder(value) && !composed(value) {
				return Span{from + 1, stop, "password"}
			}
			return Span{}
		}
		if from = stop + 1; from >= len(text) || text[from] != ',' {
			return Span{}
		}
		from++
	}
	return Span{}
}
