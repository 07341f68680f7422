package secret

import "strings"

// How an option carries a password.
const (
	inNext   = 1 << iota // the next word is it
	inSame               // it follows the option's letter at once
	inColon              // it follows the user and a colon
	inSlash              // it follows the user and a percent sign
	inPass               // it follows "pass:"
	inLast               // the last operand is it
	inBefore             // a command before this one prints it: echo … |
	inCookie             // it is the values of cookies
)

// A flag is an option that takes a password, of some programs.
type flag struct {
	text     string
	programs string // between blanks
	how      int
}

// flags lists what programs take passwords by, where no word in the option says so; --password is found by its name.
var flags = [...]flag{
	{"-u", " curl wget http https xh ", inNext | inSame | inColon},
	{"--user", " curl ", inNext | inColon},
	{"--proxy-user", " curl ", inNext | inColon},
	{"-U", " curl ", inNext | inSame | inColon},
	{"-b", " curl ", inNext | inCookie},
	{"--cookie", " curl ", inNext | inCookie},
	{"-U", " smbclient rpcclient net winexe ", inNext | inSame | inSlash},
	{"-a", " http https xh ", inNext | inColon},
	{"-a", " redis-cli ", inNext},
	{"-p", " mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mariadb mariadb-dump mariadb-admin mycli 7z 7za 7zz ", inSame},
	{"-p", " sshpass ", inNext | inSame},
	{"-p", " mongo mongosh mongodump mongorestore mongoexport mongoimport login cqlsh rabbitmqadmin influx clickhouse-client ", inNext},
	{"-P", " zip unzip zipcloak sqlcmd bcp mosquitto_pub mosquitto_sub ipmitool ", inNext},
	{"-w", " ldapsearch ldapmodify ldapadd ldapdelete ldappasswd ldapwhoami ", inNext},
	{"-k", " openssl ", inNext},
	{"-pass", " openssl ", inNext | inPass},
	{"-passin", " openssl ", inNext | inPass},
	{"-passout", " openssl ", inNext | inPass},
	{"-storepass", " keytool jarsigner apksigner ", inNext},
	{"-keypass", " keytool jarsigner ", inNext},
	{"-b", " htpasswd ", inLast},
	{"-bc", " htpasswd ", inLast},
	{"-cb", " htpasswd ", inLast},
	{"-nb", " htpasswd ", inLast},
	{"-nbB", " htpasswd ", inLast},
	{"-S", " sudo ", inBefore},
}

// optionValue returns the password that the option carries that begins at a minus sign.
func optionValue(text string, at int) Span {
	if at < 3 || at+2 >= len(text) || strings.IndexByte(" \t\"'`,[", text[at-1]) < 0 {
		return Span{}
	}
	for n := range flags {
		o := &flags[n]
		if text[at+1] != o.text[1] || !strings.HasPrefix(text[at:], o.text) {
			continue
		}
		if found := o.value(text, at); found.End > found.Start && o.runs(text, at) {
			return found
		}
	}
	return Span{}
}

// value is what an option at a place carries, whatever the program is.
func (o *flag) value(text string, at int) Span {
	from := at + len(o.text)
	separate := from < len(text) && strings.IndexByte(" \t=\"',", text[from]) >= 0
	switch {
	case o.how&inBefore != 0:
		return echoed(text, at)
	case from >= len(text) || separate && o.how&inNext == 0 && o.how&inLast == 0 || !separate && o.how&inSame == 0:
		return Span{}
	}
	for separate && from < len(text) && from-at < 16 && strings.IndexByte(" \t=\",'", text[from]) >= 0 {
		from++
	}
	if o.how&inLast != 0 {
		return lastOperand(text, from)
	}
	quote := byte(0)
	if from > 0 && (text[from-1] == '"' || text[from-1] == '\'') {
		quote = text[from-1]
	} else if from < len(text) && (text[from] == '"' || text[from] == '\'') {
		quote = text[from]
		from++
	}
	stop := operandEnd(text, from, quote)
	if o.how&inCookie != 0 {
		return cookiesIn(text, from, stop, quote, false)
	}
	for _, part := range [...]struct {
		how  int
		sign string
	}{{inColon, ":"}, {inSlash, "%"}, {inPass, "pass:"}} {
		if o.how&part.how == 0 {
			continue
		}
		cut := strings.Index(text[from:stop], part.sign)
		if cut < 0 || part.how == inPass && cut > 0 {
			return Span{}
		}
		from += cut + len(part.sign)
	}
	if from == stop && quote == 0 && stop+1 < len(text) && (text[stop] == '\'' || text[stop] == '"') { // ann:'…'
		from, stop = stop+1, operandEnd(text, stop+1, text[stop])
	}
	return passwordIn(text, from, stop)
}

