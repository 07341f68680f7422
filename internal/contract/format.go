package contract

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Formats lists what a text may be said to be.
func Formats() []string { return []string{"date", "date-time", "relative-path", "uuid"} }

var uuidForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
})

func fits(format, text string) bool {
	switch format {
	case "date":
		_, err := time.Parse(time.DateOnly, text)
		return err == nil
	case "date-time":
		_, err := time.Parse(time.RFC3339, text)
		return err == nil
	case "uuid":
		return uuidForm().MatchString(text)
	case "relative-path":
		return inside(text)
	}
	return false
}

// inside reports whether a text is a path that stays below whatever it is put behind, also where somebody takes escapes out of it
// first: it begins nowhere else, goes nowhere up, and holds nothing at which one program ends a path and another goes on.
func inside(path string) bool {
	for range 3 { // what is escaped twice is taken out twice
		plain := strings.ReplaceAll(path, `\`, "/")
		switch {
		case plain == "" || plain[0] == '/' || plain[0] == '~' || plain[0] == '$':
			return false
		case len(plain) > 1 && plain[1] == ':':
			return false
		case strings.ContainsFunc(plain, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return false
		}
		for part := range strings.SplitSeq(plain, "/") {
			if strings.TrimRight(part, " ") == ".." || strings.Trim(part, ". ") == "" && len(part) > 1 {
				return false
			}
		}
		further, err := url.PathUnescape(path)
		if err != nil {
			return false // a per cent sign that escapes nothing
		}
		if further == path {
			return true
		}
		path = further
	}
	return false
}
