package groundrules

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"interlock"
)

// Bounds of a document. They leave a judge room for what it is to judge.
const (
	MaxBytes     = 64 << 10 // of a document, and of the text that a judge is sent
	maxRules     = 200
	maxParagraph = 2000 // bytes
	maxExample   = 400  // bytes
	maxExamples  = 20   // of one list
	maxTitle     = 100  // bytes
	maxSub       = 99
	maxName      = 40
)

// The words that begin a part of a rule.
const (
	labelAllowed    = "Allowed:"
	labelDisallowed = "Disallowed:"
	labelInstead    = "Instead:"
)

// invalid is an error with its line; 0 is the document as a whole.
func invalid(line int, format string, args ...any) error {
	field := "ground rules"
	if line > 0 {
		field = "line " + strconv.Itoa(line)
	}
	return interlock.Errorf(interlock.CodeInvalid, field, format, args...)
}

// Parse reads a whole document: a conflict rule, and every layer with a rule. An error names the line and how to mend it.
func Parse(text []byte) (*Rules, error) { return parse(text, false) }

// ParseAdded reads what an operator adds to the rules that ship: any layers, every rule's name with [OwnPrefix], and no conflict rule,
// because that of the rules that ship is in force.
func ParseAdded(text []byte) (*Rules, error) { return parse(text, true) }

// Where in a document a reader is.
type place int

const (
	beforeTitle place = iota
	inIntro
	inConflicts
	inLayer       // between a layer's heading and its first rule
	inText        // of a rule
	inAllowed     // of a rule
	inDisallowed  // of a rule
	inInstead     // of a rule
	afterExamples // of a rule: after an empty line behind examples
)

// A reader reads a document line by line.
type reader struct {
	rules *Rules
	at    place
	line  int
	layer int   // number of the layer it is in; 0: none yet
	rule  *Rule // the rule it is in
	open  bool  // the next line of text goes on with the paragraph or example before it
	ids   map[string]int
}

