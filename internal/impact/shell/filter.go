package shell

import (
	"strings"

	"interlock/internal/impact/flow"
	"interlock/internal/lex"

	"mvdan.cc/sh/v3/syntax"
)

// teed is the output of tee: its input, which is also in the files it names from then on.
func (r *shellRun) teed(u *flow.Use, carried flow.Flow, io flow.Streams) flow.Flow {
	carried.Text, carried.Known, carried.Items, carried.Endless = io.In.Text, io.In.Known, io.In.Items, io.In.Endless
	carried.Taint(io.In)
	for _, f := range u.Operands {
		p := r.S.Place(f.Text)
		if io.In.Own != "" {
			r.S.OwnCopy(io.In.Own, p.Path, u.Via)
		}
		name := p.Path
		if len(u.Flags) > 0 {
			r.appended(p)
		}
		stored := carried
		stored.Written, stored.Items, stored.Piped = true, nil, false
		if old, ok := r.files[name]; ok && len(u.Flags) > 0 { // -a: what stood there stays
			stored.Taint(old)
			if old.Known && stored.Known && old.Written {
				stored.Text = old.Text + stored.Text
			}
		}
		r.files[name] = stored
		if stored.Known && strings.TrimSpace(stored.Text) != "" {
			flow.Spelled(&r.S.World.Collector, name)
		}
	}
	return carried
}

// translated is the output of tr where its input and its sets are known: letters put in place of others, or dropped.
func (r *shellRun) translated(u *flow.Use, carried flow.Flow, io flow.Streams) flow.Flow {
	drop := false
	for _, g := range u.Flags {
		drop = drop || g.Name == "-d" || g.Name == "--delete"
		if strings.ContainsAny(g.Name, "cCs") && g.Name != "--delete" {
			return carried
		}
	}
	if !io.In.Known || len(u.Operands) == 0 || len(u.Operands) < 2 && !drop {
		return carried
	}
	from, to := letterSet(u.Operands[0].Text), ""
	if !drop {
		to = letterSet(u.Operands[1].Text)
	}
	if from == "" || to == "" && !drop {
		return carried
	}
	out := flow.TaintOnly(carried)
	out.Known = true
	// what moves letters hides words
	out.Decoded = out.Decoded || strings.ContainsFunc(from, func(c rune) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' })
	b := make([]byte, 0, len(io.In.Text))
	for i := 0; i < len(io.In.Text); i++ {
		c := io.In.Text[i]
		switch at := strings.LastIndexByte(from, c); {
		case at < 0:
			b = append(b, c)
		case !drop:
			b = append(b, to[min(at, len(to)-1)])
		}
	}
	out.Text = string(b)
	return out
}

// letterSet spells out one of tr's sets: ranges, escapes and the classes of letters.
func letterSet(set string) string {
	for _, class := range [...][2]string{{"[:lower:]", "a-z"}, {"[:upper:]", "A-Z"}, {"[:digit:]", "0-9"},
		{"[:alpha:]", "A-Za-z"}, {"[:space:]", " \t\n"}} {
		set = strings.ReplaceAll(set, class[0], class[1])
	}
	if strings.Contains(set, "[:") || strings.Contains(set, "[=") || len(set) > 256 {
		return ""
	}
	set = lex.AnsiC(set)
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

// document is what a here-document holds: as it is if the word that ends it is quoted, and with expansions and the
// escapes of double quotes, save those of the quotes themselves, if it is not.
func (r *shellRun) document(rd *syntax.Redirect) flow.Field {
	if rd.Hdoc == nil {
		return flow.Field{}
	}
	quoted := false
	for _, part := range rd.Word.Parts {
		lit, ok := part.(*syntax.Lit)
		quoted = quoted || !ok || strings.IndexByte(lit.Value, '\\') >= 0
	}
	var out flow.Field
	for _, part := range rd.Hdoc.Parts {
		r.S.Spend(1 + len(out.Text)/64)
		lit, ok := part.(*syntax.Lit)
		switch {
		case !ok:
			out = flow.Join(out, r.part(part, true))
		case quoted:
			out = flow.Join(out, flow.Literal(lit.Value))
		default:
			out = flow.Join(out, flow.Literal(unescapeDocument(lit.Value)))
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
