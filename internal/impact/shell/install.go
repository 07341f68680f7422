package shell

import (
	"strings"
)

// InstallScripts returns the commands of a package.json that a package manager runs when the package is installed.
func InstallScripts(text string) (lines []string) {
	for _, name := range [...]string{"preinstall", "install", "postinstall", "prepare", "preprepare",
		"postprepare", "prepublish"} {
		rest := text
		for range 8 {
			at := strings.Index(rest, `"`+name+`"`)
			if at < 0 {
				break
			}
			rest = rest[at+len(name)+2:]
			value := strings.TrimLeft(rest, " \t\r\n:")
			if strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), ":") && strings.HasPrefix(value, `"`) {
				lines = append(lines, jsonString(value))
			}
		}
	}
	return lines
}

// jsonString returns the string a JSON text begins with, as far as it goes.
func jsonString(text string) string {
	var out strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return out.String()
		case c == '\\' && i+1 < len(text):
			i++
			switch text[i] {
			case 'n':
				out.WriteByte('\n')
			case 't':
				out.WriteByte('\t')
			default:
				out.WriteByte(text[i])
			}
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}
