package impact

import (
	"strings"

	"interlock"
)

// Programs of Windows that nothing describes. There are thousands, and many of them load, start or fetch what an argument
// names; so the argument decides: an address, a share, a library, a script or another program ("win:?" says which).

// loads judges what an unknown program of Windows is given. Words that name nothing of that kind say nothing.
func (r *shellRun) loads(args []field, io streams) {
	if args[0].text == "" {
		return
	}
	named := strings.HasSuffix(strings.ToLower(args[0].text), ".exe")
	if len(args) < 2 || !named && (!r.s.windows || !isNameStart(args[0].text[0]) || shellWord(args[0].text)) {
		return
	}
	spec := r.s.know.lookup("win:?")
	if spec == nil {
		return
	}
	for i, a := range args[1:] {
		if i >= maxItems || !r.s.spend(1) {
			return
		}
		named := a
		named.text = valuePart(a.text)
		if named.dynamic || named.text == "" || len(spec.conditions([]field{named})) == 0 {
			continue
		}
		for _, found := range r.s.capture(func() { r.described(spec, []field{args[0], named}, io) }) {
			found.Via, found.Confidence = args[0].text, interlock.Inferred
			r.s.add(found)
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
	case "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "select", "local", "export":
		return true
	}
	return false
}
