package ruleset

import (
	"encoding"
	"strconv"
	"strings"

	"interlock"
	"interlock/internal/strictjson"
)

// A shippedReader reads documents that stand in the program itself, without white space and checked when they were put
// there. Reading them through reflection is the larger part of what starting costs a hook call. It knows the members that
// the defaults use and gives up on any other, and on whatever else it does not expect: then the general decoder reads the
// document instead.
type shippedReader struct {
	text   string
	at     int
	gaveUp bool
}

// decodeShipped decodes a document that was checked before.
func decodeShipped(data []byte, into *Document) error {
	r := shippedReader{text: string(data)}
	var d Document
	r.document(&d)
	if r.gaveUp || r.at != len(r.text) {
		return strictjson.DecodeTrusted(data, into)
	}
	*into = d
	return nil
}

func (r *shippedReader) document(d *Document) {
	r.object(func(name string) {
		switch name {
		case "rules":
			r.list(func() {
				rule := &Rule{}
				r.rule(rule)
				d.Rules = append(d.Rules, rule)
			})
		case "profiles":
			r.list(func() {
				profile := &Profile{}
				r.profile(profile)
				d.Profiles = append(d.Profiles, profile)
			})
		case "loop": // one short document: not worth a reader of its own
			if strictjson.DecodeTrusted([]byte(r.raw()), &d.Loop) != nil {
				r.giveUp()
			}
		case "limits":
			if strictjson.DecodeTrusted([]byte(r.raw()), &d.Limits) != nil {
				r.giveUp()
			}
		default:
			r.giveUp()
		}
	})
}

func (r *shippedReader) rule(rule *Rule) {
	r.object(func(name string) {
		switch name {
		case "id":
			rule.ID = r.word()
		case "layer":
			rule.Layer = r.number()
		case "sublayer":
			rule.Sublayer = r.number()
		case "profiles":
			rule.Profiles = words[string](r)
		case "kinds":
			rule.Kinds = words[interlock.Kind](r)
		case "match":
			r.object(func(name string) {
				switch name {
				case "glob":
					rule.Match.Glob = words[string](r)
				case "pattern":
					rule.Match.Pattern = r.word()
				case "text":
					rule.Match.Text = words[interlock.Kind](r)
				default:
					r.predicate(&rule.Match.Predicate, name)
				}
			})
		case "obligations":
			rule.Obligations = nil
			r.list(func() {
				var o interlock.Obligation
				r.object(func(name string) {
					switch name {
					case "type":
						o.Type = r.word()
					case "note":
						o.Note = r.word()
					default:
						r.giveUp()
					}
				})
				rule.Obligations = append(rule.Obligations, o)
			})
		case "after":
			rule.After = &After{}
			r.after(rule.After)
		case "verdict":
			r.named(&rule.Verdict)
		case "reason":
			rule.Reason = r.word()
		case "suggestion":
			r.object(func(name string) {
				switch name {
				case "say":
					rule.Suggestion.Say = r.word()
				case "try":
					rule.Suggestion.Try = r.word()
				default:
					r.giveUp()
				}
			})
		case "tags":
			rule.Tags = words[string](r)
		case "wanted":
			rule.Wanted = r.raw() == "true"
		case "heuristic":
			rule.Heuristic = r.raw() == "true"
		case "tests":
			rule.Tests.written = r.raw() // half of the text, and nothing that decides asks for it
		default:
			r.giveUp()
		}
	})
}

func (r *shippedReader) after(a *After) {
	r.object(func(name string) {
		switch name {
		case "same":
			a.Same = r.word()
		case "times":
			a.Times = r.number()
		case "within":
			r.named(&a.Within)
		default:
			r.predicate(&a.Predicate, name)
		}
	})
}

// predicate reads the member of a predicate with the given name.
func (r *shippedReader) predicate(p *Predicate, name string) {
	switch name {
	case "kind":
		p.Kind = words[interlock.ImpactKind](r)
	case "reach":
		p.Reach = words[interlock.Reach](r)
	case "reversibility":
		p.Reversibility = words[interlock.Reversibility](r)
	case "confidence":
		p.Confidence = words[interlock.Confidence](r)
	case "via":
		p.Via = words[string](r)
	case "except":
		p.Except = words[string](r)
	case "target":
		p.Target = words[string](r)
	case "over":
		p.Over = int64(r.number())
	case "traits":
		r.object(func(name string) {
			switch name {
			case "all":
				p.Traits.All = words[string](r)
			case "any":
				p.Traits.Any = words[string](r)
			case "none":
				p.Traits.None = words[string](r)
			default:
				r.giveUp()
			}
		})
	default:
		r.giveUp()
	}
}

