package ruleset

import (
	"fmt"
	"slices"
	"time"
)

// The bounds of types.
const (
	maxTypes     = 1000
	maxTypeList  = 1000   // entries of one list
	maxTypeText  = 200    // bytes of a name of somebody
	maxSpawn     = 10_000 // runs
	maxTurns     = 1000
	maxRetries   = 100
	maxAlive     = 24 * time.Hour // longer ago nobody remembers
	maxRunWindow = 31 * 24 * time.Hour
)

// types checks the types of a document.
func (c *checker) types(types []*Type) error {
	if len(types) > 0 && !c.user {
		return c.doc.Errorf("/types", "the program defines no types; they are an operator's")
	}
	if len(c.loader.ruleset.types)+len(types) > maxTypes {
		return c.doc.Errorf("/types", "there are more than %d types", maxTypes)
	}
	seen := map[string]bool{}
	for i, t := range types {
		at := fmt.Sprintf("/types/%d", i)
		if t == nil {
			return c.doc.Errorf(at, "the type is empty")
		}
		if seen[t.Name] || c.loader.ruleset.types[t.Name] != nil {
			return c.doc.Errorf(at+"/name", "the type %.40q is defined already; a type stands in one place", t.Name)
		}
		seen[t.Name] = true
		if err := c.aType(t, at); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) aType(t *Type, at string) error {
	switch {
	case !profileForm().MatchString(t.Name):
		return c.doc.Errorf(at+"/name", "name must be letters, digits, dots, dashes and underscores, at most 64, e.g. analyst")
	case t.Name == UndefinedType:
		return c.doc.Errorf(at+"/name", "%s is what agents of no defined type are called; choose another", UndefinedType)
	case t.Accountable == "":
		return c.doc.Errorf(at+"/accountable", "accountable is missing; name the human who answers for what these agents do")
	case len(t.Tools) == 0:
		return c.doc.Errorf(at+"/tools", "tools is empty; list globs over tool names and commands, everything else is refused")
	case t.Runs != RunsOptional && t.Runs != RunsRequired && t.Runs != RunsDelegated:
		return c.doc.Errorf(at+"/runs", "runs must be %s or %s, or be left out", RunsRequired, RunsDelegated)
	case t.Tier < 0 || t.Tier > 3:
		return c.doc.Errorf(at+"/tier", "tier must be 1 (supervised), 2 (managed) or 3 (autonomous)")
	case t.Risk < 0 || t.Risk > 100:
		return c.doc.Errorf(at+"/risk", "risk is a score from 1 to 100, or 0 for no bound")
	case t.Sandbox != "" && !profileForm().MatchString(t.Sandbox):
		return c.doc.Errorf(at+"/sandbox", "sandbox names a sandbox profile, e.g. build")
	case time.Duration(t.Alive) > maxAlive:
		return c.doc.Errorf(at+"/alive", "alive is at most %s", maxAlive)
	}
	for _, text := range [][2]string{{"owner", t.Owner}, {"accountable", t.Accountable}, {"role", t.Role}} {
		if len(text[1]) > maxTypeText {
			return c.doc.Errorf(at+"/"+text[0], "%s is longer than %d bytes", text[0], maxTypeText)
		}
	}
	for i, class := range t.Data {
		if !slices.Contains(DataClasses(), class) {
			return c.doc.Errorf(fmt.Sprintf("%s/data/%d", at, i), "unknown class of data; known are %v", DataClasses())
		}
	}
	if err := c.spawn(t.Spawn, at+"/spawn"); err != nil {
		return err
	}
	if err := c.losing(t, at); err != nil {
		return err
	}
	if err := c.typeLists(t, at); err != nil {
		return err
	}
	if err := c.typeLimits(t, at); err != nil {
		return err
	}
	if err := c.messages(t, at); err != nil {
		return err
	}
	return c.parameters(t.Parameters, at+"/parameters")
}

func (c *checker) spawn(s Spawn, at string) error {
	switch {
	case s.Open < 0 || s.Open > maxSpawn:
		return c.doc.Errorf(at+"/open", "open is from 1 to %d", maxSpawn)
	case s.Most < 0 || s.Most > maxSpawn:
		return c.doc.Errorf(at+"/most", "most is from 1 to %d", maxSpawn)
	case time.Duration(s.Within) > maxRunWindow:
		return c.doc.Errorf(at+"/within", "within is at most %s", maxRunWindow)
	}
	return nil
}

func (c *checker) typeLists(t *Type, at string) error {
	for _, list := range []struct {
		name  string
		globs []string
	}{{"tools", t.Tools}, {"users", t.Users}, {"scopes/paths", t.Scopes.Paths}, {"scopes/hosts", t.Scopes.Hosts},
		{"scopes/databases", t.Scopes.Databases}} {
		if len(list.globs) > maxTypeList {
			return c.doc.Errorf(at+"/"+list.name, "the list has more than %d entries", maxTypeList)
		}
		for i, g := range list.globs {
			if g == "" {
				return c.doc.Errorf(fmt.Sprintf("%s/%s/%d", at, list.name, i), "the glob is empty; remove it")
			}
		}
	}
	return nil
}

func (c *checker) parameters(list []TypeParameter, at string) error {
	if len(list) > maxTypeList {
		return c.doc.Errorf(at, "the list has more than %d entries", maxTypeList)
	}
	for i, p := range list {
		here := fmt.Sprintf("%s/%d", at, i)
		if p.Tool == "" {
			return c.doc.Errorf(here+"/tool", "tool is missing; give a glob over tool names")
		}
		if len(p.Must) == 0 {
			return c.doc.Errorf(here+"/must", `must is empty; give conditions such as {parameter: amount, operator: "<=", value: 500}`)
		}
		if err := c.conditions(p.Must, here+"/must"); err != nil {
			return err
		}
	}
	return nil
}

// runs checks what a document says of runs.
func (c *checker) runs(r *RunRules) error {
	switch {
	case r == nil:
		return nil
	case !c.user:
		return c.doc.Errorf("/runs", "the program's own rules say nothing of runs")
	case c.loader.ruleset.runsSet:
		return c.doc.Errorf("/runs", "another document says what holds of runs; say it in one place")
	case r.Depth != nil && (*r.Depth < 0 || *r.Depth > MaxDepth):
		return c.doc.Errorf("/runs/depth", "depth is from 0 (nothing is delegated) to %d", MaxDepth)
	case r.Turns < 0 || r.Turns > maxTurns:
		return c.doc.Errorf("/runs/turns", "turns is from 1 to %d", maxTurns)
	case r.Retries < 0 || r.Retries > maxRetries:
		return c.doc.Errorf("/runs/retries", "retries is from 1 to %d", maxRetries)
	case time.Duration(r.TimeBox) > maxRunWindow:
		return c.doc.Errorf("/runs/time_box", "time_box is at most %s", maxRunWindow)
	case r.Attest != "" && r.Attest != AttestReported:
		return c.doc.Errorf("/runs/attest", "attest is %s, which takes agents' own word, or is left out", AttestReported)
	case len(r.Resolver) > maxTypeText:
		return c.doc.Errorf("/runs/resolver", "resolver is longer than %d bytes", maxTypeText)
	}
	return nil
}
