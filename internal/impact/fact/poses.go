package fact

import "strings"

// Poses reports whether somebody who is named as the author of an act or the sender of a message is neither this user, by one of
// the names given, nor something that says of itself that it is a program (ASA 6.3). Words are all there is to go by, so this says
// only what the action claims; whether the claim would be believed, or was allowed, is for people to say.
func Poses(who string, own ...string) bool {
	name, address, local := parts(who)
	if name == "" && address == "" {
		return false
	}
	for _, o := range own {
		if o = plain(o); o != "" && (o == name || o == address || o == local) {
			return false
		}
	}
	return !program(name, address) && !program(local, address) && !themselves[name]
}

// parts reads "Name <local@host>", an address or a name.
func parts(who string) (name, address, local string) {
	name = plain(who)
	if before, after, found := strings.Cut(name, "<"); found {
		inside, _, _ := strings.Cut(after, ">")
		name, address = plain(before), plain(inside)
	} else if strings.Contains(name, "@") && !strings.ContainsAny(name, " ") && !strings.HasPrefix(name, "@") {
		name, address = "", name
	}
	local, _, _ = strings.Cut(address, "@")
	if before, _, tagged := strings.Cut(local, "+"); tagged {
		local = before
	}
	return name, address, local
}

func plain(text string) string {
	return strings.ToLower(strings.Trim(strings.Join(strings.Fields(text), " "), "\"'` \t"))
}

// themselves are values by which a caller names itself.
var themselves = map[string]bool{"me": true, "self": true, "myself": true, "i": true, "default": true, "true": true, "false": true,
	"none": true, "null": true, "auto": true, "current": true, "current user": true, "current_user": true}

// program reports whether a name says that a program bears it. One that says which well-known program it is says that it is another
// system, and that is what an agent must not say either.
func program(name, address string) bool {
	for _, system := range [...]string{"dependabot", "renovate", "github-actions", "gitlab-bot", "jenkins", "mailer-daemon", "postmaster"} {
		if strings.Contains(name, system) || strings.Contains(address, system) {
			return false
		}
	}
	words := strings.FieldsFunc(name, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	if len(words) == 0 {
		return false
	}
	switch words[len(words)-1] {
	case "bot", "robot", "agent", "assistant", "ai", "noreply", "automation", "ci", "notifications":
		return true
	case "reply":
		return len(words) > 1 && (words[len(words)-2] == "no" || words[len(words)-2] == "not")
	}
	return false
}