func (r *shippedReader) profile(p *Profile) {
	r.object(func(name string) {
		switch name {
		case "name":
			p.Name = r.word()
		case "about":
			p.About = r.word()
		case "trust":
			r.named(&p.Trust)
		case "risk":
			p.Risk = r.number()
		case "reach":
			p.Reach = words[interlock.Reach](r)
		case "empty":
			r.named(&p.Empty)
		case "judge":
			p.Judge = Judging(r.word())
		case "rows":
			r.list(func() {
				var row Row
				r.row(&row)
				p.Rows = append(p.Rows, row)
			})
		default:
			r.giveUp()
		}
	})
}

func (r *shippedReader) row(row *Row) {
	r.object(func(name string) {
		switch name {
		case "id":
			row.ID = r.word()
		case "when":
			r.object(func(name string) { r.predicate(&row.When, name) })
		case "verdict":
			r.named(&row.Verdict)
		case "reason":
			row.Reason = r.word()
		default:
			r.giveUp()
		}
	})
}

// giveUp leaves the document to the general decoder. Everything read from here on is the end of the text.
func (r *shippedReader) giveUp() { r.gaveUp, r.at = true, len(r.text) }

// next takes the byte if it comes next.
func (r *shippedReader) next(c byte) bool {
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

// object calls member at the value of each member, which member reads.
func (r *shippedReader) object(member func(name string)) {
	if !r.next('{') {
		r.giveUp()
		return
	}
	for more := !r.next('}'); more && !r.gaveUp; more = r.more('}') {
		name := r.word()
		if !r.next(':') {
			r.giveUp()
			return
		}
		member(name)
	}
}

// list calls element at each element, which element reads.
func (r *shippedReader) list(element func()) {
	if !r.next('[') {
		r.giveUp()
		return
	}
	for more := !r.next(']'); more && !r.gaveUp; more = r.more(']') {
		element()
	}
}

// more reports whether another member or element follows.
func (r *shippedReader) more(end byte) bool {
	if r.next(',') {
		return true
	}
	if !r.next(end) {
		r.giveUp()
	}
	return false
}

// word reads a string.
func (r *shippedReader) word() string {
	raw := r.raw()
	if len(raw) < 2 || raw[0] != '"' {
		r.giveUp()
		return ""
	}
	if plain := raw[1 : len(raw)-1]; strings.IndexByte(plain, '\\') < 0 {
		return plain
	}
	var text string
	if err := strictjson.DecodeTrusted([]byte(raw), &text); err != nil {
		r.giveUp()
	}
	return text
}

func (r *shippedReader) number() int {
	n, err := strconv.Atoi(r.raw())
	if err != nil {
		r.giveUp()
	}
	return n
}

// named reads a string that names a value.
func (r *shippedReader) named(into encoding.TextUnmarshaler) {
	if err := into.UnmarshalText([]byte(r.word())); err != nil {
		r.giveUp()
	}
}

// raw takes a whole value as it is written.
func (r *shippedReader) raw() string {
	start, depth := r.at, 0
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case '"':
			if r.quoted(); depth == 0 {
				return r.text[start:r.at]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return r.text[start:r.at]
			}
			if depth--; depth == 0 {
				r.at++
				return r.text[start:r.at]
			}
		case ',':
			if depth == 0 {
				return r.text[start:r.at]
			}
		}
		r.at++
	}
	r.giveUp()
	return ""
}

// quoted passes over a string.
func (r *shippedReader) quoted() {
	r.at++
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		end := strings.IndexByte(rest, '"')
		if end < 0 {
			break
		}
		escape := strings.IndexByte(rest[:end], '\\')
		if escape < 0 {
			r.at += end + 1
			return
		}
		r.at += escape + 2
	}
	r.giveUp()
}

// words reads a list of strings of one kind.
func words[T ~string](r *shippedReader) []T {
	out := make([]T, 0, 4)
	r.list(func() { out = append(out, T(r.word())) })
	return out
}
