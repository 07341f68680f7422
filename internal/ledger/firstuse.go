package ledger

import "time"

// A FirstUseBody says that agents of a type use a tool: that somebody said yes to its first use, or that somebody is being asked.
type FirstUseBody struct {
	Type    string    `json:"type"` // of agents
	Use     string    `json:"use"`  // what was used, such as "tool refund" or "shell git"
	Request string    `json:"request"`
	Agent   string    `json:"agent"`           // that asked
	Until   time.Time `json:"until,omitzero"`  // when the question is over, while nobody has answered it
	By      string    `json:"by,omitempty"`    // who said yes; empty where a harness's own user did
	Yes     time.Time `json:"yes_at,omitzero"` // when
}

// Known reports whether somebody has said yes.
func (f FirstUseBody) Known() bool { return !f.Yes.IsZero() }

// Asked reports whether the question still waits for an answer.
func (f FirstUseBody) Asked(now time.Time) bool { return !f.Known() && now.Before(f.Until) }

// FirstUseKey names the use of something by a type of agents, and AskedKey the question about it.
func FirstUseKey(kind, use string) string { return kind + "\x00" + use }
func AskedKey(kind, use string) string    { return FirstUseKey(kind, use) + "\x00asked" }

func (f FirstUseBody) key() string {
	if f.Known() {
		return FirstUseKey(f.Type, f.Use)
	}
	return AskedKey(f.Type, f.Use)
}

// UsesOf is the mark of what agents of a type use.
func UsesOf(kind string) string { return "uses\x00" + kind }

func firstUseMarks(f FirstUseBody) []Mark {
	if f.Known() {
		return withAll(nano(f.Yes), UsesOf(f.Type))
	}
	return nil
}

// firstUseNext lets one agent of a type ask at a time.
func firstUseNext(was, is FirstUseBody, there bool, now time.Time) error {
	if there && was.Asked(now) && was.Agent != is.Agent {
		return moved(FirstUse, "somebody is being asked about it")
	}
	return nil
}

// FirstUse is what is recorded of a type's use of something: that it is known, or that somebody is asked.
func (s *Standing) FirstUse(kind, use string) FirstUseBody {
	if f, known := s.Others[FirstUse][FirstUseKey(kind, use)].(FirstUseBody); known {
		return f
	}
	f, _ := s.Others[FirstUse][AskedKey(kind, use)].(FirstUseBody)
	return f
}