func parse(text []byte, added bool) (*Rules, error) {
	if len(text) > MaxBytes {
		return nil, invalid(0, "the document is %d bytes, over the bound of %d: shorten it", len(text), MaxBytes)
	}
	if err := plain(text); err != nil {
		return nil, err
	}
	r := &reader{rules: &Rules{added: added}, ids: map[string]int{}}
	for _, line := range strings.Split(string(text), "\n") {
		r.line++
		if err := r.read(strings.TrimSuffix(line, "\r")); err != nil {
			return nil, err
		}
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return r.rules, r.rules.seal()
}

// plain refuses what a person who reads the document would not see as a judge does.
func plain(text []byte) error {
	line := 1
	for rest := text; len(rest) > 0; {
		c, size := utf8.DecodeRune(rest)
		switch {
		case c == utf8.RuneError && size == 1:
			return invalid(line, "it is not valid UTF-8; save the file as UTF-8")
		case c == '\n':
			line++
		case c == '\r' && (len(rest) == 1 || rest[1] != '\n'):
			return invalid(line, "it holds a carriage return inside a line; take it out")
		case c == '\t' || c == '\r':
		case hidden(c):
			return invalid(line, "it holds U+%04X, a control, invisible or bidirectional character; take it out", c)
		}
		rest = rest[size:]
	}
	if at := bytes.Index(text, []byte("<!--")); at >= 0 {
		return invalid(1+bytes.Count(text[:at], []byte("\n")), "a comment would be read by the judge and not by people; take it out")
	}
	return nil
}

// hidden reports whether a character shows nothing, or moves what is beside it.
func hidden(c rune) bool {
	return c < 0x20 || c >= 0x7f && c < 0xa0 ||
		c == 0x00ad || c == 0x034f || c == 0x061c || c == 0x115f || c == 0x1160 || c == 0x17b4 || c == 0x17b5 || c == 0x180e ||
		c == 0x3164 || c == 0xfeff || c == 0xffa0 || c == 0x2028 || c == 0x2029 ||
		c >= 0x180b && c <= 0x180d || c >= 0x200b && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x2060 && c <= 0x206f ||
		c >= 0xfe00 && c <= 0xfe0f || c >= 0xfff9 && c <= 0xfffb || c >= 0xe0000 && c <= 0xe0fff
}

// read takes one line.
func (r *reader) read(raw string) error {
	line := squeeze(raw)
	switch {
	case line == "":
		r.open = false
		if r.at == inAllowed || r.at == inDisallowed {
			if len(*r.list()) > 0 {
				r.at = afterExamples
			}
		}
		return nil
	case strings.HasPrefix(line, "#"):
		r.open = false
		return r.heading(line)
	case strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") || strings.Trim(line, "-=*_ ") == "":
		return invalid(r.line, "a fence, ruler or underlined heading has no meaning here; take it out")
	case strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ "):
		return invalid(r.line, "an example begins with \"- \"")
	case r.open && (raw[0] == ' ' || raw[0] == '\t') && (r.at == inAllowed || r.at == inDisallowed):
		return r.goesOn(line, maxExample)
	case strings.HasPrefix(line, "- ") || line == "-":
		return r.example(strings.TrimPrefix(strings.TrimPrefix(line, "-"), " "))
	case line == labelAllowed || line == labelDisallowed || strings.HasPrefix(line, labelInstead):
		return r.label(line)
	}
	return r.prose(line)
}

// squeeze is a line without spaces at its ends, and with one between words.
func squeeze(line string) string { return strings.Join(strings.Fields(line), " ") }

// heading takes a title, the conflict rule's heading, a layer's or a rule's.
func (r *reader) heading(line string) error {
	marks, rest, _ := strings.Cut(line, " ")
	switch {
	case rest == "":
		return invalid(r.line, "a heading needs a text behind its marks and a space")
	case marks == "#":
		if r.at != beforeTitle {
			return invalid(r.line, "a document has one title; make it a rule of a layer (### L1.name Title)")
		}
		r.rules.title, r.at = rest, inIntro
		return r.short(rest)
	case r.at == beforeTitle:
		return invalid(r.line, "the document begins with its title (# Ground rules)")
	case line == "## Conflicts":
		return r.conflicts()
	case marks == "##":
		return r.layerHeading(rest)
	case marks == "###":
		return r.ruleHeading(rest)
	}
	return invalid(r.line, "this heading is none of \"## Conflicts\", \"## Layer N: Title\" and \"### LN.name Title\"")
}

func (r *reader) conflicts() error {
	switch {
	case r.rules.added:
		return invalid(r.line, "added rules have no conflict rule, that of the rules that ship stands; take the section out")
	case r.layer > 0 || r.at == inConflicts:
		return invalid(r.line, "the conflict rule stands once, before layer 1; move it there")
	}
	r.at = inConflicts
	return nil
}

func (r *reader) layerHeading(rest string) error {
	name, title, _ := strings.Cut(rest, ":")
	number, isLayer := strings.CutPrefix(name, "Layer ")
	n, err := strconv.Atoi(number)
	if !isLayer || err != nil || n < 1 || n > Layers || number != strconv.Itoa(n) {
		return invalid(r.line, "this heading is neither \"## Conflicts\" nor \"## Layer N: Title\" with N from 1 to %d", Layers)
	}
	if title = strings.TrimSpace(title); title == "" {
		return invalid(r.line, "the layer needs a title: \"## Layer %d: Title\"", n)
	}
	if n <= r.layer {
		return invalid(r.line, "layer %d stands after layer %d; layers stand once each, from 1 to %d", n, r.layer, Layers)
	}
	if err := r.layerEnd(); err != nil {
		return err
	}
	if n > r.layer+1 && !r.rules.added {
		return invalid(r.line, "layer %d is missing before layer %d; write it, with a rule", r.layer+1, n)
	}
	r.layer, r.at = n, inLayer
	r.rules.layers[n-1].title = title
	return r.short(title)
}

// short bounds a title.
func (r *reader) short(title string) error {
	if len(title) > maxTitle {
		return invalid(r.line, "a title has at most %d bytes; shorten it", maxTitle)
	}
	return nil
}

func (r *reader) ruleHeading(rest string) error {
	if r.layer == 0 {
		return invalid(r.line, "this rule stands outside a layer; put it under \"## Layer N: Title\"")
	}
	if err := r.ruleEnd(); err != nil {
		return err
	}
	id, title, _ := strings.Cut(rest, " ")
	sub, err := r.id(id)
	if err != nil {
		return err
	}
	rule := Rule{ID: id, Layer: r.layer, Sub: sub, line: r.line}
	rule.Title, rule.Conditional = strings.CutSuffix(title, conditional)
	if rule.Title = strings.TrimSpace(rule.Title); rule.Title == "" || strings.HasSuffix(rule.Title, conditional) {
		return invalid(r.line, "the rule needs a title behind its id: \"### %s Title\"", id)
	}
	list := &r.rules.layers[r.layer-1].rules
	if n := len(*list); n > 0 && (*list)[n-1].Sub > sub {
		return invalid(r.line, "rule %s stands behind sub-layer %d; sub-layers stand in their order, and rules without one before them",
			id, (*list)[n-1].Sub)
	}
	if r.ids[id] = r.line; len(r.ids) > maxRules {
		return invalid(r.line, "there are more than %d rules; join or drop some", maxRules)
	}
	*list = append(*list, rule)
	r.rule, r.at = &(*list)[len(*list)-1], inText
	return r.short(rule.Title)
}

// id checks a rule's id and says which sub-layer it names.
func (r *reader) id(id string) (sub int, err error) {
	parts := strings.Split(id, ".")
	form := len(parts) == 2 || len(parts) == 3
	name := parts[len(parts)-1]
	form = form && len(name) <= maxName && name != "" && name[0] >= 'a' && name[0] <= 'z' && strings.Trim(name, idLetters) == ""
	if form && len(parts) == 3 {
		sub, err = strconv.Atoi(parts[1])
		form = err == nil && sub >= 1 && sub <= maxSub && parts[1] == strconv.Itoa(sub)
	}
	switch {
	case !form:
		return 0, invalid(r.line, "%.60q is no id; it is like L%d.name or L%d.1.name, the name of at most %d of a-z, 0-9 and -, "+
			"a letter first", id, r.layer, r.layer, maxName)
	case parts[0] != "L"+strconv.Itoa(r.layer):
		return 0, invalid(r.line, "rule %s stands in layer %d; move it, or let its id begin with L%d", id, r.layer, r.layer)
	case r.ids[id] > 0:
		return 0, invalid(r.line, "rule %s stands on line %d already; give one of them another id", id, r.ids[id])
	case r.rules.added && !strings.HasPrefix(name, OwnPrefix):
		return 0, invalid(r.line, "the name of a rule you add begins with %s: call it %s%s", OwnPrefix,
			strings.TrimSuffix(id, name)+OwnPrefix, name)
	}
	return sub, nil
}

const idLetters = "abcdefghijklmnopqrstuvwxyz0123456789-"

// list is where examples go.
func (r *reader) list() *[]string {
	if r.at == inAllowed {
		return &r.rule.Allowed
	}
	return &r.rule.Disallowed
}

func (r *reader) example(text string) error {
	switch {
	case r.at == afterExamples: // an empty line between examples
		r.at = inAllowed
		if len(r.rule.Disallowed) > 0 {
			r.at = inDisallowed
		}
	case r.at != inAllowed && r.at != inDisallowed:
		return invalid(r.line, "an example stands under %q or %q of a rule", labelAllowed, labelDisallowed)
	}
	list := r.list()
	switch {
	case text == "":
		return invalid(r.line, "the example is empty")
	case len(text) > maxExample:
		return invalid(r.line, "an example has at most %d bytes; shorten it", maxExample)
	case len(*list) >= maxExamples:
		return invalid(r.line, "a rule has at most %d examples of a kind; take some out", maxExamples)
	}
	*list = append(*list, text)
	r.open = true
	return nil
}

// label takes the word that begins a part of a rule. The parts stand in one order, so that every rule reads alike.
func (r *reader) label(line string) error {
	r.open = false
	switch {
	case r.rule == nil || r.at < inText:
		return invalid(r.line, "%.20q stands in a rule", line)
	case (r.at == inAllowed || r.at == inDisallowed) && len(*r.list()) == 0:
		return invalid(r.line, "there is no example before it; give one, or take the word before it out")
	case len(r.rule.Text) == 0:
		return invalid(r.line, "rule %s says nothing before its examples; say what it forbids", r.rule.ID)
	}
	text, instead := strings.CutPrefix(line, labelInstead)
	text = strings.TrimSpace(text)
	switch {
	case r.rule.Instead != "" || len(r.rule.Disallowed) > 0 && !instead || line == labelAllowed && len(r.rule.Allowed) > 0:
		return invalid(r.line, "%s, %s and %s stand once each and in this order", labelAllowed, labelDisallowed, labelInstead)
	case instead && text == "":
		return invalid(r.line, "behind %q stands on the same line what an agent can offer", labelInstead)
	case instead && len(text) > maxExample:
		return invalid(r.line, "what an agent can offer has at most %d bytes; shorten it", maxExample)
	case instead:
		r.rule.Instead, r.at, r.open = text, inInstead, true
	case line == labelAllowed:
		r.at = inAllowed
	default:
		r.at = inDisallowed
	}
	return nil
}

// goesOn adds a line to what comes before it.
func (r *reader) goesOn(line string, most int) error {
	var last *string
	switch r.at {
	case inIntro:
		last = &r.rules.intro[len(r.rules.intro)-1]
	case inConflicts:
		last = &r.rules.conflicts[len(r.rules.conflicts)-1]
	case inText:
		last = &r.rule.Text[len(r.rule.Text)-1]
	case inInstead:
		last = &r.rule.Instead
	default:
		last = &(*r.list())[len(*r.list())-1]
	}
	if len(*last)+1+len(line) > most {
		return invalid(r.line, "it has at most %d bytes with the lines before; shorten it or part it by an empty line", most)
	}
	*last += " " + line
	return nil
}

// prose takes a line of text.
func (r *reader) prose(line string) error {
	var list *[]string
	switch r.at {
	case inIntro:
		list = &r.rules.intro
	case inConflicts:
		list = &r.rules.conflicts
	case inText:
		list = &r.rule.Text
	case inInstead:
		if r.open {
			return r.goesOn(line, maxExample)
		}
		return invalid(r.line, "nothing stands behind %q but the next rule; move it up to the rule's text", labelInstead)
	case beforeTitle:
		return invalid(r.line, "the document begins with its title (# Ground rules)")
	case inLayer:
		return invalid(r.line, "text stands in a rule; begin one (### L%d.name Title)", r.layer)
	default:
		return invalid(r.line, "behind examples stands no text; move it up to the rule's text, or begin it with \"- \" or two spaces")
	}
	switch {
	case r.open:
		return r.goesOn(line, maxParagraph)
	case len(line) > maxParagraph:
		return invalid(r.line, "a paragraph has at most %d bytes; shorten it", maxParagraph)
	}
	*list = append(*list, line)
	r.open = true
	return nil
}

// ruleEnd checks the rule that ends here.
func (r *reader) ruleEnd() error {
	if r.rule == nil {
		return nil
	}
	if len(r.rule.Text) == 0 {
		return invalid(r.rule.line, "rule %s says nothing; say what it forbids", r.rule.ID)
	}
	if (r.at == inAllowed || r.at == inDisallowed) && len(*r.list()) == 0 {
		return invalid(r.line, "rule %s has an empty list of examples; give one, or take its word out", r.rule.ID)
	}
	return nil
}

// layerEnd checks the layer that ends here.
func (r *reader) layerEnd() error {
	if err := r.ruleEnd(); err != nil {
		return err
	}
	if r.rule = nil; r.layer == 0 {
		if len(r.rules.conflicts) == 0 && !r.rules.added {
			return invalid(r.line, "the conflict rule is missing; write \"## Conflicts\" and which layer prevails before layer 1")
		}
		return nil
	}
	if len(r.rules.layers[r.layer-1].rules) == 0 {
		return invalid(r.line, "layer %d has no rule; write one (### L%d.name Title)", r.layer, r.layer)
	}
	return nil
}

// end checks the whole document.
func (r *reader) end() error {
	if r.at == beforeTitle {
		return invalid(0, "the document is empty; it begins with its title (# Ground rules)")
	}
	if err := r.layerEnd(); err != nil {
		return err
	}
	if !r.rules.added && r.layer < Layers {
		return invalid(r.line, "layer %d is missing; write it, with a rule", r.layer+1)
	}
	if r.rules.added && len(r.ids) == 0 {
		return invalid(0, "there is no rule in it; write one (### L3.%sname Title), or do without the file", OwnPrefix)
	}
	return nil
}
