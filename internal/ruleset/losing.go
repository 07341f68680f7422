package ruleset

import (
	"fmt"
	"slices"
	"time"
)

// OnLoss says what is done when an agent of a type is lost.
type OnLoss string

// What is done when an agent is lost that others need.
const (
	LossBackup  OnLoss = "backup"  // an agent of another type stands in for it
	LossDegrade OnLoss = "degrade" // the others go on without it
	LossHalt    OnLoss = "halt"    // what it was part of stands still until people say otherwise
)

// Lost is what is done when an agent of the type is lost.
func (t *Type) Lost() OnLoss {
	switch {
	case t.OnLoss != "":
		return t.OnLoss
	case t.Backup != "":
		return LossBackup
	case t.Critical:
		return LossHalt
	}
	return LossDegrade
}

// losing checks what a type says of itself of the loss of its agents.
func (c *checker) losing(t *Type, at string) error {
	known := []OnLoss{"", LossBackup, LossDegrade, LossHalt}
	switch lost := t.Lost(); {
	case !slices.Contains(known, t.OnLoss):
		return c.doc.Errorf(at+"/on_loss", "on_loss must be %s, %s or %s", LossBackup, LossDegrade, LossHalt)
	case t.Critical && t.Alive <= 0:
		return c.doc.Errorf(at+"/alive", "alive is missing; say how long an agent of a critical type may be silent, e.g. 2m")
	case !t.Critical && lost != LossDegrade:
		return c.doc.Errorf(at+"/on_loss", "only an agent of a critical type is replaced or halts others; add critical: true")
	case lost == LossBackup && t.Backup == "":
		return c.doc.Errorf(at+"/backup", "backup is missing; name the type whose agents stand in")
	case t.Backup != "" && lost != LossBackup:
		return c.doc.Errorf(at+"/backup", "backup is for types with on_loss: %s", LossBackup)
	case time.Duration(t.TimeBox) > maxRunWindow:
		return c.doc.Errorf(at+"/time_box", "time_box is at most %s", maxRunWindow)
	}
	if t.Backup != "" {
		doc := c.doc
		c.loader.backups = append(c.loader.backups, func() error {
			if why := c.loader.ruleset.standsIn(t); why != "" {
				return doc.Errorf(at+"/backup", "%s", why)
			}
			return nil
		})
	}
	return nil
}

// standsIn says why agents of the type that another names can't stand in for its own: what stands in may do exactly the same.
func (r *Ruleset) standsIn(t *Type) string {
	b := r.types[t.Backup]
	switch {
	case b == nil:
		return fmt.Sprintf("no type %.40q is defined", t.Backup)
	case b == t:
		return "a type is no backup of itself; define another one with the same role, tools and scopes"
	case b.Backup != "":
		return fmt.Sprintf("the type %s has a backup itself; who stands in is not replaced in turn", b.Name)
	}
	for _, part := range []struct {
		name string
		same bool
	}{
		{"role", t.Role == b.Role},
		{"tools", sameSet(t.Tools, b.Tools)},
		{"scopes", sameSet(t.Scopes.Paths, b.Scopes.Paths) && sameSet(t.Scopes.Hosts, b.Scopes.Hosts) &&
			sameSet(t.Scopes.Databases, b.Scopes.Databases)},
		{"data", sameSet(t.Data, b.Data)},
		{"users", sameSet(t.Users, b.Users)},
		{"risk", t.Risk == b.Risk},
		{"tier", t.Tier == b.Tier},
		{"runs", t.Runs == b.Runs},
		{"sandbox", t.Sandbox == b.Sandbox},
	} {
		if !part.same {
			return fmt.Sprintf("the type %s has other %s than %s, and what stands in may do exactly the same; make them alike",
				b.Name, part.name, t.Name)
		}
	}
	if same, err := sameText(t.Parameters, b.Parameters); err != nil || !same {
		return fmt.Sprintf("the type %s has other parameters than %s, and what stands in may do exactly the same; make them alike",
			b.Name, t.Name)
	}
	return ""
}

// sameSet reports whether two lists name the same, in whichever order. One that is not there is not the same as an empty one.
func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// boxAtTier3 is how long a run takes at most where agents act by themselves and nobody says otherwise.
const boxAtTier3 = time.Hour

// BoxOf is how long a run of an agent of a type takes at most; 0 sets no bound.
func (r *Ruleset) BoxOf(t *Type) time.Duration {
	switch {
	case t.TimeBox > 0:
		return time.Duration(t.TimeBox)
	case r.runs.TimeBox > 0:
		return time.Duration(r.runs.TimeBox)
	case r.maso.Tier >= maxTier:
		return boxAtTier3
	}
	return 0
}
