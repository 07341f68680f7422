package inject

import (
	"html"
	"strings"
	"unicode/utf8"

	"interlock/internal/lex"
)

// Bounds of undoing disguises: so much text is looked at for encoded parts, and so many parts.
const (
	maxDisguise      = 64 << 10
	maxDisguisedPart = 16
)

// Injected reports whether text is shaped like instructions smuggled to a model, in plain sight or in a disguise that a
// model sees through and a reader does not.
func Injected(in string) bool {
	if hiddenTags(in) {
		return true
	}
	low := strings.ToLower(in)
	if orders(low) || orderedAbroad(low) {
		return true
	}
	if len(low) > maxDisguise {
		low, in = low[:maxDisguise], in[:min(len(in), maxDisguise)]
	}
	for _, plain := range undisguised(in, low) {
		if orders(plain) || ordersRunTogether(plain) {
			return true
		}
	}
	return false
}

// undisguised returns what text reads as with each disguise that it seems to wear taken off.
func undisguised(in, low string) (out []string) {
	if folded := FoldLookalikes(low); folded != low {
		out = append(out, folded)
	}
	if strings.Count(low, "&#") >= 8 {
		out = append(out, strings.ToLower(html.UnescapeString(in)))
	}
	for _, sign := range []string{"vafgehpgvba", "cebzcg"} { // "instruction" and "prompt" turned by thirteen letters
		if strings.Contains(low, sign) {
			if plain, ok := lex.Decode("rot13", low); ok {
				out = append(out, plain)
			}
			break
		}
	}
	out = append(out, encodedParts(in)...)
	together := spacedOut(low)
	if together != "" {
		out = append(out, together)
	} else {
		together = low
	}
	if leet(together) {
		out = append(out, leetReading(together, 'i'), leetReading(together, 'l'))
	} else if longest(together) >= 40 {
		out = append(out, together)
	}
	return out
}

// encodedParts decodes the long base64 words of a text that hold text.
func encodedParts(in string) (out []string) {
	for word := range strings.FieldsFuncSeq(in, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '=' ||
			c == '-' || c == '_')
	}) {
		if len(word) < 40 || len(out) == maxDisguisedPart {
			continue
		}
		plain, err := lex.DecodeBase64(word)
		if err == nil && utf8.Valid(plain) && strings.IndexByte(string(plain), ' ') > 0 {
			out = append(out, strings.ToLower(string(plain)))
		}
	}
	return out
}

// spacedOut joins a text whose letters stand apart, by blanks or dots; two blanks end a word. Other text gives nothing.
func spacedOut(low string) string {
	separator := " "
	if strings.Count(low, ".") > len(low)/3 {
		separator = "."
	}
	single, all := 0, 0
	for p := range strings.SplitSeq(low, separator) {
		if all++; utf8.RuneCountInString(p) == 1 {
			single++
		}
	}
	if single < 16 || single < all*6/10 {
		return ""
	}
	var b strings.Builder
	for p := range strings.SplitSeq(low, separator) {
		if p == "" {
			p = " "
		}
		b.WriteString(p)
	}
	return b.String()
}

// leet reports whether several words have digits among their letters.
func leet(low string) bool {
	mixed := 0
	for word := range strings.FieldsSeq(low) {
		letters, digits := 0, 0
		for i := 0; i < len(word); i++ {
			switch c := word[i]; {
			case c >= 'a' && c <= 'z':
				letters++
			case c >= '0' && c <= '9':
				digits++
			}
		}
		if letters > 0 && digits > 0 && letters+digits < 16 {
			mixed++
		} else if letters > 16 && digits > 8 {
			mixed += 3
		}
	}
	return mixed >= 3
}

// leetReading puts letters where digits stand for them; a one is an i or an l.
func leetReading(low string, one rune) string {
	return strings.Map(func(c rune) rune {
		switch c {
		case '0':
			return 'o'
		case '1':
			return one
		case '3':
			return 'e'
		case '4', '@':
			return 'a'
		case '5', '$':
			return 's'
		case '7':
			return 't'
		}
		return c
	}, low)
}

// longest returns the length of the longest word.
func longest(low string) (most int) {
	for word := range strings.FieldsSeq(low) {
		most = max(most, len(word))
	}
	return most
}

// ordersRunTogether looks for orders written without blanks.
func ordersRunTogether(low string) bool {
	for _, phrase := range []string{"ignoreallprevious", "ignorepreviousinstructions", "ignorepriorinstructions",
		"disregardallprevious", "disregardprevious", "forgetprevious", "forgetallprevious",
		"revealthesystemprompt", "revealyoursystemprompt", "revealthehiddensystemprompt", "printyoursystemprompt",
		"bypassapproval", "ignorealiprevious", "revealthehidden"} {
		if strings.Contains(low, phrase) {
			return true
		}
	}
	return false
}

// FoldLookalikes writes letters that look like Latin ones, or carry marks, as the Latin ones.
func FoldLookalikes(low string) string {
	ascii := true
	for i := 0; i < len(low) && ascii; i++ {
		ascii = low[i] < 0x80
	}
	if ascii {
		return low
	}
	return strings.Map(func(c rune) rune {
		if c < 0x80 {
			return c
		}
		if c >= 0xff01 && c <= 0xff5e {
			return c - 0xfee0
		}
		if at := strings.IndexRune(lookalikes, c); at >= 0 {
			return rune(lookalikeOf[utf8.RuneCountInString(lookalikes[:at])])
		}
		return c
	}, low)
}

// lookalikes and what each is read as.
const (
	lookalikes  = "аеорсухіјѕһԁԛԝӏкмтвнпгʏɡοαειυρτνκχηωáàâäãåāéèêëēíìîïīóòôöõōúùûüūýÿñçšžğ"
	lookalikeOf = "aeopcyxijshdqwikmtbhnrygoaeiuptvkxnwaaaaaaaeeeeeiiiiioooooouuuuuyyncszg"
)

// hiddenTags reports whether text carries characters that only machines see, in a number that spells something.
func hiddenTags(in string) bool {
	tags, zero := 0, 0
	for _, r := range in {
		switch {
		case r >= 0xe0020 && r <= 0xe007e:
			tags++
		case r == 0x200b || r == 0x2060 || r == 0x2062 || r == 0x2063 || r == 0x2064:
			zero++
		}
	}
	return tags > 8 || zero > 24
}
