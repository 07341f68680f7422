package impact

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// teed is the output of tee: its input, which also stands in the files it names from then on.
func (r *shellRun) teed(u *use, carried flow, io streams) flow {
	carried.text, carried.known, carried.items, carried.endless = io.in.text, io.in.known, io.in.items, io.in.endless
	carried.taint(io.in)
	for _, f := range u.operands {
		p := r.s.place(f.text)
		name := p.Path
		if len(u.flags) > 0 {
			r.appended(p)
		}
		stored := carried
		stored.written, stored.items, stored.piped = true, nil, false
		if old, ok := r.files[name]; ok && len(u.flags) > 0 { // -a: what stood there stays
			stored.taint(old)
			if old.known && stored.known && old.written {
				stored.text = old.text + stored.text
			}
		}
		r.files[name] = stored
		if stored.known && strings.TrimSpace(stored.text) != "" {
			r.s.spelled(name)
		}
	}
	return carried
}

// translated is the output of tr where its input and its sets are known: letters put in place of others, or dropped.
func (r *shellRun) translated(u *use, carried flow, io streams) flow {
	drop := false
	for _, g := range u.flags {
		drop = drop || g.name == "-d" || g.name == "--delete"
		if strings.ContainsAny(g.name, "cCs") && g.name != "--delete" {
			return carried
		}
	}
	if !io.in.known || len(u.operands) == 0 || len(u.operands) < 2 && !drop {
		return carried
	}
	from, to := letterSet(u.operands[0].text), ""
	if !drop {
		to = letterSet(u.operands[1].text)
	}
	if from == "" || to == "" && !drop {
		return carried
	}
	out := taintOnly(carried)
	out.known = true
	out.decoded = out.decoded || strings.ContainsFunc(from, func(c rune) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }) // what moves letters hides words
	b := make([]byte, 0, len(io.in.text))
	for i := 0; i < len(io.in.text); i++ {
		c := io.in.text[i]
		switch at := strings.LastIndexByte(from, c); {
		case at < 0:
			b = append(b, c)
		case !drop:
			b = append(b, to[min(at, len(to)-1)])
		}
	}
	out.text = string(b)
	return out
}

// letterSet spells out one of tr's sets: ranges, escapes and the classes of letters.
func letterSet(set string) string {
	for _, class := range [...][2]string{{"[:lower:]", "a-z"}, {"[:upper:]", "A-Z"}, {"[:digit:]", "0-9"}, {"[:alpha:]", "A-Za-z"}, {"[:space:]", " \t\n"}} {
		set = strings.ReplaceAll(set, class[0], class[1])
	}
	if strings.Contains(set, "[:") || strings.Contains(set, "[=") || len(set) > 256 {
		return ""
	}
	set = ansiC(set)
	var b strings.Builder
	for i := 0; i < len(set); i++ {
		if i+2 >= len(set) || set[i+1] != '-' || set[i+2] < set[i] {
			b.WriteByte(set[i])
			continue
		}
		for c := int(set[i]); c <= int(set[i+2]); c++ {
			b.WriteByte(byte(c))
		}
		i += 2
	}
	return b.String()
}

// document is what a here-document holds: as it stands if the word that ends it is quoted, and with expansions and the
// escapes of double quotes, save those of the quotes themselves, if it is not.
func (r *shellRun) document(rd *syntax.Redirect) field {
	if rd.Hdoc == nil {
		return field{}
	}
	quoted := false
	for _, part := range rd.Word.Parts {
		lit, ok := part.(*syntax.Lit)
		quoted = quoted || !ok || strings.IndexByte(lit.Value, '\\') >= 0
	}
	var out field
	for _, part := range rd.Hdoc.Parts {
		r.s.spend(1 + len(out.text)/64)
		lit, ok := part.(*syntax.Lit)
		switch {
		case !ok:
			out = join(out, r.part(part, true))
		case quoted:
			out = join(out, literal(lit.Value))
		default:
			out = join(out, literal(unescapeDocument(lit.Value)))
		}
	}
	return out
}

func unescapeDocument(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("$`\\\n", text[i+1]) >= 0 {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func taintOnly(f flow) flow {
	var out flow
	out.taint(f)
	return out
}
