package secret

import "strings"

// shape returns the secret that the anchor at at belongs to, for secrets known by their shape instead of their beginning.
func shape(text string, at int) Span {
	rest := text[at:]
	switch text[at] {
	case '-':
		if strings.HasPrefix(rest, "-----BEGIN ") {
			return keyBlock(text, at)
		}
		if strings.HasPrefix(rest, "-us") {
			return around(text, at, "mailchimp-key", hexDigits, 32, digit|lower, 3, 4)
		}
		return optionValue(text, at)
	case 'e':
		if strings.HasPrefix(rest, "eyJ") && (at == 0 || members[text[at-1]]&urlSafe == 0) {
			return webToken(text, at)
		}
	case ':':
		if strings.HasPrefix(rest, "://") {
			return urlPassword(text, at+3)
		}
		if strings.HasPrefix(rest, ":AA") {
			return around(text, at, "telegram-token", digit, 8, urlSafe, 35, 35)
		}
		if strings.HasPrefix(rest, ":{S") {
			return ldapHash(text, at+1)
		}
		if found := crypted(text, at); found.End > 0 {
			return found
		}
		return passwordLine(text, at)
	case '$':
		if at == 0 || members[text[at-1]]&(alnum|dollar) == 0 {
			return hashed(text, at)
		}
	case '.':
		if strings.HasPrefix(rest, ".atlasv1.") {
			return around(text, at, "terraform-token", alnum, 14, urlSafe|dot|equals, 60, 90)
		}
		return discordToken(text, at)
	case 'Q':
		if strings.HasPrefix(rest, "Q~") && at >= 4 {
			return around(text, at, "azure-secret", alnum|dash|under|dot|tilde, 4, alnum|dash|under|dot|tilde, 32, 37)
		}
		if strings.HasPrefix(rest, "QQJ99") && at >= 1 && text[at-1] == 'J' { // what Microsoft's keys have in them
			return annotated(text, at)
		}
	case 'B', 'b':
		return authorization(text, at)
	case 'P':
		if strings.HasPrefix(rest, "Private-Lines:") {
			return puttyKey(text, at)
		}
	}
	return Span{}
}

// hashed returns the hash of a password as /etc/shadow, htpasswd and sites keep it: $6$salt$…
func hashed(text string, at int) Span {
	end := at
	for end < len(text) && end-at < maxValue && members[text[end]]&(base64|dot|dollar|dash|under) != 0 {
		end++
	}
	value := text[at:end]
	for _, begins := range [...]string{"$1$", "$5$", "$6$", "$y$", "$2a$", "$2b$", "$2y$", "$apr1$", "$P$", "$H$", "$argon2i", "$pbkdf2", "$scrypt"} {
		if strings.HasPrefix(value, begins) && len(value) >= 30 {
			return Span{at, end, "password-hash"}
		}
	}
	return Span{}
}

// crypted returns the oldest hash of a password, of thirteen characters, behind a user's name and a colon that are a line's begin.
func crypted(text string, at int) Span {
	end := at + 1
	for end < len(text) && end-at < 16 && members[text[end]]&(alnum|dot|base64More) != 0 {
		end++
	}
	if end-at != 14 || end < len(text) && text[end] != ':' && text[end] != '\n' && text[end] != '\r' {
		return Span{}
	}
	begin := at
	for begin > 0 && at-begin < 32 && members[text[begin-1]]&(urlSafe|dot) != 0 {
		begin--
	}
	kinds := alphabet(0)
	for _, c := range []byte(text[at+1 : end]) {
		kinds |= members[c] & (digit | lower | upper)
	}
	if begin == at || begin > 0 && text[begin-1] != '\n' || kinds != digit|lower|upper || !random(text[at+1:end]) {
		return Span{}
	}
	return Span{at + 1, end, "password-hash"}
}

// ldapHash returns the hash of a password as directories keep it: {SSHA}…
func ldapHash(text string, at int) Span {
	for _, begins := range [...]string{"{SHA}", "{SSHA}", "{SMD5}", "{SHA256}", "{SSHA256}", "{SSHA512}", "{SHA512}"} {
		if !strings.HasPrefix(text[at:], begins) {
			continue
		}
		end := at + len(begins)
		for end < len(text) && end-at < maxValue && members[text[end]]&base64 != 0 {
			end++
		}
		if end-at-len(begins) >= 24 {
			return Span{at, end, "password-hash"}
		}
	}
	return Span{}
}

