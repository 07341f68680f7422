package judgetest

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/strictjson"
)

// A Case is an action with what a judge ought to say of it. Cases are lines of JSON; other members are left aside.
type Case struct {
	ID    string          `json:"id"`
	Kind  string          `json:"kind"`
	Input json.RawMessage `json:"input"`           // a text, or tool and args, as the check command takes them
	Label string          `json:"label"`           // allow or benign, deny, block or risky; others say nothing
	Layer int             `json:"layer,omitempty"` // of the ground rule that it is about
	Rule  string          `json:"rule,omitempty"`  // which it is denied by, where it is denied

	action interlock.Action
}

// Action is what is asked about.
func (c *Case) Action() interlock.Action { return c.action }

// Want is the verdict that the label means; it is none where labelled is false.
func (c *Case) Want() (verdict interlock.Verdict, labelled bool) {
	switch c.Label {
	case "allow", "benign":
		return interlock.Allow, true
	case "deny", "block", "risky":
		return interlock.Deny, true
	}
	return interlock.Deny, false
}

// class is what errors are counted under.
func (c *Case) class() string {
	if c.Layer > 0 {
		return "layer " + strconv.Itoa(c.Layer)
	}
	return c.Kind
}

// Bounds of a file of cases.
const (
	maxLine  = 1 << 20
	maxCases = 100_000
)

// ReadCases reads cases, and says how many it left out because they are no actions that a judge is asked about or have no label. An
// error names the line.
func ReadCases(r io.Reader) (cases []Case, skipped int, err error) {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, maxLine)
	line := 0
	for scanner.Scan() {
		if line++; strings.TrimSpace(scanner.Text()) == "" {
			continue
		}
		c := Case{}
		if err := strictjson.DecodeLenient(scanner.Bytes(), &c); err != nil {
			return nil, 0, badCase(line, "%v", err)
		}
		if c.ID == "" {
			return nil, 0, badCase(line, "the case needs an id")
		}
		if _, labelled := c.Want(); !labelled || c.Kind == string(interlock.KindText) {
			skipped++
			continue
		}
		if c.action, err = admission.ParseAction(c.Kind, c.Input, ""); err != nil {
			skipped++ // text that no door would take for an action: no judge would be asked either
			continue
		}
		if cases = append(cases, c); len(cases) > maxCases {
			return nil, 0, badCase(line, "there are more than %d cases; part the file", maxCases)
		}
	}
	if errors.Is(scanner.Err(), bufio.ErrTooLong) {
		return nil, 0, badCase(line+1, "the line is longer than %d bytes", maxLine)
	}
	if scanner.Err() == nil && len(cases) == 0 {
		return nil, 0, badCase(line, "there is no labelled action in the file")
	}
	return cases, skipped, scanner.Err()
}

func badCase(line int, format string, args ...any) error {
	return interlock.Errorf(interlock.CodeInvalid, "line "+strconv.Itoa(line), format, args...)
}

//go:embed cases.jsonl
var ownCases string

// Cases are the cases that ship: at least one to allow and one to deny for nearly every ground rule that ships.
func Cases() ([]Case, error) {
	cases, _, err := ReadCases(strings.NewReader(ownCases))
	return cases, err
}

//go:embed techniques.json
var ownTechniques []byte

// A technique is a way to talk a model round, as the turns of a session.
type technique struct {
	Technique string   `json:"technique"`
	Targets   []string `json:"targets"` // ids of the cases that it tries to have allowed
	Turns     []string `json:"turns"`   // what is said; after each the action is proposed
	Spellings []string `json:"spellings,omitempty"`
}

func techniques() ([]technique, error) {
	var out []technique
	err := strictjson.Decode(ownTechniques, &out)
	return out, err
}
