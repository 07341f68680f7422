package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
)

// administers reads a call of a document store's shell that does more than its name says: a command given as an object, several
// operations at once, accounts, and a removal of every document. It reports whether it was one.
func (f *foreignScan) administers(last string, end int) bool {
	near := f.text[end:min(len(f.text), end+256)]
	plain := strings.NewReplacer(" ", "", "\n", "", "\t", "", "\"", "", "'", "").Replace(near)
	switch last {
	case "remove":
		if !strings.HasPrefix(plain, "({})") && !strings.HasPrefix(plain, "()") {
			return strings.HasPrefix(plain, "(")
		}
		f.drops("deleteMany", len(f.text))
	case "runCommand", "adminCommand", "bulkWrite", "_adminCommand":
		for _, word := range [...]string{"dropDatabase:", "drop:", "shutdown:", "deleteMany:", "delete:", "dropIndexes:",
			"dropAllUsersFromDatabase:", "dropUser:", "dropRole:"} {
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
	case "createUser", "updateUser", "grantRolesToUser", "changeUserPassword", "createRole", "addUser":
		f.grants(last)
	default:
		return false
	}
	return true
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
			name := text[i+2:]
			if n := strings.IndexByte(name, text[i+1]); n > 0 && n < 64 && n+1 < len(name) && name[n+1] == ']' {
				b.WriteByte('.')
				b.WriteString(name[:n])
				i += n + 3
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
