package prove

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// prepare makes the files that a script would: what a case needs before a step, or what a step would have left. The script is
// never run: a few programs that make files are read here, and what they do is done below the lab's home and nowhere else. What
// else is in it, or does not work there, is said, and the case counts as not tried.
func (l *lab) prepare(script string) (untried string, err error) {
	if script == "" {
		return "", nil
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return "what it prepares can't be read", nil
	}
	l.dirty = true
	root, err := os.OpenRoot(l.home)
	if err != nil {
		return "", err
	}
	defer root.Close()
	p := preparation{lab: l, root: root}
	for _, s := range file.Stmts {
		if err := p.statement(s); err != nil {
			return "what it prepares can't be made here: " + err.Error(), nil
		}
	}
	return "", nil
}

type preparation struct {
	lab  *lab
	root *os.Root
}

// statement does one command, or two with && between them.
func (p preparation) statement(s *syntax.Stmt) error {
	if pair, is := s.Cmd.(*syntax.BinaryCmd); is && pair.Op == syntax.AndStmt && len(s.Redirs) == 0 {
		return errors.Join(p.statement(pair.X), p.statement(pair.Y))
	}
	call, is := s.Cmd.(*syntax.CallExpr)
	if !is || s.Background || s.Negated || len(call.Assigns) > 0 {
		return errors.New("it is more than plain commands")
	}
	words := make([]string, len(call.Args))
	for n, w := range call.Args {
		var err error
		if words[n], err = literal(w); err != nil {
			return err
		}
	}
	into, more := "", false
	for _, r := range s.Redirs {
		if r.Op != syntax.RdrOut && r.Op != syntax.AppOut || r.N != nil || into != "" {
			return errors.New("it redirects more than an output")
		}
		word, err := literal(r.Word)
		if err != nil {
			return err
		}
		into, more = word, r.Op == syntax.AppOut
	}
	return p.do(words, into, more)
}

// literal is a word without anything that a shell would work out.
func literal(w *syntax.Word) (string, error) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", errors.New("a word is worked out")
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				lit, is := inner.(*syntax.Lit)
				if !is {
					return "", errors.New("a word is worked out")
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", errors.New("a word is worked out")
		}
	}
	return b.String(), nil
}

// name is a path below the home.
func (p preparation) name(word string) (string, error) {
	name, inside := p.lab.below(word, filepath.Join(p.lab.home, labRepo))
	if !inside {
		return "", fmt.Errorf("%.40q is outside of the home", filepath.Base(word))
	}
	return name, nil
}

// do does one command.
func (p preparation) do(words []string, into string, more bool) error {
	program, args := words[0], []string{}
	flags := ""
	for _, w := range words[1:] {
		if strings.HasPrefix(w, "-") && program != "printf" && program != "echo" {
			flags += w
			continue
		}
		args = append(args, w)
	}
	if program == "printf" || program == "echo" {
		return p.print(program, args, into, more)
	}
	names := make([]string, len(args))
	for n, a := range args {
		if program == "chmod" && n == 0 {
			continue
		}
		var err error
		if names[n], err = p.name(a); err != nil {
			return err
		}
	}
	switch {
	case into != "":
	case program == "true":
		return nil
	case program == "mkdir" && strings.Trim(flags, "-p") == "":
		return p.each(names, func(n string) error { return p.root.MkdirAll(n, 0o700) })
	case program == "touch" && flags == "":
		return p.each(names, func(n string) error { return p.write(n, nil, true) })
	case program == "chmod" && len(names) > 1 && strings.HasSuffix(args[0], "+x"):
		return p.each(names[1:], func(n string) error { return p.root.Chmod(n, 0o700) })
	case len(names) == 2 && program == "ln" && flags == "-s" && !strings.Contains(args[0], ".."):
		return p.root.Symlink(args[0], names[1])
	case len(names) == 2 && program == "ln" && flags == "":
		return p.root.Link(names[0], names[1])
	case len(names) == 2 && program == "mv" && flags == "":
		return p.root.Rename(names[0], names[1])
	case len(names) == 2 && program == "cp" && flags == "":
		text, err := p.root.ReadFile(names[0])
		if err != nil {
			return err
		}
		if info, err := p.root.Stat(names[1]); err == nil && info.IsDir() {
			names[1] = filepath.Join(names[1], filepath.Base(names[0]))
		}
		return p.write(names[1], text, false)
	}
	return fmt.Errorf("%.40q is not made without running it", strings.TrimSpace(program+" "+flags))
}

func (p preparation) each(names []string, do func(string) error) error {
	for _, n := range names {
		if err := do(n); err != nil {
			return err
		}
	}
	return nil
}

// print writes a text to a file.
func (p preparation) print(program string, args []string, into string, more bool) error {
	text := strings.Join(args, " ") + "\n"
	if program == "printf" {
		if len(args) != 1 || strings.Contains(args[0], "%") {
			return errors.New("printf fills in a form")
		}
		text = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(args[0])
	}
	if into == "" {
		return nil
	}
	name, err := p.name(into)
	if err != nil {
		return err
	}
	return p.write(name, []byte(text), more)
}

func (p preparation) write(name string, text []byte, more bool) error {
	if err := p.root.MkdirAll(path.Dir(filepath.ToSlash(name)), 0o700); err != nil {
		return err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if more {
		flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	mode := fs.FileMode(0o600)
	if strings.HasPrefix(string(text), "#!") {
		mode = 0o700
	}
	f, err := p.root.OpenFile(name, flags, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
