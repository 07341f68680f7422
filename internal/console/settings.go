package console

import (
	"maps"
	"slices"
	"strings"

	"interlock/internal/admission"
	"interlock/internal/quorum"
)

// settingsEffect says what an order about the settings does, with what it binds by digest: whoever signs sees it whole.
func settingsEffect(order quorum.Given) string {
	departures, err := admission.DeparturesOf(order.Detail, order.Aside)
	if err != nil || len(departures) == 0 { // it was read before it was shown
		return "All settings are the default; weaker ones that are written somewhere have no effect."
	}
	var said []string
	for _, name := range slices.Sorted(maps.Keys(departures)) {
		said = append(said, name+": "+string(departures[name]))
	}
	return "These settings count as ordered, and all others are the default; weaker ones that are written somewhere have no effect. " +
		strings.Join(said, "; ")
}
