package hook

import (
	"strings"

	"interlock"
)

// patch reads the patch language of apply_patch into one action per file: "*** Add File: p", "*** Update File: p" with an
// optional "*** Move to: q", "*** Delete File: p", each followed by lines marked '+', '-', ' ' or '@'. The patch may be
// wrapped in a heredoc. A patch in which a header can't be placed is refused, because what it touches is not known.
func (u use) patch() ([]interlock.Action, error) {
	names := []string{"command", "input", "patch", "patch_text", "patchText", "diff"}
	if err := u.input.only(names...); err != nil {
		return nil, err
	}
	text, err := u.input.first(names...)
	if err != nil {
		return nil, err
	}
	var p patchReader
	for _, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if err := p.line(line, u.dir); err != nil {
			return nil, err
		}
	}
	if err := p.flush(u.dir); err != nil {
		return nil, err
	}
	if len(p.list) == 0 {
		return nil, interlock.Errorf(interlock.CodeInvalid, "/command", "holds no patch to any file")
	}
	return p.list, nil
}

// isPatch reports whether arguments that are a text are a patch and nothing else.
func isPatch(tool, arguments string) bool {
	arguments = strings.TrimSpace(arguments)
	switch tool {
	case "apply_patch", "ApplyPatch":
		return arguments != "" && arguments[0] != '{'
	case "Edit", "edit":
		return strings.HasPrefix(arguments, "*** Begin Patch")
	}
	return false
}

type patchReader struct {
	list           []interlock.Action
	operation      string
	path, target   string
	added, removed []string
}

// line reads one line. The harness trims the lines it looks for headers in, so an indented file header counts as one here
// too; other lines that look like headers only count unindented.
func (p *patchReader) line(line, dir string) error {
	if !strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "-") {
		if operation, path := fileHeader(strings.TrimSpace(line)); operation != "" {
			if err := p.flush(dir); err != nil {
				return err
			}
			p.operation, p.path = operation, path
			if path == "" {
				return interlock.Errorf(interlock.CodeInvalid, "/command", "holds a patch header without a path")
			}
			return nil
		}
	}
	header, isHeader := strings.CutPrefix(strings.TrimRight(line, " \t"), "*** ")
	if !isHeader {
		switch {
		case p.path == "":
		case strings.HasPrefix(line, "+"):
			p.added = append(p.added, line[1:])
		case strings.HasPrefix(line, "-"):
			p.removed = append(p.removed, line[1:])
		}
		return nil
	}
	switch target, isMove := strings.CutPrefix(header, "Move to:"); {
	case isMove && p.path != "":
		p.target = strings.TrimSpace(target)
		return nil
	case header == "Begin Patch", header == "End Patch", header == "End of File", strings.HasPrefix(header, "Environment ID:"):
		return nil
	}
	return interlock.Errorf(interlock.CodeInvalid, "/command", "holds a patch header that is not known")
}

// fileHeader reads a line that begins the changes to a file, or returns nothing.
func fileHeader(line string) (operation, path string) {
	for _, h := range []struct{ prefix, operation string }{
		{"*** Add File:", "write"}, {"*** Update File:", "edit"}, {"*** Delete File:", "delete"},
	} {
		if len(line) >= len(h.prefix) && strings.EqualFold(line[:len(h.prefix)], h.prefix) {
			return h.operation, strings.TrimSpace(line[len(h.prefix):])
		}
	}
	return "", ""
}

// flush ends the file being read. A move is a delete of the old path and a write of the new one.
func (p *patchReader) flush(dir string) error {
	if p.path == "" {
		return nil
	}
	added, removed := strings.Join(p.added, "\n"), strings.Join(p.removed, "\n")
	if p.target != "" {
		gone, err := fileAction("delete", p.path, "", "", dir)
		if err != nil {
			return err
		}
		p.list = append(p.list, gone)
		p.operation, p.path = "write", p.target
	}
	action, err := fileAction(p.operation, p.path, added, removed, dir)
	if err != nil {
		return err
	}
	p.list = append(p.list, action)
	p.operation, p.path, p.target, p.added, p.removed = "", "", "", nil, nil
	return nil
}
