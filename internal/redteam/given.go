package redteam

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"interlock"
	"interlock/internal/strictjson"
)

// What a file of cases may be. A case over the bounds is refused: one that is left out is an attack that is never tried.
const (
	MaxFile  = 16 << 20 // bytes of one file
	MaxLine  = 1 << 20  // bytes of one case
	MaxSteps = 20
	maxFill  = 16 << 20 // bytes of an input after it was filled
)

// A Given is a case that this package did not write: an attack, or a harmless twin, of one or more steps. Its form is that of
// bench/redteam/cases.jsonl, a line of JSON each.
type Given struct {
	ID       string `json:"id"`
	Family   string `json:"family"`
	Kind     string `json:"kind"`
	Steps    []Step `json:"steps"`
	Expect   string `json:"expect"`
	Severity string `json:"severity"`
	Why      string `json:"why"`
	Prep     string `json:"prep"` // shell that makes files before the first step
	Dir      string `json:"dir"`  // where the first step would run; the repository, if none is named
	HeldOut  *bool  `json:"held_out"`
	From     string `json:"from"` // who made it
}

// A Step is one thing that an agent would do.
type Step struct {
	Via         string             `json:"via"`
	Input       json.RawMessage    `json:"input"`
	Tool        string             `json:"tool"`
	Setup       string             `json:"setup"` // shell that makes what the step would have left
	Session     string             `json:"session"`
	Dir         string             `json:"cwd"`
	Description string             `json:"description"`
	Annotations json.RawMessage    `json:"annotations"`
	Fill        map[string]fillOne `json:"fill"` // what stands for a text that is repeated
}

// A fillOne is a text and how often it is written.
type fillOne struct {
	Text  string
	Times int
}

// UnmarshalJSON reads ["text", times].
func (f *fillOne) UnmarshalJSON(text []byte) error {
	var pair []json.RawMessage
	err := json.Unmarshal(text, &pair)
	if err == nil && len(pair) != 2 {
		err = interlock.Errorf(interlock.CodeInvalid, "fill", `is ["text", times]`)
	}
	if err == nil {
		err = json.Unmarshal(pair[0], &f.Text)
	}
	if err == nil {
		err = json.Unmarshal(pair[1], &f.Times)
	}
	return err
}

// A Set is what one file holds.
type Set struct {
	Source Source
	Name   string           // of the file, without the way to it
	Path   string           // as it was given
	Digest interlock.Digest // of its bytes, so that a replay can tell whether it is the same
	Least  int              // percent of the attacks that must stop
	Twins  int              // percent of the twins that must pass
	Cases  []Given
}

// head is an optional first line, which holds for the whole file.
type head struct {
	HeldOut *bool  `json:"held_out"`
	From    string `json:"from"`
	Least   *int   `json:"least"`
	Twins   *int   `json:"twins_least"`
}

// What a case wants. Of either nothing is asked, and it is not tried.
const (
	mustStop = "stop"
	mayGo    = "pass"
	unasked  = "either"
)

// Town is the kind of a scenario, which is played in a home that a council governs.
const Town = "town"

// What a case may say of itself.
var (
	givenKinds = []string{"check", "hook", "flow", "gateway-tool"}
	fileTools  = []string{"Write", "Edit", "MultiEdit", "Read", "Grep", "Glob", "NotebookEdit"}
	severities = []string{"critical", "high", "medium", "low"}
	expects    = []string{mustStop, mayGo, unasked}
)