// passwordLine returns the password of a line of .pgpass, whose first colon stands at a place: host:port:database:user:password
func passwordLine(text string, at int) Span {
	begin := at
	for begin > 0 && at-begin < maxName && text[begin-1] > ' ' && text[begin-1] != ':' {
		begin--
	}
	port := at + 1
	for port < len(text) && port-at < 7 && members[text[port]]&digit != 0 {
		port++
	}
	if n := port - at - 1; port == len(text) || text[port] != ':' || n < 2 || n > 5 || begin == at || begin > 0 && text[begin-1] != '\n' {
		return Span{}
	}
	end, fields := port+1, 0
	for end < len(text) && end-port < maxValue && text[end] > ' ' {
		if text[end] == ':' {
			fields++
			port = end
		}
		end++
	}
	if value := text[port+1 : end]; fields != 2 || len(value) < 6 || !mixed(value) || placeholder(value) {
		return Span{}
	}
	return Span{port + 1, end, "password"}
}

// annotated returns the key around the sign that Microsoft's keys have in them.
func annotated(text string, at int) Span {
	start, end := at, at
	for start > 0 && at-start < 64 && members[text[start-1]]&base64 != 0 {
		start--
	}
	for end < len(text) && end-at < 64 && members[text[end]]&base64 != 0 {
		end++
	}
	if at-start < 32 || end-at < 20 {
		return Span{}
	}
	return Span{start, end, "azure-key"}
}

// around returns the token around an anchor: at least before characters of one alphabet ahead of it, and a run of
// least to most characters of another from it on, the anchor's own included.
func around(text string, at int, kind string, ahead alphabet, before int, tail alphabet, least, most int) Span {
	start := at
	for start > 0 && at-start < before+4 && members[text[start-1]]&ahead != 0 {
		start--
	}
	if kind == "azure-secret" && at-start >= 4 {
		start = at - 4
	}
	if n := at - start; n < before || n > before+3 {
		return Span{}
	}
	end := at + 1
	for end < len(text) && end-at <= most+1 && members[text[end]]&tail != 0 {
		end++
	}
	if n := end - at - 1; n < least-1 || n > most {
		return Span{}
	}
	return Span{start, end, kind}
}

// maxKeyBlock bounds how far the end of a key block is looked for.
const maxKeyBlock = 16 << 10

// keyBlock returns a private key in armour. A block whose end is missing counts as far as its characters go: a cut key
// is still a key.
func keyBlock(text string, at int) Span {
	line := text[at : at+min(len(text)-at, 80)]
	label := line[len("-----BEGIN "):]
	stop := strings.Index(label, "-----")
	if stop < 0 || !strings.Contains(label[:stop], "PRIVATE KEY") {
		return Span{}
	}
	from := at + len("-----BEGIN ") + stop + 5
	body := text[from : from+min(len(text)-from, maxKeyBlock)]
	ahead := linePrefix(text, at)
	key := 0
	for i := 0; i < len(body); i++ {
		c := body[i]
		if c == '\n' && ahead != "" && samePrefix(ahead, body[i+1:]) {
			i += len(ahead)
			continue
		}
		if c == '\\' && i+1 < len(body) && (body[i+1] == 'n' || body[i+1] == 'r') {
			i++
			continue
		}
		if strings.HasPrefix(body[i:], "-----END ") {
			end := i + len("-----END ")
			if close := strings.Index(body[end:min(len(body), end+64)], "-----"); close >= 0 {
				end += close + 5
			}
			if key < 24 {
				return Span{}
			}
			return Span{at, from + end, "private-key"}
		}
		if strings.HasPrefix(body[i:], "-----BEGIN ") {
			body = body[:i]
			break
		}
		if members[c]&base64 != 0 {
			key++
		} else if !strings.ContainsRune(" \t\r\n\"'`+,\\:()-;", rune(c)) {
			body = body[:i]
		}
	}
	if key < 40 {
		return Span{}
	}
	return Span{at, from + len(body), "private-key"}
}

// linePrefix is what a line begins with before a place, as each line of a log does; nothing where that is long.
func linePrefix(text string, at int) string {
	from := at
	for from > 0 && at-from < maxName && text[from-1] != '\n' {
		from--
	}
	if from > 0 && text[from-1] != '\n' {
		return ""
	}
	return text[from:at]
}

