package admission

import (
	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/impact"
)

// maxReadings bounds how often what was read may name further files that would be run: a script that runs a script.
const maxReadings = 4

// readCase analyses a proposal's action and has the door read what the analysis asks for, until there is nothing more to learn.
// What was read stays in the proposal's view, so that nothing is read twice and the snapshot says what was known. An action
// that runs no file is analysed once, and nothing is read.
func readCase(e *core.Evaluator, p *Case, view *interlock.View) impact.Analysis {
	return weighWork(e, p, view, readScripts(e, p, view))
}

// weighWork has the door look at what the action would delete or overwrite, where the analysis asks for that. It is
// asked once, when all that is run has been read.
func weighWork(e *core.Evaluator, p *Case, view *interlock.View, analysis impact.Analysis) impact.Analysis {
	if p.Work == nil || len(analysis.Work) == 0 || view.Work != nil {
		return analysis
	}
	work := p.Work(analysis.Work)
	if len(work) == 0 {
		return analysis
	}
	view.Work, p.View.Work = work, work
	return e.Analyser.AnalyseUntil(p.gone, *view, p.Action)
}

// readScripts is read without what lies in the way of the action.
func readScripts(e *core.Evaluator, p *Case, view *interlock.View) impact.Analysis {
	analysis := e.Analyser.AnalyseUntil(p.gone, *view, p.Action)
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
		analysis = e.Analyser.AnalyseUntil(p.gone, *view, p.Action)
	}
	p.Read = nothingMore
	return analysis
}

// nothingMore is the reader of a proposal for which everything has been read.
func nothingMore(interlock.View, []string) map[string]string { return nil }
