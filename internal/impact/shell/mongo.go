package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/lex"
)

// maxCall bounds how far the words of one call are looked at.
const maxCall = 4096

// administers reads a call of a document store's shell that does more than its name says: a command given as an object, several
// operations at once, accounts, a removal or a change of many documents. It reports whether it was one.
func (f *foreignScan) administers(last string, end int) bool {
	given, plain := f.given(end)
	switch last {
	case "remove":
		if !strings.HasPrefix(plain, "(") {
			return false
		}
		if f.removesOne(given, plain) {
			return true
		}
		f.drops("deleteMany", end)
	case "deleteOne", "findOneAndDelete": // one, unless it is done over and over
		if f.again() {
			f.drops("deleteMany", len(f.text))
			return true
		}
		return false
	case "runCommand", "adminCommand", "bulkWrite", "_adminCommand":
		return f.commanded(last, plain, end)
	case "updateMany", "update":
		if !strings.HasPrefix(plain, "({},") || last == "update" && !strings.Contains(plain, "multi:true") {
			return false
		}
		f.replaces(last)
	case "aggregate":
		if !strings.Contains(plain, "{$out:") {
			return false
		}
		f.replaces(last)
	case "renameCollection":
		if !strings.Contains(plain, ",true") {
			return false
		}
		f.replaces(last)
	case "load":
		f.loads(given)
	case "createUser", "updateUser", "grantRolesToUser", "changeUserPassword", "createRole", "addUser":
		f.grants(last)
	default:
		return false
	}
	return true
}

// given is what a call is given, as it is there and without blanks and quotes.
func (f *foreignScan) given(end int) (text, plain string) {
	text = f.text[end:min(len(f.text), end+maxCall)]
	if !strings.HasPrefix(strings.TrimLeft(text, " "), "(") || !f.r.S.Spend(1+len(text)/64) {
		return "", ""
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"', '\'':
			_, i = lex.StringLiteral(text, i)
			i--
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				text = text[:i+1]
			}
		}
	}
	return text, strings.NewReplacer(" ", "", "\n", "", "\t", "", "\"", "", "'", "").Replace(text)
}

// removesOne reports whether a removal takes away one document at most: that with an id that is spelled out, or the first.
func (f *foreignScan) removesOne(given, plain string) bool {
	if f.again() {
		return false
	}
	if strings.Contains(plain, "justOne:true") || strings.HasSuffix(plain, ",true)") {
		return true
	}
	id, named := strings.CutPrefix(plain, "({_id:")
	if !named || strings.Contains(id, "$") || strings.Contains(id, ",") {
		return false
	}
	_, quoted, _ := strings.Cut(given, ":")
	quoted = strings.TrimLeft(quoted, " ")
	return id != "" && id[0] >= '0' && id[0] <= '9' || strings.HasPrefix(id, "ObjectId(") ||
		quoted != "" && (quoted[0] == '"' || quoted[0] == '\'')
}

// again reports whether the program does things over and over.
func (f *foreignScan) again() bool {
	for _, sign := range [...]string{"forEach", "while", "for (", "for(", ".map("} {
		if strings.Contains(f.text, sign) {
			return true
		}
	}
	return false
}

// commanded reads a command that a call gives as an object.
func (f *foreignScan) commanded(last, plain string, end int) bool {
	for _, word := range [...]string{"dropDatabase:", "drop:", "shutdown:", "deleteMany:", "delete:", "dropIndexes:",
		"dropAllUsersFromDatabase:", "dropUser:", "dropRole:", "dropTarget:"} {
		if strings.Contains(plain, word) {
			f.drops(strings.TrimSuffix(word, ":"), end)
			return true
		}
	}
	if strings.Contains(plain, "createUser:") || strings.Contains(plain, "grantRolesToUser:") ||
		strings.Contains(plain, "updateUser:") {
		f.grants(last)
	}
	return false
}

// replaces records that all of what a collection holds becomes something else.
func (f *foreignScan) replaces(last string) {
	f.r.S.Add(interlock.Impact{Kind: interlock.ImpactWrite, Target: "database", Reach: interlock.ReachWorkspace,
		Via: f.kind + " " + last, Reversibility: interlock.Irreversible, Traits: []string{fact.TraitDatabase, fact.TraitBulk}})
}

// loads reads a file of the same language that a program runs.
func (f *foreignScan) loads(given string) {
	args, _, _ := lex.LiteralArguments(given, 0)
	if len(args) == 0 || f.loaded > maxIncluded {
		return
	}
	if text, ok := f.r.textOf(args[0]); ok {
		inner := &foreignScan{r: f.r, kind: f.kind, text: membersNamed(text), loaded: f.loaded + 1}
		inner.run()
	}
}

// grants records an account of a database that is made or given more rights.
func (f *foreignScan) grants(last string) {
	f.r.S.Add(interlock.Impact{Kind: interlock.ImpactPrivilege, Target: "database", Reach: interlock.ReachWorkspace,
		Via: f.kind + " " + last, Reversibility: interlock.Reversible,
		Traits: []string{fact.TraitDatabase, fact.TraitAccount}})
}

// membersNamed writes members that a text in brackets names as if a dot named them: db["users"]["drop"]() is db.users.drop().
func membersNamed(text string) string {
	if !strings.Contains(text, `["`) && !strings.Contains(text, "['") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '[' && i > 0 && i+2 < len(text) && (text[i+1] == '"' || text[i+1] == '\'') &&
			!strings.ContainsRune("([{,: =", rune(text[i-1])) {
			if name, end := spelledMember(text, i+1); end > 0 {
				b.WriteByte('.')
				b.WriteString(name)
				i = end
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// spelledMember is the name that texts in brackets spell, one or several joined by plus signs, and where the bracket closes;
// 0 if they spell none.
func spelledMember(text string, at int) (name string, end int) {
	for parts := 0; parts < 8 && at < len(text) && (text[at] == '"' || text[at] == '\''); parts++ {
		n := strings.IndexByte(text[at+1:min(len(text), at+66)], text[at])
		if n < 0 {
			return "", 0
		}
		name += text[at+1 : at+1+n]
		at = lex.SkipAny(text, at+n+2, " ")
		if at < len(text) && text[at] == ']' {
			return name, at
		}
		if at >= len(text) || text[at] != '+' {
			return "", 0
		}
		at = lex.SkipAny(text, at+1, " ")
	}
	return "", 0
}
