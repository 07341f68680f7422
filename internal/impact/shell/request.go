package shell

import (
	"strings"

	"interlock/internal/impact/flow"
)

// items are what a request made by operands sends: name=value, name:=json, name@file behind the address.
func items(u *flow.Use) (texts []string) {
	for i, f := range u.Operands {
		if i == 0 {
			continue
		}
		at := strings.IndexAny(f.Text, "=@:")
		if at > 0 && (f.Text[at] == '=' && !strings.HasPrefix(f.Text[at:], "==") || f.Text[at] == '@' ||
			strings.HasPrefix(f.Text[at:], ":=")) {
			texts = append(texts, f.Text)
		}
	}
	return texts
}

// body is what a request sends, as far as the command line spells it out.
func body(u *flow.Use) string {
	var texts []string
	for _, g := range u.Flags {
		if g.Option.Body {
			texts = append(texts, g.Value.Text)
		}
	}
	for n := u.Spec; n != nil; n = n.Parent {
		if n.Posting != "" {
			texts = append(texts, items(u)...)
			break
		}
	}
	return strings.Join(texts, "&")
}
