package secret

import "strings"

// sessions are parts of the names of cookies by which a site knows who somebody is.
var sessions = [...]string{"sess", "sid", "auth", "token", "csrf", "xsrf", "jwt", "login", "remember", "secret", "user", "ticket", "key"}

// The bounds on what is read of one line of cookies: how many, and how much of one before it is known to be secret.
const (
	maxCookies = 32
	maxCookie  = 128
)

// cookies returns the values of the cookies behind the word, whose name ends at a place: of a header, a variable or a member.
func cookies(text string, at, end int) Span {
	if name := strings.ToLower(text[at:end]); name != "cookie" && name != "cookies" && name != "cookie2" {
		return Span{}
	}
	from, quote, ok := operator(text, at, end, false)
	if !ok {
		return Span{}
	}
	for from < len(text) && (text[from] == '[' || text[from] == ' ' || text[from] == '"' || text[from] == '\'') && quote == 0 {
		if c := text[from]; c == '"' || c == '\'' {
			quote = c
		}
		from++
	}
	return cookiesIn(text, from, len(text), quote, at >= 4 && strings.EqualFold(text[at-4:at-1], "set"))
}

// cookiesIn returns what is secret of the cookies that begin at a place and end before another: from the first such value to the end of
// the last one. Of one that a site sets the first is, and what follows says how long and where it is valid.
func cookiesIn(text string, at, stop int, quote byte, set bool) (found Span) {
	for range maxCookies {
		for at < stop && text[at] == ' ' {
			at++
		}
		name := at
		for at < stop && at-name < maxName && members[text[at]]&(urlSafe|dot) != 0 {
			at++
		}
		if at == name || at == stop || text[at] != '=' { // it is prose
			return found
		}
		from := at + 1
		at = cookieEnd(text, from, min(stop, from+maxCookie), quote)
		if value := text[from:at]; cookieValue(strings.ToLower(text[name:from-1]), value) {
			at = cookieEnd(text, at, stop, quote)
			if found.End == 0 {
				found = Span{from, 0, "cookie"}
			}
			found.End = at
		}
		if set || at+1 >= stop || text[at] != ';' {
			return found
		}
		at++
	}
	return found
}

// cookieEnd returns where the value of a cookie ends that goes on at a place.
func cookieEnd(text string, at, stop int, quote byte) int {
	for at < stop && text[at] > ' ' && text[at] != ';' && text[at] != quote && text[at] != '\\' && (quote != 0 || text[at] != '"' && text[at] != '\'') {
		at++
	}
	return at
}

// cookieValue reports a value by which a site knows who somebody is: it looks drawn, or its name says so and it is no word.
func cookieValue(name, value string) bool {
	if len(value) < 6 || placeholder(value) || composed(value) || strings.ContainsAny(value, "<>{}") {
		return false
	}
	if len(value) >= 16 && random(value) {
		return true
	}
	for _, part := range sessions {
		if strings.Contains(name, part) {
			return mixed(value) || len(value) >= 12
		}
	}
	return false
}

// headerName returns where the name of a header begins that has a word at a place; -1: it is none, of curl or at the begin of a line.
func headerName(text string, at int) int {
	from := at
	for from > 0 && at-from < maxName && (members[text[from-1]]&alnum != 0 || text[from-1] == '-') {
		from--
	}
	if from == 0 || text[from-1] == '\n' || text[from-1] == '"' || text[from-1] == '\'' || escapes(text, from) {
		return from
	}
	for line := from; line > 0 && from-line < 16; line-- { // indented, or behind a sign of a prompt or of what was sent
		switch text[line-1] {
		case '\n':
			return from
		case ' ', '\t', '>', '<', '*', '-', 'H':
		default:
			return -1
		}
	}
	return -1
}

// sessionHeader returns the value of a header whose name says that it is of a session: Mcp-Session-Id: …
func sessionHeader(text string, at, end int) Span {
	begin := headerName(text, at)
	rest := strings.ToLower(strings.TrimPrefix(text[at+len("session"):end], "-"))
	if begin < 0 || !strings.Contains(text[begin:end], "-") || rest != "id" && rest != "token" && rest != "key" {
		return Span{}
	}
	from := end + 1
	if end < len(text) && (text[end] == '"' || text[end] == '\'') {
		from++
	}
	if from >= len(text) || text[from-1] != ':' {
		return Span{}
	}
	for from < len(text) && from-end < 8 && strings.IndexByte(" \t\"'", text[from]) >= 0 {
		from++
	}
	stop := from
	for stop < len(text) && stop-from < maxValue && members[text[stop]]&(base64|urlSafe|dot|tilde) != 0 {
		stop++
	}
	if value := text[from:stop]; len(value) < 16 || placeholder(value) || composed(value) || !random(value) {
		return Span{}
	}
	return Span{from, stop, "session"}
}

// authorizationHeader returns the credential of an Authorization header whose scheme is neither Bearer nor Basic, which have their own.
func authorizationHeader(text string, end int) Span {
	if end < len(text) && (text[end] == '"' || text[end] == '\'') {
		end++
	}
	if end >= len(text) || text[end] != ':' && text[end] != '=' {
		return Span{}
	}
	from := end + 1
	for from < len(text) && from-end < 12 && strings.IndexByte(" \t\"'", text[from]) >= 0 {
		from++
	}
	if scheme := from; scheme < len(text) {
		for scheme < len(text) && scheme-from < 24 && members[text[scheme]]&(lower|upper|dash) != 0 {
			scheme++
		}
		switch word := text[from:scheme]; {
		case strings.EqualFold(word, "bearer"), strings.EqualFold(word, "basic"):
			return Span{}
		case scheme > from && scheme < len(text) && text[scheme] == ' ':
			from = scheme + 1
		}
	}
	stop := from
	for stop < len(text) && stop-from < maxValue && text[stop] > ' ' && strings.IndexByte("\"'`,;<>{}()\\", text[stop]) < 0 {
		stop++
	}
	value := text[from:stop]
	if len(value) < 16 || placeholder(value) || composed(value) || isCode(value) || !random(value) || strings.Contains(value, "://") {
		return Span{}
	}
	return Span{from, stop, "authorization"}
}