// passwordIn is the span of a password on a command line, if what is there can be one.
func passwordIn(text string, from, stop int) Span {
	value := text[from:stop]
	if len(value) < 3 || value[0] == '-' || value[0] == '/' || placeholder(value) || strings.HasPrefix(value, "%") {
		return Span{}
	}
	return Span{from, stop, "command-password"}
}

// operandEnd returns where a word of a command line ends that begins at a place.
func operandEnd(text string, from int, quote byte) int {
	end := from
	for end < len(text) && end-from < maxValue {
		c := text[end]
		if c == '\n' || c == '\\' && end+1 < len(text) && (text[end+1] == '"' || text[end+1] == 'n') || quote != 0 && c == quote ||
			quote == 0 && (c <= ' ' || strings.IndexByte("\"'`;|&<>),", c) >= 0) {
			break
		}
		end++
	}
	return end
}

// lastOperand is the last word of a command, if there are two at least.
func lastOperand(text string, at int) Span {
	words, from, end := 0, at, at
	for at < len(text) && at-from < maxValue && words < 4 {
		for at < len(text) && (text[at] == ' ' || text[at] == '"' || text[at] == '\'') {
			at++
		}
		stop := operandEnd(text, at, 0)
		if stop == at {
			break
		}
		words, from, end, at = words+1, at, stop, stop
	}
	if words < 2 {
		return Span{}
	}
	return passwordIn(text, from, end)
}

// echoed is what an echo before a pipe prints into the command whose option is at a place.
func echoed(text string, at int) Span {
	near := max(0, at-maxCommand)
	pipe := strings.LastIndexByte(text[near:at], '|')
	if pipe < 0 {
		return Span{}
	}
	line := text[near : near+pipe]
	begin := max(strings.LastIndex(line, "echo "), strings.LastIndex(line, "printf "))
	if begin < 0 || strings.ContainsAny(line[begin:], ";&|\n") {
		return Span{}
	}
	line = strings.TrimRight(line, " \"'")
	from := strings.LastIndexAny(line, " \"'") + 1
	if from <= begin {
		return Span{}
	}
	return passwordIn(text, near+from, near+len(line))
}

// maxCommand is how far before an option its program is looked for.
const maxCommand = 320

// runs reports whether the command that an option at a place belongs to runs one of its programs.
func (o *flag) runs(text string, at int) bool {
	from := max(0, at-maxCommand)
	for i := at - 1; i >= from; i-- {
		if c := text[i]; c == '|' || c == ';' || c == '&' || c == '\n' && text[i-min(i, 1)] != '\\' {
			from = i + 1
		}
	}
	argument := false // of an option before it: find -name mysql -print
	for i := from; i < at; {
		start := i
		for i < at && strings.IndexByte(" \t\"'`(,[", text[i]) < 0 {
			if text[i] == '/' {
				start = i + 1
			}
			i++
		}
		if word := text[start:i]; len(word) >= 2 {
			if k := strings.Index(o.programs, word); !argument && k > 0 && o.programs[k-1] == ' ' && o.programs[k+len(word)] == ' ' {
				return true
			}
			argument = word[0] == '-'
		}
		i++
	}
	return false
}
