package secret

import "strings"

// insertInto begins a statement, as programs write it and as people do.
var insertInto = [...]string{"INSERT INTO ", "insert into "}

// inserted finds the passwords in statements of SQL that add rows of users: under the name of their column, or by their form.
func inserted(text string) (found []Span) {
	for _, begins := range insertInto {
		for at := strings.Index(text, begins); at >= 0; {
			var next int
			found, next = rows(text, at+len(begins), found)
			if at = strings.Index(text[next:], begins); at >= 0 {
				at += next
			}
		}
	}
	return found
}

// rows adds the passwords in the rows of the statement whose table stands at a place, and returns where they end.
func rows(text string, at int, found []Span) (_ []Span, next int) {
	values := valuesOf(text[at:])
	if values < 0 {
		return found, at
	}
	table, columns, _ := strings.Cut(text[at:at+values], "(")
	column, people := passwordColumn(columns), ofPeople(table)
	for at += values + len("VALUES"); at < len(text); {
		begin := rowBegin(text, at)
		if begin < 0 {
			break
		}
		at = begin
		for n := 0; at < len(text); n++ {
			from, to, behind := field(text, at)
			value := text[from:to]
			if n == column && len(value) >= 4 && !placeholder(value) && !composed(value) || column < 0 && people && hexHash(value) {
				found = append(found, Span{from, to, "password"})
			}
			if at = behind; at == len(text) || text[at] != ',' {
				break
			}
			at++
		}
	}
	return found, at
}

// passwordColumn is the place of the column of passwords in a list of names, or -1.
func passwordColumn(columns string) int {
	n := 0
	for name := range strings.SplitSeq(columns, ",") {
		name = strings.Trim(name, " `\"[])\n\r\t'")
		if w, ok := wordAt(name, strings.LastIndexByte(name, '_')+1); ok && w.strong {
			return n
		}
		n++
	}
	return -1
}

// maxHead bounds what is before the values of a statement.
const maxHead = 1 << 10

// valuesOf returns where the values of a statement follow behind its table; -1: there are none.
func valuesOf(statement string) int {
	head := statement[:min(len(statement), maxHead)]
	for _, next := range insertInto {
		if cut := strings.Index(head, next); cut >= 0 {
			head = head[:cut]
		}
	}
	return max(strings.Index(head, "VALUES"), strings.Index(head, "values"))
}

// ofPeople reports a table of people who log in.
func ofPeople(table string) bool {
	table = strings.ToLower(table)
	for _, of := range [...]string{"user", "account", "member", "login", "customer", "admin", "credential"} {
		if strings.Contains(table, of) {
			return true
		}
	}
	return false
}

// hexHash reports an MD5, SHA-1 or SHA-256 in hexadecimal digits.
func hexHash(value string) bool {
	return (len(value) == 32 || len(value) == 40 || len(value) == 64) && only(value, hexDigits) && random(value)
}

// rowBegin returns where the values of the next row begin; -1: the statement has ended.
func rowBegin(text string, at int) int {
	for ; at < len(text); at++ {
		switch text[at] {
		case '(':
			return at + 1
		case ' ', '\n', '\r', '\t', ',', ')':
		default:
			return -1
		}
	}
	return -1
}

// field returns where the value of a row that begins at a place does without its quotes, where it ends, and what is behind it.
func field(text string, at int) (from, to, next int) {
	for at < len(text) && strings.IndexByte(" \n\t", text[at]) >= 0 {
		at++
	}
	if at < len(text) && (text[at] == '\'' || text[at] == '"') {
		quote := text[at]
		for next = at + 1; next < len(text) && text[next] != quote; next++ {
			if text[next] == '\\' {
				next++
			}
		}
		next = min(next, len(text))
		return at + 1, next, min(next+1, len(text))
	}
	for next = at; next < len(text) && text[next] != ',' && text[next] != ')'; next++ {
	}
	return at, next, next
}
