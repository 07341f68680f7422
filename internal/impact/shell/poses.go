package shell

import (
	"path"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
)

// poses reports whether a use of a command says that somebody else than this user does it: by a flag or a variable that names who,
// by a setting of git, or by a header of the message. What can't be read here, such as a name out of a variable nobody set, is no
// evidence of anybody.
func (r *shellRun) poses(u *flow.Use, in flow.Flow) bool {
	for _, g := range u.Flags {
		switch o := g.Option; {
		case o.Setting != "" && r.posesBySetting(g.Value):
			return true
		case o.Poses == "", o.Poses == know.PosesAsAddress && !strings.Contains(g.Value.Text, "@"):
		case o.Poses == know.PosesAsHeader && headed(g.Value.Text) == "":
		case r.posesAs(g.Value):
			return true
		}
	}
	if u.Via == "git config" && len(u.Operands) > 1 && identityKey(u.Operands[0].Text) {
		return r.posesAs(u.Operands[1])
	}
	return in.Known && sendsMail(u) && r.posesInHeaders(in.Text)
}

// sendsMail reports whether a use sends what it reads, headers and all.
func sendsMail(u *flow.Use) bool {
	return slices.ContainsFunc(u.Spec.Impacts, func(e know.Effect) bool { return e.Kind == interlock.ImpactMessage })
}

// posesInHeaders looks for a sender in the headers of a message, which end with an empty line.
func (r *shellRun) posesInHeaders(text string) bool {
	head, _, _ := strings.Cut(text, "\n\n")
	if !r.S.Spend(1 + len(head)/64) {
		return false
	}
	for line := range strings.Lines(head) {
		if who := headed(line); who != "" && r.posesAs(flow.Literal(who)) {
			return true
		}
	}
	return false
}

// headed is whom a header or a setting names as the sender, or nothing.
func headed(text string) string {
	text = strings.TrimSpace(text)
	for _, before := range [...]string{"from:", "sender:", "set from=", "from="} {
		if len(text) > len(before) && strings.EqualFold(text[:len(before)], before) {
			return strings.TrimSpace(text[len(before):])
		}
	}
	return ""
}

// posesBySetting reads user.name=WHO, From: WHO and set from=WHO.
func (r *shellRun) posesBySetting(value flow.Field) bool {
	key, _, found := strings.Cut(value.Text, "=")
	return found && identityKey(key) && r.posesAs(cut(value, len(key)+1))
}

func identityKey(key string) bool {
	switch strings.ToLower(key) {
	case "user.name", "user.email", "author.name", "author.email", "committer.name", "committer.email":
		return true
	}
	return false
}

// posesAs reports whether a value names somebody who is neither this user nor a program.
func (r *shellRun) posesAs(value flow.Field) bool {
	who := value.Text
	if named := headed(who); named != "" {
		who = named
	}
	if value.Dynamic || !fact.Poses(who, r.S.View.User) {
		return false
	}
	return fact.Poses(who, r.configured()...)
}

// configured are the names by which the repository's own settings know its user. Only the workspace is read.
func (r *shellRun) configured() []string {
	root := r.S.View.Workspace
	if root == "" {
		return nil
	}
	text, _ := r.S.ScriptAt(know.Place{Path: path.Join(root, ".git", "config")})
	var own []string
	inUser := false
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			inUser = strings.EqualFold(line, "[user]")
			continue
		}
		key, value, found := strings.Cut(line, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		if inUser && found && (key == "name" || key == "email") && len(own) < 4 {
			own = append(own, value)
		}
	}
	return own
}
