package prove

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

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

// openSets is the word for the collections that ship with the program.
const openSets = "open"

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
func givenSets(path string) ([]redteam.Set, error) {
	info, err := os.Lstat(path)
	if err != nil {
		reason := err
		if errors.Is(err, fs.ErrNotExist) {
			reason = errors.New("is not there; --cases takes a number, open, a file or a folder")
		}
		return nil, interlock.Errorf(interlock.CodeInvalid, path, "%s", fileio.Reason(reason))
	}
	if !info.IsDir() {
		set, err := givenSet(path, info)
		return []redteam.Set{set}, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, path, "%s", fileio.Reason(err))
	}
	var sets []redteam.Set
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".jsonl") {
			continue
		}
		name := filepath.Join(path, e.Name())
		info, err := os.Lstat(name)
		if err != nil {
			return nil, interlock.Errorf(interlock.CodeInvalid, name, "%s", fileio.Reason(err))
		}
		set, err := givenSet(name, info)
		if err != nil {
			return nil, err
		}
		if sets = append(sets, set); len(sets) > maxFiles {
			return nil, interlock.Errorf(interlock.CodeInvalid, path, "holds more than %d files of cases; name fewer", maxFiles)
		}
	}
	if len(sets) == 0 {
		return nil, interlock.Errorf(interlock.CodeInvalid, path, "holds no file of cases; their names end in .jsonl")
	}
	return sets, nil
}

func givenSet(path string, named fs.FileInfo) (redteam.Set, error) {
	if named.Mode()&fs.ModeSymlink != 0 {
		return redteam.Set{}, interlock.Errorf(interlock.CodeInvalid, path, "is a link; name the file that it leads to")
	}
	text, opened, err := fileio.Look(path, redteam.MaxFile)
	if err == nil && !os.SameFile(named, opened) {
		err = errors.New("it was replaced while it was read")
	}
	if err != nil {
		return redteam.Set{}, interlock.Errorf(interlock.CodeInvalid, path, "can't be used: %s", fileio.Reason(err))
	}
	return redteam.ReadSet(redteam.File, path, text)
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
