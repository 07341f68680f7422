package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// Programs of Windows that nothing describes. There are thousands, and many of them load, start or fetch what an argument
// names; so the argument decides: an address, a share, a library, a script or another program ("win:?" says which).

// Loads judges what an unknown program of Windows is given. Words that name nothing of that kind say nothing.
func (r *shellRun) Loads(args []flow.Field, io flow.Streams) {
	if args[0].Text == "" {
		return
	}
	named := strings.HasSuffix(strings.ToLower(args[0].Text), ".exe")
	if len(args) < 2 || !named && (!r.S.Windows || !lex.IsNameStart(args[0].Text[0]) || shellWord(args[0].Text)) {
		return
	}
	spec := r.S.Know.Lookup("win:?")
	if spec == nil {
		return
	}
	for i, a := range args[1:] {
		if i >= fact.MaxItems || !r.S.Spend(1) {
			return
		}
		named := a
		named.Text = valuePart(a.Text)
		if named.Dynamic || named.Text == "" || len(conditions(spec, []flow.Field{named})) == 0 {
			continue
		}
		for _, found := range r.S.Capture(func() { r.Described(spec, []flow.Field{args[0], named}, io) }) {
			found.Via, found.Confidence = args[0].Text, interlock.Inferred
			r.S.Add(found)
		}
	}
}

// valuePart is what an argument names behind the flag it is written together with: --x=VALUE, /x:VALUE, key=VALUE.
func valuePart(text string) string {
	if text == "" {
		return ""
	}
	at := strings.IndexAny(text, "=:")
	flag := text[0] == '-' || text[0] == '/' && !strings.HasPrefix(text, "//")
	if at > 1 && (flag || text[at] == '=') && !strings.HasPrefix(text[at:], "://") {
		text = text[at+1:]
	} else if flag {
		return ""
	}
	return strings.ToLower(strings.Trim(text, `"'{}`))
}

// shellWord reports whether a word is one of bash's own, which no program of Windows is called.
func shellWord(text string) bool {
	switch text {
	case "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "select",
		"local", "export":
		return true
	}
	return false
}
