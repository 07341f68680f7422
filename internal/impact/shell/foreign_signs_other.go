package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// unreadSigns looks through a program in a language that nobody reads for what languages share: a line that leaves for the
// shell (!command, :!command), texts and lists of words that read as a serious command, and the path that a call named after
// deleting is given. Anything less is left alone, because what surrounds it is not understood.
func (f *foreignScan) unreadSigns() {
	for line := range strings.SplitSeq(f.text, "\n") {
		line = strings.TrimLeft(line, " \t:")
		if command, ok := strings.CutPrefix(line, "!"); ok && command != "" && command[0] != '=' && f.r.S.Spend(1+len(line)/16) {
			f.command(strings.TrimSpace(command))
		}
	}
	var list []string // texts with nothing but commas and blanks between them
	last := 0
	for i := 0; i < len(f.text) && f.r.S.Spend(1); {
		if f.text[i] == '`' { // m4 begins a text so, and ends it with a single quote
			if end := strings.IndexAny(f.text[i+1:min(len(f.text), i+512)], "`'\n"); end > 0 {
				f.r.harmIn(f.text[i+1 : i+1+end])
			}
		}
		if f.text[i] != '"' && f.text[i] != '\'' {
			i++
			continue
		}
		text, next := lex.StringLiteral(f.text, i)
		if !f.joins(last, i) {
			f.wordsOf(list)
			list = nil
		}
		list = append(list, text)
		f.r.harmIn(text)
		f.removed(text, i, next)
		i, last = next, next
	}
	f.wordsOf(list)
}

// joins reports whether what is between two texts makes them words of one list: commas, or calls that add an argument.
func (f *foreignScan) joins(from, to int) bool {
	if to-from > 32 {
		return false
	}
	between := strings.NewReplacer("args", "", "arg", "", "listOf", "", "list", "", "vec!", "").Replace(f.text[from:to])
	return strings.Trim(between, " ,\t\n\"'#p.()[]&") == ""
}

// wordsOf judges a list of texts as the words of a command.
func (f *foreignScan) wordsOf(list []string) {
	if len(list) > 1 && len(list) < 64 && f.r.namesProgram(list[0]) {
		f.r.onlyHarm(func() { f.r.subshell(func() flow.Flow { return f.r.command(flow.Literals(list), flow.Streams{}) }) })
	}
}

// removed judges a text that is a path and comes after a name that speaks of deleting: removeItem(atPath: "/x"),
// or before one: File("/x").deleteRecursively().
func (f *foreignScan) removed(text string, at, end int) {
	if text == "" || text[0] != '/' && text[0] != '~' || strings.ContainsAny(text, " \n") {
		return
	}
	behind := strings.TrimLeft(f.text[min(len(f.text), end):min(len(f.text), end+64)], " )\n\t")
	if member, is := strings.CutPrefix(behind, "."); is && deletesByName(member) {
		f.removes(text)
		return
	}
	before := strings.ToLower(strings.TrimRight(f.text[max(0, at-64):at], " \t([{:\""))
	if open := strings.LastIndexByte(before, '"'); open >= 0 && strings.Count(before, `"`)%2 == 0 && strings.HasSuffix(before, `",`) {
		before = before[:strings.LastIndexByte(before[:open], '"')] // a text before it calls nothing
	}
	words := strings.FieldsFunc(before, func(c rune) bool { return !lex.IsNameStart(byte(c)) || c > 127 })
	for _, word := range words[max(0, len(words)-3):] {
		if deletesByName(word) {
			f.removes(text)
			return
		}
	}
}

// deletesByName reports whether a name speaks of deleting.
func deletesByName(name string) bool {
	name = strings.ToLower(name[:min(len(name), 32)])
	for _, verb := range [...]string{"remove", "delete", "unlink", "rmdir", "rmtree", "rm_r"} {
		if strings.HasPrefix(name, verb) {
			return true
		}
	}
	return false
}

// removes records that a path is deleted with all that is in it.
func (f *foreignScan) removes(path string) {
	f.r.S.TouchPlace(f.r.PlaceOf(flow.Literal(path), true), interlock.Impact{Kind: interlock.ImpactDelete, Via: f.kind,
		Confidence: interlock.Inferred, Traits: []string{fact.TraitInline, fact.TraitRecursive}})
}
