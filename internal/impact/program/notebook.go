package program

import (
	"strings"
)

// A notebook's cell is Python with lines for a shell: !command, %magic, and %%bash for the whole cell.

// cellLine reads such a line, if one begins here, as the call that it means.
func (r *codeReader) cellLine() bool {
	c := r.in[r.at]
	if r.script || c != '!' && c != '%' || len(r.brackets) > 0 {
		return false
	}
	assigned := c == '!' && len(r.tokens) > 0 && r.tokens[len(r.tokens)-1].is("=")
	if !r.fresh && !assigned || strings.HasPrefix(r.in[r.at:], "!=") {
		return false
	}
	end := strings.IndexByte(r.in[r.at:], '\n')
	if end < 0 {
		end = len(r.in) - r.at
	}
	line, rest := r.in[r.at:r.at+end], r.at+end
	command := strings.TrimLeft(line, "!")
	if c == '%' {
		var cell bool
		if command, cell = magic(line); cell {
			command, rest = r.in[rest:], len(r.in)
		}
		if command == "" {
			if !strings.HasPrefix(line, "%%") && !isMagic(line) {
				return false
			}
			r.at = rest // a magic that runs nothing of its own
			return true
		}
	}
	r.push(codeName, "get_ipython")
	r.push(codeMark, ".")
	r.push(codeName, "system")
	r.push(codeMark, "(")
	opened := int32(len(r.tokens) - 1)
	r.pushToken(cellText(command))
	r.push(codeMark, ")")
	r.tokens[opened].pair, r.tokens[len(r.tokens)-1].pair = int32(len(r.tokens)-1), opened
	r.at = rest
	return true
}

// magic returns the command that a magic runs, and whether the rest of the cell is the command.
func magic(line string) (command string, cell bool) {
	name, rest, _ := strings.Cut(strings.TrimLeft(line, "%"), " ")
	switch name {
	case "bash", "sh":
		return "", strings.HasPrefix(line, "%%")
	case "script":
		return "", strings.HasPrefix(line, "%%") && strings.Contains(rest, "sh")
	case "sx", "system", "!":
		return rest, false
	case "pip", "conda", "mamba", "uv", "rm", "cp", "mv", "mkdir", "rmdir", "cat":
		return name + " " + rest, false
	}
	return "", false
}

func isMagic(line string) bool {
	return len(line) > 1 && line[1]|0x20 >= 'a' && line[1]|0x20 <= 'z'
}

// cellText is a command in which {name} represents a value.
func cellText(command string) codeToken {
	var value codePieces
	for i := 0; i < len(command); i++ {
		if command[i] == '{' {
			if source, end := computedPart(command, i+1, false); end > 0 && isWord(source) {
				value.compute(source)
				i = end - 1
				continue
			}
		}
		value.text.WriteByte(command[i])
	}
	return value.token()
}

func isWord(text string) bool {
	for i := 0; i < len(text); i++ {
		if !isCodeName(text[i]) && text[i] != '.' {
			return false
		}
	}
	return text != ""
}
