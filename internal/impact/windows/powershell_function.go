package windows

import (
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
)

// function notes a definition; its body is walked where it is called, and once if nothing calls it.
func (p *psRun) function(word string) psValue {
	p.at += len(word)
	p.blank(false)
	name := strings.ToLower(p.bare())
	p.at += len(name)
	if _, rest, ok := strings.Cut(name, ":"); ok {
		name = rest
	}
	p.blank(true)
	if p.peek() == '(' {
		start := p.at
		p.at++
		p.balanced('(', ')')
		head := "param" + p.text[start:p.at] + "\n"
		p.blank(true)
		if p.peek() == '{' {
			p.at++
			p.define(name, head+p.balanced('{', '}'))
		}
		return psValue{}
	}
	if p.peek() == '{' {
		p.at++
		p.define(name, p.balanced('{', '}'))
	}
	return psValue{}
}

func (p *psRun) define(name, body string) {
	if len(p.blocks) < fact.MaxList {
		p.blocks[name] = body
	}
}

// bare is the unquoted word at the current place, without moving.
func (p *psRun) bare() string {
	p.at = min(p.at, len(p.text))
	end := p.at
	for end < len(p.text) && strings.IndexByte(" \t\r\n;|&(){},'\"", p.text[end]) < 0 {
		end++
	}
	p.r.S.SpendBytes(end - p.at)
	return p.text[p.at:end]
}

// parameters reads a parameter list: names, and the values they have when nobody gives one.
func (p *psRun) parameters() {
	for p.blank(true); p.at < len(p.text) && p.peek() != ')'; p.blank(true) {
		start := p.at
		switch p.peek() {
		case '[':
			p.at++
			p.balanced('[', ']')
		case '$':
			p.at++
			name := p.variableName()
			p.blank(true)
			given := p.given(name)
			if p.peek() == '=' {
				p.at++
				p.blank(true)
				if standard := p.expression(false); !given {
					p.vars[name] = standard
				}
			} else if !given {
				p.vars[name] = psUnknown("$"+name, flow.Flow{})
			}
		}
		if p.at == start {
			p.at++
		}
		if !p.r.S.Spend(1) {
			p.at = len(p.text)
			return
		}
	}
	p.at++
}

// given hands a parameter the next argument of the call, unless the call named it.
func (p *psRun) given(name string) bool {
	if named, ok := p.vars["-"+name]; ok {
		p.vars[name] = named
		return true
	}
	args := p.vars["args"].items
	if len(args) == 0 {
		return false
	}
	p.vars[name] = psField(args[0])
	p.vars["args"] = psValue{items: args[1:], array: true}
	return true
}
