package personal

import (
	"net/netip"
	"strings"
)

// mail finds the e-mail address around an at sign: a local part as people have them, and a name with a top-level domain.
func (f *finder) mail() {
	at := f.at
	f.at++
	start := at
	for start > 0 && at-start < 64 && (alnum(f.text[start-1]) || f.text[start-1] >= 0x80 || inLocal(f.text[start-1])) {
		start--
	}
	for start < at && (f.text[start] == '.' || f.text[start] == '-' || f.text[start] == '\'' || f.text[start] == '=') {
		start++
	}
	end, label, dots := at+1, 0, 0
	for end < len(f.text) && end-at < 256 {
		c := f.text[end]
		switch {
		case alnum(c) || c >= 0x80 || c == '-' && label > 0:
			label++
		case c == '.' && label > 0 && end+1 < len(f.text) && (alnum(f.text[end+1]) || f.text[end+1] >= 0x80):
			label, dots = 0, dots+1
		default:
			c = 0
		}
		if c == 0 {
			break
		}
		end++
	}
	if start == at || dots == 0 || label < 2 || f.text[at-1] == '.' || digit(f.text[end-label]) || picture(f.text[end-label:end]) {
		return
	}
	if f.inAuthority(start) || nobodys(strings.ToLower(f.text[start:at]), strings.ToLower(f.text[at+1:end])) {
		return
	}
	f.add(Span{start, end, "email", Medium})
}

// inAuthority reports the user, or the user's password, in an address of the web: nobody's mail.
func (f *finder) inAuthority(start int) bool {
	if start > 2 && f.text[start-1] == '/' && f.text[start-2] == '/' {
		return true
	}
	if start < 4 || f.text[start-1] != ':' {
		return false
	}
	user := f.text[max(0, start-64):start]
	at := strings.LastIndex(user, "//")
	return at > 0 && user[at-1] == ':' && strings.IndexAny(user[at+2:], " \t\r\n/\"'<>") < 0
}

// nobodys reports an address that names no person: one of a name kept for examples (RFC 2606), of a machine that wants no answer, or
// of what serves repositories.
func nobodys(local, domain string) bool {
	switch local {
	case "git", "noreply", "no-reply", "no_reply", "donotreply", "do-not-reply":
		return true
	}
	switch domain {
	case "example.com", "example.org", "example.net", "example.edu":
		return true
	}
	return strings.HasSuffix(domain, ".test") || strings.HasSuffix(domain, ".invalid") || strings.HasSuffix(domain, ".example")
}

func inLocal(c byte) bool {
	return c == '.' || c == '_' || c == '%' || c == '+' || c == '-' || c == '\''
}

// picture reports the end of a file's name that looks like one of a domain: icon@2x.png.
func picture(label string) bool {
	switch label {
	case "png", "jpg", "jpeg", "gif", "svg", "webp", "js", "css", "json", "py", "service":
		return true
	}
	return false
}

// colons finds what is written with colons: addresses of network cards, and of machines in the newer form.
func (f *finder) colons() {
	at := f.at
	start, end := at, at+1
	for start > 0 && at-start < 45 && inAddress(f.text[start-1]) {
		start--
	}
	for end < len(f.text) && end-at < 45 && inAddress(f.text[end]) {
		end++
	}
	f.at++
	if n := len(f.spans); n > 0 && start < f.spans[n-1].End {
		return
	}
	for end > at && (f.text[end-1] == '.' || f.text[end-1] == ':' && !(end-2 >= start && f.text[end-2] == ':')) {
		end--
	}
	if start > 0 && (alnum(f.text[start-1]) || f.text[start-1] == '_') || end < len(f.text) && (alnum(f.text[end]) || f.text[end] == '_') {
		return
	}
	token := f.text[start:end]
	if len(token) == 17 && macAddress(token) {
		f.add(Span{start, end, "mac-address", Low})
		return
	}
	if len(token) < 2 || len(token) == 2 && f.topics(start, end)&ofMachine == 0 {
		return
	}
	if len(token) > 2 && start > 0 && (f.text[start-1] == '<' || f.text[start-1] == '>') {
		return
	}
	if count := strings.Count(token, ":"); count < 2 || count < 6 && !strings.Contains(token, "::") {
		return
	}
	addr, err := netip.ParseAddr(token)
	if err != nil || !addr.Is6() || len(token) > 2 && !hasDigit(token) {
		return
	}
	f.add(Span{start, end, "ip-address", Low})
}

