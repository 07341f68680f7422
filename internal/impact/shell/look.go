package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/inject"
	"interlock/internal/lex"
)

// plainLook is how a command's name reads to somebody who sees it: letters that show nothing dropped, full-width letters
// and letters of other alphabets taken for the Latin ones they look like.
func plainLook(name string) string {
	plain := true
	for i := 0; i < len(name); i++ {
		plain = plain && name[i] < 0x80
	}
	if plain {
		return name
	}
	return inject.FoldLookalikes(strings.ToLower(strings.Map(func(c rune) rune {
		switch {
		case invisible(c):
			return -1
		case c == '\u00a0' || c >= '\u2000' && c <= '\u200a' || c == '\u202f' || c == '\u3000':
			return ' '
		case c >= '\uff01' && c <= '\uff5e':
			return c - '\uff01' + '!'
		}
		return c
	}, name)))
}

// invisible reports whether a character shows nothing, or turns the direction of those around it.
func invisible(c rune) bool {
	return c == '\u00ad' || c == '\u061c' || c == '\u180e' || c >= '\u200b' && c <= '\u200f' || c >= '\u202a' && c <= '\u202e' ||
		c >= '\u2060' && c <= '\u206f' || c == '\ufeff' || c >= '\U000e0000' && c <= '\U000e007f'
}

// lookalike returns the command that a name only looks like, or nothing. No system runs the program by that name, so
// its author deceives a reader or copied it from somebody who did.
func (r *shellRun) lookalike(args []flow.Field) []flow.Field {
	plain := args[0].Text
	if args[0].Dynamic {
		if fromEnvironment(plain) {
			return nil
		}
		if plain = withoutVariables(plain); plain == "" || strings.Contains(plain, "$(") || strings.IndexByte(plain, '`') >= 0 {
			return nil
		}
	}
	if plain = plainLook(plain); plain == args[0].Text {
		return nil
	}
	command := append(flow.Literals(strings.Fields(plain)), args[1:]...)
	if len(command) == 0 {
		return nil
	}
	if name, _ := lex.BaseName(command[0].Text); r.S.Know.Lookup(name) == nil && builtinFor(name) == nil {
		return nil
	}
	return command
}

// disguisedCommand judges a command by what its name looks like.
func (r *shellRun) disguisedCommand(name string, command []flow.Field, io flow.Streams) flow.Flow {
	r.disguised(name)
	var out flow.Flow
	r.S.Modified(know.Words{Confidence: interlock.Inferred, Traits: []string{fact.TraitObfuscated}},
		func() { out = r.command(command, io) })
	return out
}

// withoutVariables is a name without the variables in it whose values are not known: they are most often nothing.
func withoutVariables(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '$' || i+1 >= len(name) || name[i+1] != '{' && name[i+1] != '_' && !lex.IsNameStart(name[i+1]) {
			b.WriteByte(name[i])
			continue
		}
		end := i + 1
		if name[end] == '{' {
			if end = strings.IndexByte(name[i:], '}'); end < 0 {
				return name
			}
			i += end
			continue
		}
		for end < len(name) && (lex.IsNameStart(name[end]) || name[end] >= '0' && name[end] <= '9') {
			end++
		}
		i = max(end-1, i+1)
	}
	return b.String()
}

// brokenUp reports whether a variable whose value is not known is between letters: /et${x}c. Such a variable is there to
// keep a name from being recognised.
func brokenUp(text string) bool {
	for i := 1; i+1 < len(text); i++ {
		if text[i] != '$' || text[i+1] != '{' || text[i-1] < 'a' || text[i-1] > 'z' {
			continue
		}
		end := strings.IndexByte(text[i:], '}')
		if end < 0 {
			return false
		}
		if after := i + end + 1; after < len(text) && text[after] >= 'a' && text[after] <= 'z' {
			return true
		}
	}
	return false
}

// mended takes such variables out of an argument.
func mended(f flow.Field) flow.Field {
	if f.Dynamic && brokenUp(f.Text) {
		f.Text, f.Odd = withoutVariables(f.Text), true
		f.Dynamic = strings.ContainsAny(f.Text, "$`")
	}
	return f
}
