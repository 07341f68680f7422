package call

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/lex"
)

// Arguments that say for whom a call acts, whatever it does, and those that say so only of what is said to people.
var (
	actingFor = lex.Set([]string{"onbehalfof", "behalfof", "sendas", "sendingas", "postas", "replyas", "actas", "actingas", "runasuser",
		"impersonate", "impersonateuser", "impersonateduser", "impersonating", "impersonateserviceaccount", "asif", "asiffrom", "pretendtobe"})
	sendsAs = lex.Set([]string{"from", "sender", "fromaddress", "fromemail", "emailfrom", "mailfrom", "fromname", "fromuser", "sendername",
		"senderemail", "senderid", "author", "authorname", "authoremail", "committer", "committername", "committeremail", "username",
		"displayname", "postedby", "sentby", "signedby", "signas", "asuser", "persona"})
)

// poses reports whether the arguments of a call name somebody else than this user or a program as who does it, or whom a message is
// from. In a call that only reads, a sender is what is looked for.
func (s callRun) poses(c *call, folded map[string]any) bool {
	if c.kind == interlock.ImpactRead || c.reversibility == interlock.Readonly {
		return false
	}
	speaks := c.kind == interlock.ImpactMessage || lex.Has(c.words, "commit", "comment", "message", "mail", "email", "reply", "review",
		"post", "announce", "announcement", "note", "send")
	speaks = speaks && c.transfers == "" // from where it is moved
	for _, key := range lex.SortedNames(folded) {
		if !s.Spend(1) {
			return false
		}
		who, told := whom(folded[key])
		bare := strings.NewReplacer("_", "", "-", "").Replace(key)
		if told && (actingFor.Has(bare) || speaks && sendsAs.Has(bare)) && fact.Poses(who, s.View.User) {
			return true
		}
	}
	return false
}

// whom is the name in an argument: a text with letters, or an object that has one.
func whom(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, len(v) <= maxName && strings.ContainsFunc(v, func(c rune) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c > 0x7f })
	case map[string]any:
		folded := foldKeys(v)
		for _, key := range [...]string{"name", "email", "address", "emailaddress"} {
			if text, is := folded[key].(string); is && text != "" {
				return whom(text)
			}
		}
	}
	return "", false
}

// maxName is how long a name may be; a longer text is no name.
const maxName = 256
