package ruleset

import (
	"fmt"
	"slices"
	"time"
)

// A Resolution says what becomes of what a tool left half done, and how what it did is undone. Nobody but an operator declares one: it
// decides nothing, and says to people what to do when an agent is held or its actions are rolled back.
type Resolution struct {
	Tool         string  `json:"tool"`                   // glob over tool names and executed texts
	Rollbackable bool    `json:"rollbackable,omitempty"` // what it did can be undone
	Compensate   string  `json:"compensate,omitempty"`   // the tool or command that undoes it, or makes up for it
	Within       Span    `json:"within,omitempty"`       // how long that is possible; 0 is for ever
	Completable  bool    `json:"completable,omitempty"`  // what it left half done can be brought to its end without the agent
	Partial      Partial `json:"partial,omitempty"`      // what it means that it is half done
	Locks        Span    `json:"locks,omitempty"`        // it holds locks, which are let go after so long at the latest
	Note         string  `json:"note,omitempty"`         // for people: what is left in any case, whom to ask
}

// Partial says what it means that something is half done.
type Partial string

// What half done means. The zero value is that nobody has said, which counts as dangerous.
const (
	PartialUnknown   Partial = ""
	PartialHarmless  Partial = "harmless"
	PartialDangerous Partial = "dangerous"
)

// Dangerous reports whether half of it is worse than all or nothing.
func (r *Resolution) Dangerous() bool { return r == nil || r.Partial != PartialHarmless }

// The bounds of resolutions.
const (
	maxResolutions  = 1000
	maxResolveText  = 300 // bytes
	maxResolveSpan  = 10 * 366 * 24 * time.Hour
	maxResolveLocks = 31 * 24 * time.Hour
)

// Resolutions are all that operators have declared, in the order of their documents.
func (r *Ruleset) Resolutions() []*Resolution { return r.resolutions }

// Resolve is the first resolution whose glob matches a tool's name or the text that it executes; nil where nobody has declared one.
func (r *Ruleset) Resolve(tool, text string) *Resolution {
	at := slices.IndexFunc(r.resolutions, func(one *Resolution) bool {
		return tool != "" && Glob(one.Tool, tool) || text != "" && Glob(one.Tool, text)
	})
	if at < 0 {
		return nil
	}
	return r.resolutions[at]
}

// resolutions checks the part of a document.
func (c *checker) resolutions(list []*Resolution) error {
	if len(list) > 0 && !c.user {
		return c.doc.Errorf("/resolutions", "the program declares no resolutions; they are an operator's")
	}
	if len(c.loader.ruleset.resolutions)+len(list) > maxResolutions {
		return c.doc.Errorf("/resolutions", "there are more than %d resolutions", maxResolutions)
	}
	for i, one := range list {
		at := fmt.Sprintf("/resolutions/%d", i)
		switch {
		case one == nil:
			return c.doc.Errorf(at, "the resolution is empty")
		case one.Tool == "":
			return c.doc.Errorf(at+"/tool", "tool is missing; name the tool it is about, e.g. mcp__bank__transfer")
		case one.Partial != PartialUnknown && one.Partial != PartialHarmless && one.Partial != PartialDangerous:
			return c.doc.Errorf(at+"/partial", "partial must be %s or %s", PartialHarmless, PartialDangerous)
		case one.Within < 0 || time.Duration(one.Within) > maxResolveSpan:
			return c.doc.Errorf(at+"/within", "within is at most ten years, e.g. 24h")
		case one.Within > 0 && !one.Rollbackable && one.Compensate == "":
			return c.doc.Errorf(at+"/within", "within says how long something can be undone; name compensate, or set rollbackable")
		case one.Locks < 0 || time.Duration(one.Locks) > maxResolveLocks:
			return c.doc.Errorf(at+"/locks", "locks is at most 31 days, e.g. 10m")
		}
		for _, text := range [][2]string{{"tool", one.Tool}, {"compensate", one.Compensate}, {"note", one.Note}} {
			if len(text[1]) > maxResolveText {
				return c.doc.Errorf(at+"/"+text[0], "%s is longer than %d bytes", text[0], maxResolveText)
			}
		}
	}
	return nil
}