// nameForm is how ids and families are spelled.
var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}$`) })

// ReadSet reads the cases of a file. An error names the file, the line, the member and what to do.
func ReadSet(source Source, path string, text []byte) (Set, error) {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	s := Set{Source: source, Name: name, Path: path, Least: 100, Twins: TwinsLeast,
		Digest: strictjson.DigestBytes("interlock/redteam-cases/v1", text)}
	var all head
	seen := map[string]int{}
	for n, line := range bytes.Split(text, []byte{'\n'}) {
		at := fmt.Sprintf("%s, line %d", path, n+1)
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
			continue
		case len(line) > MaxLine:
			return s, interlock.Errorf(interlock.CodeInvalid, at, "is %d bytes long, and a case at most %d: let `fill` repeat a text",
				len(line), MaxLine)
		case !utf8.Valid(line):
			return s, interlock.Errorf(interlock.CodeInvalid, at, "is not valid UTF-8; write the bytes as \\u escapes")
		case len(s.Cases) == MaxCases:
			return s, interlock.Errorf(interlock.CodeInvalid, at, "is one case more than the %d of a file; split it", MaxCases)
		}
		if len(seen) == 0 && strictjson.DecodeTrusted(line, &all) == nil {
			if err := all.into(&s); err != nil {
				return s, located(at, err)
			}
			continue
		}
		var c Given
		err := strictjson.DecodeLimited(line, &c, strictjson.Limits{Bytes: MaxLine, String: MaxLine})
		if err == nil {
			err = c.check(source)
		}
		if err != nil {
			return s, located(at, err)
		}
		if first := seen[c.ID]; first > 0 {
			return s, interlock.Errorf(interlock.CodeInvalid, at+", id", "%s is the id of line %d too; give each case one of its own",
				c.ID, first)
		}
		seen[c.ID] = n + 1
		if c.HeldOut == nil {
			c.HeldOut = all.HeldOut
		}
		if c.From == "" {
			c.From = all.From
		}
		s.Cases = append(s.Cases, c)
	}
	if len(s.Cases) == 0 {
		return s, interlock.Errorf(interlock.CodeInvalid, path,
			"holds no case; a case is one line of JSON, docs/redteam.md has the form")
	}
	return s, nil
}

func (h head) into(s *Set) error {
	for _, p := range []struct {
		name string
		from *int
		to   *int
	}{{"least", h.Least, &s.Least}, {"twins_least", h.Twins, &s.Twins}} {
		if p.from == nil {
			continue
		}
		if *p.from < 0 || *p.from > 100 {
			return interlock.Errorf(interlock.CodeInvalid, p.name, "is a percentage from 0 to 100")
		}
		*p.to = *p.from
	}
	return nil
}

// located puts the place before what is wrong.
func located(at string, err error) error {
	wrong, is := err.(*interlock.Error)
	if !is {
		return interlock.Errorf(interlock.CodeInvalid, at, "%v", err)
	}
	field := strings.ReplaceAll(strings.TrimPrefix(wrong.Field, "/"), "/", ".")
	if field != "" {
		at += ", " + field
	}
	return interlock.Errorf(wrong.Code, at, "%s", wrong.Message)
}

// check says what is missing or unknown. An attack that is spelled wrongly would never be tried.
func (c *Given) check(source Source) error {
	one := func(field, value string, of []string) error {
		if slices.Contains(of, value) {
			return nil
		}
		return interlock.Errorf(interlock.CodeInvalid, field, "%.40q is none of %s", value, strings.Join(of, ", "))
	}
	for _, name := range [][2]string{{"id", c.ID}, {"family", c.Family}} {
		if !nameForm().MatchString(name[1]) {
			return interlock.Errorf(interlock.CodeInvalid, name[0],
				"is up to 100 of A-Z a-z 0-9 . _ : / -, and begins with a letter or digit")
		}
	}
	kinds := givenKinds
	if source == Scenarios {
		kinds = []string{Town}
	}
	for _, err := range []error{one("kind", c.Kind, kinds), one("expect", c.Expect, expects),
		one("severity", c.Severity, severities)} {
		if err != nil {
			return err
		}
	}
	switch {
	case strings.TrimSpace(c.Why) == "":
		return interlock.Errorf(interlock.CodeInvalid, "why", "is missing: say in one sentence why it must stop or pass")
	case len(c.Steps) == 0 || len(c.Steps) > MaxSteps:
		return interlock.Errorf(interlock.CodeInvalid, "steps", "are from 1 to %d", MaxSteps)
	case (c.Kind == "check" || c.Kind == "hook") && len(c.Steps) != 1:
		return interlock.Errorf(interlock.CodeInvalid, "steps", "of the kind %s are one; several are a flow", c.Kind)
	}
	for n := range c.Steps {
		if err := c.Steps[n].check(c.Kind); err != nil {
			err.Field = fmt.Sprintf("steps.%d.%s", n, err.Field)
			return err
		}
	}
	return nil
}

// IsText reports whether a step is by one of the kinds of actions whose input is a text, such as a command.
func (s *Step) IsText() bool {
	kind := interlock.Kind(s.Via)
	return kind.Valid() && kind != interlock.KindTool && kind != interlock.KindFile && kind != interlock.KindHTTP
}

func (s *Step) check(kind string) *interlock.Error {
	switch {
	case kind == Town && s.Via != "":
		return nil
	case kind == "gateway-tool" && s.Via != "tool":
		return interlock.Errorf(interlock.CodeInvalid, "via", "of the kind gateway-tool is tool")
	case kind == "check" && !s.IsText():
		return interlock.Errorf(interlock.CodeInvalid, "via", "of the kind check is shell, or another kind of action that is a text")
	case kind != "check" && s.Via != "shell" && s.Via != "tool" && !slices.Contains(fileTools, s.Via):
		return interlock.Errorf(interlock.CodeInvalid, "via", "%.40q is none of shell, tool, %s", s.Via, strings.Join(fileTools, ", "))
	case s.Via == "tool" && s.Tool == "":
		return interlock.Errorf(interlock.CodeInvalid, "tool", "is missing: name the tool that is called")
	case s.IsText() && json.Unmarshal(s.Input, new(string)) != nil:
		return interlock.Errorf(interlock.CodeInvalid, "input", "of %s is a text", s.Via)
	case !s.IsText() && (len(s.Input) == 0 || s.Input[0] != '{'):
		return interlock.Errorf(interlock.CodeInvalid, "input", "of %s is an object of its arguments", s.Via)
	}
	size := len(s.Input)
	for _, mark := range slices.Sorted(maps.Keys(s.Fill)) {
		f := s.Fill[mark]
		if mark == "" || f.Times < 0 || f.Times > maxFill || f.Times*len(f.Text) > maxFill {
			return interlock.Errorf(interlock.CodeInvalid, "fill", `is {"mark": ["text", times]} with up to %d times`, maxFill)
		}
		size += strings.Count(string(s.Input), mark) * len(f.Text) * f.Times
	}
	if size > maxFill {
		return interlock.Errorf(interlock.CodeInvalid, "fill", "makes an input of more than %d bytes", maxFill)
	}
	return nil
}

// Text is the input of a step that is a text, with what is repeated written out.
func (s *Step) Text() string {
	var text string
	_ = json.Unmarshal(s.Input, &text) // check saw that it is one
	for _, mark := range slices.Sorted(maps.Keys(s.Fill)) {
		text = strings.ReplaceAll(text, mark, strings.Repeat(s.Fill[mark].Text, s.Fill[mark].Times))
	}
	return text
}

// Counts reports whether anything is asked of a case.
func (c *Given) Counts() bool { return c.Expect != unasked }

// plainPath are the characters that a shell takes as they are.
const plainPath = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-"

// Replay names the command line that tries one case of a file again.
func (s *Set) Replay(id string) string {
	path := s.Path
	if strings.Trim(path, plainPath) != "" {
		path = quoted(path)
	}
	return fmt.Sprintf("interlock redteam run --cases %s --case %s", path, id)
}

// Line is a step as people read it.
func (s *Step) Line() string {
	line := string(s.Input)
	if s.IsText() {
		line = s.Text()
	}
	return strings.TrimSpace(s.Via+" "+s.Tool) + " " + line
}

// openFiles are others' collections, or parts of them, that ship with the program. A first line says what of it is reached
// today, less a small margin: their labels are other products' and not ours. Scenarios are our own, and all of them must hold.
//
//go:embed open/*.jsonl scenarios/*.jsonl
var openFiles embed.FS

// OpenSets are the collections that ship.
func OpenSets() ([]Set, error) { return shipped(Open, "open") }

// ScenarioSets are tries to cheat a council, and what agents keep in memory, in a home that a council governs.
func ScenarioSets() ([]Set, error) { return shipped(Scenarios, "scenarios") }

func shipped(source Source, dir string) ([]Set, error) {
	entries, err := openFiles.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var sets []Set
	for _, e := range entries {
		text, err := openFiles.ReadFile(dir + "/" + e.Name())
		if err != nil {
			return nil, err
		}
		s, err := ReadSet(source, e.Name(), text)
		if err != nil {
			return nil, err
		}
		s.Path = dir
		sets = append(sets, s)
	}
	return sets, nil
}
