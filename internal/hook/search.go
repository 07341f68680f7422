package hook

import (
	"strings"

	"interlock/internal/strictjson"
)

// showsLines reports whether a search shows what the files hold, and not only which ones hold it.
func (u use) showsLines() bool {
	mode, err := u.input.text("output_mode")
	return err == nil && mode == "content" && searches(u.tool)
}

// shown is a search that shows lines, below p: what it looks for and in which files says whether those are lines of secrets.
func (u use) shown(p string) ([]byte, error) {
	search := map[string]string{"path": p, "output_mode": "content"}
	for _, name := range []string{"pattern", "glob"} {
		if text, err := u.input.text(name); err == nil && text != "" {
			search[name] = text
		}
	}
	arguments, err := strictjson.Marshal(search)
	if err != nil {
		return nil, unreadable(err)
	}
	return arguments, nil
}

// searched is where a search without a path looks: below an absolute pattern, else in the working directory.
func (u use) searched() string {
	if pattern, err := u.input.first("pattern", "glob_pattern"); err == nil && absolute(pattern) &&
		!strings.Contains(u.tool, "rep") && u.tool != "rg" {
		return pattern
	}
	if u.dir == "" {
		return "."
	}
	return u.dir
}
