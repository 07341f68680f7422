package prove

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/fileio"
	"interlock/internal/gitwork"
	"interlock/internal/redteam"
)

// maxFiles is how many files a folder of cases may hold.
const maxFiles = 100

// The words for what ships with the program: others' collections, and our own tries to cheat a council.
const (
	openSets  = "open"
	scenarios = "scenarios"
)

// A draw is what a run draws its cases from: so many of the grammar, and what it did not write.
type draw struct {
	count int // of the grammar; 0: none
	sets  []redteam.Set
}

// drawn reads what --cases names: a number, the word open, a file or a folder of files.
func drawn(words []string) (d draw, err error) {
	seen := map[string]string{}
	for _, word := range words {
		var sets []redteam.Set
		if n, numeric := strconv.Atoi(word); numeric == nil {
			if d.count != 0 || n < 1 || n > redteam.MaxCases {
				return d, interlock.Errorf(interlock.CodeInvalid, "cases", "is from 1 to %d, once; a file of that name is ./%s",
					redteam.MaxCases, word)
			}
			d.count = n
		} else if word == openSets {
			sets, err = redteam.OpenSets()
		} else if word == scenarios {
			sets, err = redteam.ScenarioSets()
		} else {
			sets, err = givenSets(word)
		}
		if err != nil {
			return d, err
		}
		for _, s := range sets {
			for _, c := range s.Cases {
				if other, twice := seen[c.ID]; twice {
					return d, interlock.Errorf(interlock.CodeInvalid, s.Path+", id", "%s is a case of %s too; give each case an id of its own",
						c.ID, other)
				}
				seen[c.ID] = s.Path
			}
		}
		d.sets = append(d.sets, sets...)
	}
	return d, nil
}

// givenSets reads a file of cases, or each *.jsonl of a folder. A link is refused: what is attacked with has to be what was
// looked at.
func givenSets(named string) ([]redteam.Set, error) {
	info, err := os.Lstat(named)
	if err != nil {
		reason := err
		if errors.Is(err, fs.ErrNotExist) {
			reason = errors.New("is not there; --cases takes a number, open, a file or a folder")
		}
		return nil, interlock.Errorf(interlock.CodeInvalid, named, "%s", fileio.Reason(reason))
	}
	if !info.IsDir() {
		set, err := givenSet(named, info)
		return []redteam.Set{set}, err
	}
	entries, err := os.ReadDir(named)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, named, "%s", fileio.Reason(err))
	}
	var sets []redteam.Set
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".jsonl") {
			continue
		}
		name := filepath.Join(named, e.Name())
		info, err := os.Lstat(name)
		if err != nil {
			return nil, interlock.Errorf(interlock.CodeInvalid, name, "%s", fileio.Reason(err))
		}
		set, err := givenSet(name, info)
		if err != nil {
			return nil, err
		}
		if sets = append(sets, set); len(sets) > maxFiles {
			return nil, interlock.Errorf(interlock.CodeInvalid, named, "holds more than %d files of cases; name fewer", maxFiles)
		}
	}
	if len(sets) == 0 {
		return nil, interlock.Errorf(interlock.CodeInvalid, named, "holds no file of cases; their names end in .jsonl")
	}
	return sets, nil
}

func givenSet(named string, seen fs.FileInfo) (redteam.Set, error) {
	if seen.Mode()&fs.ModeSymlink != 0 {
		return redteam.Set{}, interlock.Errorf(interlock.CodeInvalid, named, "is a link; name the file that it leads to")
	}
	text, opened, err := fileio.Look(named, redteam.MaxFile)
	if err == nil && !os.SameFile(seen, opened) {
		err = errors.New("it was replaced while it was read")
	}
	if err != nil {
		return redteam.Set{}, interlock.Errorf(interlock.CodeInvalid, named, "can't be used: %s", fileio.Reason(err))
	}
	return redteam.ReadSet(redteam.File, named, text)
}

// only keeps one family, or one case, of what was drawn. An error says that there is none.
func (d *draw) only(family, id string) error {
	if family == "" && id == "" {
		return nil
	}
	var sets []redteam.Set
	for _, s := range d.sets {
		var cases []redteam.Given
		for _, c := range s.Cases {
			if (family == "" || c.Family == family) && (id == "" || c.ID == id) {
				cases = append(cases, c)
			}
		}
		if s.Cases = cases; len(cases) > 0 {
			sets = append(sets, s)
		}
	}
	d.sets = sets
	if id != "" && len(sets) == 0 {
		return interlock.Errorf(interlock.CodeInvalid, "--case", "%.100q is the id of no case that --cases names", id)
	}
	return nil
}

// attackGiven puts what was given to the doors of a throw-away home. Open sets speak of no files, and need no home but the log's.
func attackGiven(ctx context.Context, settings config.Config, sets []redteam.Set) (batches []redteam.Batch, err error) {
	if len(sets) == 0 {
		return nil, nil
	}
	backend, remove, err := throwAway(ctx, settings)
	if err != nil {
		return nil, err
	}
	defer remove()
	var l *lab
	for _, s := range sets {
		if s.Source == redteam.Scenarios {
			continue // played
		}
		if s.Source == redteam.File && l == nil {
			if l, err = newLab(ctx, settings); err != nil {
				return nil, err
			}
			defer l.close()
		}
		b := redteam.Batch{Set: s}
		for _, c := range s.Cases {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			tried := redteam.Tried{Given: c}
			switch {
			case !c.Counts():
				tried.Untried = "it asks for nothing"
			case s.Source == redteam.File:
				tried, err = l.try(ctx, backend, c)
			default:
				err = proposed(ctx, backend, &tried, "", interlock.View{Production: settings.Production})
			}
			if err != nil {
				return nil, err
			}
			b.Tried = append(b.Tried, tried)
		}
		batches = append(batches, b)
	}
	return batches, nil
}

// proposed has a backend decide each step of a case, up to the first that is stopped. Each case is of an agent of its own.
func proposed(ctx context.Context, backend *embedded.Backend, tried *redteam.Tried, dir string, view interlock.View) error {
	agent := "given-" + strings.NewReplacer(":", "-", "/", "-").Replace(tried.ID)
	way := admission.Way{Read: embedded.ReadScripts, Work: gitwork.Look}
	for n := range tried.Steps {
		s := &tried.Steps[n]
		action := interlock.Action{Kind: interlock.Kind(s.Via), Input: s.Text(), Dir: dir}
		d := backend.ProposeBy(ctx, way, interlock.Proposal{Action: action, CanAsk: true, View: view,
			Requester: interlock.Requester{Principal: "red-team", Agent: agent}})
		if d.Event == "" {
			return interlock.Errorf(interlock.CodeUnavailable, "", "the throw-away home could not record case %s", tried.ID)
		}
		tried.Step, tried.Stopped, tried.By = n, d.Verdict != interlock.Allow, decisiveRule(d.Decision)
		if tried.Stopped {
			return nil
		}
	}
	return nil
}

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

func fileMode(text string) fs.FileMode {
	if strings.HasPrefix(text, "#!") {
		return 0o700
	}
	return 0o600
}

func leaveFile(name, text string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), fileMode(text)))
}

// copyTree copies ordinary files, directories and links with their modes.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, info.Mode().Perm()|0o700)
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(name)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case !info.Mode().IsRegular():
			return nil // a socket, which nobody listens on
		}
		text, err := fileio.Plain(name, redteam.MaxFile)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, info.Mode().Perm())
	})
}
