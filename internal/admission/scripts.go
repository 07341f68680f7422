package admission

import (
	"interlock"
	"interlock/internal/impact"
)

// maxReadings bounds how often what was read may name further files that would be run: a script that runs a script.
const maxReadings = 4

// read analyses a proposal's action and has the door read what the analysis asks for, until there is nothing more to learn.
// What was read stays in the proposal's view, so that nothing is read twice and the snapshot says what was known. An action
// that runs no file is analysed once, and nothing is read.
func (e *Evaluator) read(p *interlock.Proposal, view *interlock.View) impact.Analysis {
	analysis := e.Analyser.Analyse(*view, p.Action)
	if p.Read == nil {
		return analysis
	}
	asked := map[string]bool(nil)
	for range maxReadings {
		var names []string
		for _, name := range analysis.Wanted {
			if !asked[name] {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			break
		}
		if asked == nil {
			asked = map[string]bool{}
		}
		for _, name := range names {
			asked[name] = true
		}
		texts := p.Read(*view, names)
		if len(texts) == 0 {
			break
		}
		for name, text := range view.Scripts {
			texts[name] = text
		}
		view.Scripts, p.View.Scripts = texts, texts
		analysis = e.Analyser.Analyse(*view, p.Action)
	}
	p.Read = nothingMore
	return analysis
}

// nothingMore is the reader of a proposal for which everything has been read.
func nothingMore(interlock.View, []string) map[string]string { return nil }
