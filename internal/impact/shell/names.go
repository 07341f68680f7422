package shell

import (
	"path"
	"strings"

	"interlock/internal/impact/flow"
)

// showsNames reports whether a use shows of a file of NAME=value lines the names alone, or how many lines there are: what
// follows the sign of equality, which may be secret, it leaves out.
func showsNames(u *flow.Use) bool {
	switch u.Via {
	case "wc":
		return true
	case "cut":
		return plainValue(u, "-d", "--delimiter") == "=" && plainValue(u, "-f", "--fields") == "1"
	case "awk", "gawk", "mawk", "nawk":
		program := ""
		if len(u.Operands) > 1 && !u.Operands[0].Dynamic {
			program = strings.Join(strings.Fields(u.Operands[0].Text), "")
		}
		if end := strings.LastIndexByte(program, '/'); strings.HasPrefix(program, "/") && end > 0 {
			program = program[end+1:] // only of lines that match
		}
		return plainValue(u, "-F", "--field-separator") == "=" && (program == "{print$1}" || program == "{print$1;}")
	case "sed", "gsed":
		return blanksValues(u)
	}
	return false
}

// namesFile reports whether a file holds settings as NAME=value, one a line.
func namesFile(name string) bool {
	base := path.Base(name)
	return base == ".env" || strings.HasPrefix(base, ".env.") || strings.HasSuffix(base, ".env")
}

// plainValue is the value of a flag by either of its names, if it is given once and known.
func plainValue(u *flow.Use, short, long string) string {
	value := ""
	for _, g := range u.Flags {
		if g.Name != short && g.Name != long {
			continue
		}
		if value != "" || g.Value.Dynamic {
			return ""
		}
		value = g.Value.Text
	}
	return value
}

// blanksValues reports whether an instruction of sed puts other text in the place of everything behind the sign of equality.
func blanksValues(u *flow.Use) bool {
	code := flow.Field{}
	for _, g := range u.Flags {
		switch g.Name {
		case "-n", "-E", "-r", "--quiet", "--silent", "--regexp-extended":
		case "-e", "--expression":
			if code.Text != "" {
				return false
			}
			code = g.Value
		default:
			return false
		}
	}
	if code.Text == "" && len(u.Operands) > 1 {
		code = u.Operands[0]
	}
	if code.Dynamic || len(code.Text) < 4 || code.Text[0] != 's' {
		return false
	}
	parts := strings.Split(code.Text[2:], code.Text[1:2])
	if len(parts) != 3 || strings.ContainsAny(parts[1], `&\`) || strings.Trim(parts[2], "gpI") != "" {
		return false
	}
	switch strings.TrimSuffix(parts[0], "$") {
	case "=.*", "=.+", "=..*", `=.\+`:
		return true
	}
	return false
}
