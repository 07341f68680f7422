package windows

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/lex"
)

// balanced returns the text up to the bracket that closes the one just read, and moves past it.
func (p *psRun) balanced(open, close byte) string {
	p.at = min(p.at, len(p.text))
	start, depth := p.at, 1
	for p.at < len(p.text) {
		switch c := p.text[p.at]; c {
		case '`':
			p.at++
		case '\'', '"':
			p.skipString(c)
			continue
		case '@':
			if q := p.peekAt(1); (q == '\'' || q == '"') && p.skipHere(q) {
				continue
			}
		case '#':
			if p.at == 0 || lex.IsBlank(p.text[p.at-1]) || strings.IndexByte(";{(", p.text[p.at-1]) >= 0 {
				p.at = lex.EndOfLine(p.text, p.at)
				continue
			}
		case open:
			depth++
		case close:
			if depth--; depth == 0 {
				p.at++
				p.r.S.Spend((p.at - start) / 64)
				return p.text[start : p.at-1]
			}
		}
		p.at++
	}
	p.at, p.broken = len(p.text), true
	p.r.S.Spend((p.at - start) / 16)
	return p.text[min(start, len(p.text)):]
}

// skipString moves past a string in quotes.
func (p *psRun) skipString(quote byte) {
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '`' && quote == '"':
			p.at++
		case c == quote && p.peekAt(1) == quote:
			p.at++
		case c == quote:
			p.at++
			return
		case c == '$' && quote == '"' && p.peekAt(1) == '(':
			p.at += 2
			if !p.deeper() {
				return
			}
			p.balanced('(', ')')
			p.r.Steps--
			p.at--
		}
	}
	p.at, p.broken = len(p.text), true
}

// skipHere moves past a here-string, if one begins here.
func (p *psRun) skipHere(quote byte) bool {
	_, end, ok := p.here(quote)
	if ok {
		p.at = end
	}
	return ok
}

// here returns the body of the here-string at the current place and where it ends.
func (p *psRun) here(quote byte) (body string, end int, ok bool) {
	if p.at+2 > len(p.text) {
		return "", 0, false
	}
	line := max(lex.EndOfLine(p.text, p.at), p.at+2)
	if strings.TrimSpace(p.text[p.at+2:line]) != "" || line >= len(p.text) {
		return "", 0, false
	}
	close := "\n" + string(quote) + "@"
	stop := strings.Index(p.text[line:], close)
	if stop < 0 {
		return "", 0, false
	}
	body = ""
	if stop > 0 {
		body = strings.TrimSuffix(p.text[line+1:line+stop], "\r")
	}
	return body, line + stop + len(close), true
}

// runs records that code runs which shows only when it does.
func (p *psRun) runs(via string, v psValue) {
	i := interlock.Impact{Kind: interlock.ImpactExecute, Target: via, Reach: interlock.ReachWorkspace, Via: via,
		Reversibility: interlock.Reversible, Confidence: interlock.Inferred,
		Traits: []string{fact.TraitDynamic, fact.TraitInline}}
	if from := v.taint(); from.Network {
		p.r.Opaque(via, from, "")
		return
	} else if from.Decoded {
		i.Traits = append(i.Traits, fact.TraitDecoded, fact.TraitObfuscated)
	}
	p.r.S.Add(i)
}
