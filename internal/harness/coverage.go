package harness

// A Gap is a way for a harness's agent to act that raises no event a hook could stop, or a condition under which the events
// that are raised don't stop it. No hook can close these; the sandbox, the gateway or the harness's own settings can.
type Gap struct {
	Agent string // harness, as in --agent
	gap
}

type gap struct {
	Versions string // for which it is known
	What     string
	Instead  string // what helps
}

// Gaps lists the known gaps, by harness in the order documentation names them. docs/reference/coverage.md is made from this
// table.
func Gaps() (list []Gap) {
	for _, h := range known() {
		list = append(list, GapsOf(h.name)...)
	}
	return list
}

// GapsOf lists the gaps of one harness.
func GapsOf(agent string) (list []Gap) {
	for _, g := range byName(agent).gaps {
		list = append(list, Gap{agent, g})
	}
	return list
}