func inAddress(c byte) bool {
	return digit(c) || lower(c) >= 'a' && lower(c) <= 'f' || c == ':' || c == '.'
}

func hasDigit(text string) bool {
	for i := 0; i < len(text); i++ {
		if digit(text[i]) {
			return true
		}
	}
	return false
}

func hex(c byte) bool { return digit(c) || lower(c) >= 'a' && lower(c) <= 'f' }

// macAddress reports six pairs of hexadecimal digits between colons or minus signs.
func macAddress(token string) bool {
	same := true
	for i := 0; i < len(token); i++ {
		c := token[i]
		if i%3 == 2 && (c != token[2] || c != ':' && c != '-') || i%3 != 2 && !hex(c) {
			return false
		}
		same = same && (i%3 == 2 || c == token[0])
	}
	return !same
}

// card finds the address of a network card that begins with a digit or a letter: pairs with minus signs, or fours with dots.
func (f *finder) networkCard(start int) bool {
	rest := f.text[start:]
	if f.goesOn(start) {
		return false
	}
	if len(rest) >= 17 && rest[2] == '-' && rest[5] == '-' && macAddress(rest[:17]) && !f.goesFurther(start+17) {
		f.add(Span{start, start + 17, "mac-address", Low})
		return true
	}
	if len(rest) < 14 || rest[4] != '.' || rest[9] != '.' || f.goesFurther(start+14) {
		return false
	}
	digits, letters := false, false
	for i, c := range []byte(rest[:14]) {
		if i != 4 && i != 9 && !hex(c) {
			return false
		}
		digits, letters = digits || digit(c), letters || letter(c)
	}
	if !letters || !digits && f.topics(start, start+14)&ofMachine == 0 {
		return false
	}
	f.add(Span{start, start + 14, "mac-address", Low})
	return true
}

// fourParts finds the address of a machine in the older form.
func (f *finder) fourParts(start int) bool {
	if start > 0 && (alnum(f.text[start-1]) || f.text[start-1] == '_' || f.text[start-1] == '.' || f.text[start-1] == '-') {
		return false
	}
	at, value, digits, parts := start, 0, 0, 0
	for ; at < len(f.text) && at-start < 16; at++ {
		c := f.text[at]
		if digit(c) {
			value = value*10 + int(c-'0')
			if digits++; digits > 3 || value > 255 {
				return false
			}
			continue
		}
		if c != '.' || digits == 0 || parts == 3 {
			break
		}
		parts, digits, value = parts+1, 0, 0
	}
	if parts != 3 || digits == 0 || at < len(f.text) && (alnum(f.text[at]) || f.text[at] == '_' || f.text[at] == '-' ||
		f.text[at] == '.' && at+1 < len(f.text) && alnum(f.text[at+1])) {
		return false
	}
	if (start == 0 || f.text[start-1] != ':') && f.documented(start, at) {
		f.at = at
		return true
	}
	f.add(Span{start, at, "ip-address", Low})
	return true
}

// documented reports an address, from start to end, that names nobody's machine: one that is kept for examples (RFC 5737), one of the
// two larger ranges that any network inside may use (RFC 1918; the third is what homes have), or a whole network of these sizes.
func (f *finder) documented(start, end int) bool {
	addr, err := netip.ParseAddr(f.text[start:end])
	if err != nil {
		return false
	}
	b := addr.As4()
	switch {
	case b[0] == 10, b[0] == 172 && b[1]&0xf0 == 16:
		return true
	case b[0] == 192 && b[1] == 0 && b[2] == 2, b[0] == 198 && b[1] == 51 && b[2] == 100, b[0] == 203 && b[1] == 0 && b[2] == 113:
		return true
	}
	rest := f.text[end:]
	return b[2] == 0 && b[3] == 0 && (strings.HasPrefix(rest, "/16") || strings.HasPrefix(rest, "/8") && b[1] == 0)
}