// samePrefix reports whether a line begins as another one does but for its digits.
func samePrefix(prefix, line string) bool {
	if len(line) < len(prefix) {
		return false
	}
	for i := 0; i < len(prefix); i++ {
		if prefix[i] != line[i] && (members[prefix[i]]&digit == 0 || members[line[i]]&digit == 0) {
			return false
		}
	}
	return true
}

// puttyKey returns the private lines of a PuTTY key file.
func puttyKey(text string, at int) Span {
	end := at + len("Private-Lines:")
	key := 0
	for end < len(text) && end-at < maxKeyBlock &&
		(members[text[end]]&base64 != 0 || strings.IndexByte(" \r\n", text[end]) >= 0) {
		if members[text[end]]&base64 != 0 {
			key++
		}
		end++
	}
	if key < 40 {
		return Span{}
	}
	return Span{at + len("Private-Lines:"), end, "private-key"}
}

// webToken returns a signed web token: two or three base64url parts, the first a JSON object.
func webToken(text string, at int) Span {
	end, parts, length := at, 0, 0
	for end < len(text) && end-at < 8192 {
		c := text[end]
		switch {
		case members[c]&urlSafe != 0:
			length++
		case c == '.' && length >= 8 && parts < 4:
			parts, length = parts+1, 0
		default:
			c = 0
		}
		if c == 0 {
			break
		}
		end++
	}
	first, _, _ := strings.Cut(text[at:end], ".")
	if parts < 1 || end-at < 40 || !header(first) || at > 1 && text[at-1] == '.' && members[text[at-2]]&urlSafe != 0 {
		return Span{}
	}
	return Span{at, end, "web-token"}
}

// urlPassword returns the password in the authority of a URL whose authority begins at from.
func urlPassword(text string, from int) Span {
	colonAt := -1
	for i := from; i < len(text) && i-from < 300; i++ {
		switch c := text[i]; {
		case c == ':' && colonAt < 0:
			colonAt = i
		case c == '@':
			if colonAt < 0 || i-colonAt < 3 || placeholder(text[colonAt+1:i]) || standsIn(text[colonAt+1:i]) {
				return Span{}
			}
			return Span{colonAt + 1, i, "url-password"}
		case c <= ' ' || c == '/' || c == '"' || c == '\'' || c == '`' || c == '<' || c == '>' || c == '\\':
			return Span{}
		}
	}
	return Span{}
}

// standsIn reports whether a password of a URL is one that examples have: the word itself.
func standsIn(password string) bool {
	switch strings.ToLower(password) {
	case "mypassword", "mypass", "mongodb", "mysql", "postgres", "redis":
		return true
	}
	return false
}

// discordToken returns a bot token around the first of its two dots: an encoded id, a stamp, a signature.
func discordToken(text string, at int) Span {
	if at < 23 || len(text)-at < 34 || text[at+7] != '.' {
		return Span{}
	}
	start := at
	for start > 0 && at-start <= 28 && members[text[start-1]]&urlSafe != 0 {
		start--
	}
	if n := at - start; n < 23 || n > 28 || strings.IndexByte("MNO", text[start]) < 0 {
		return Span{}
	}
	for i := at + 1; i < at+7; i++ {
		if members[text[i]]&urlSafe == 0 {
			return Span{}
		}
	}
	end := at + 8
	for end < len(text) && end-at < 60 && members[text[end]]&urlSafe != 0 {
		end++
	}
	if n := end - at - 8; n != 27 && n != 38 {
		return Span{}
	}
	return Span{start, end, "discord-token"}
}

// authorization returns the credential of an Authorization value: "Bearer …" or "Basic …".
func authorization(text string, at int) Span {
	if at > 0 && isWord(text[at-1]) {
		return Span{}
	}
	kind, from := "", 0
	switch {
	case len(text)-at > 7 && strings.EqualFold(text[at:at+7], "bearer "):
		kind, from = "bearer-token", at+7
	case len(text)-at > 6 && strings.EqualFold(text[at:at+6], "basic "):
		kind, from = "basic-credential", at+6
	default:
		return Span{}
	}
	end := from
	for end < len(text) && end-from < 4096 && members[text[end]]&(base64|urlSafe|dot|tilde) != 0 {
		end++
	}
	value := text[from:end]
	if len(value) < 16 || placeholder(value) || !random(value) && !(kind == "basic-credential" && strings.HasSuffix(value, "=")) {
		return Span{}
	}
	return Span{from, end, kind}
}
