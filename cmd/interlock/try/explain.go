package try

import (
	"fmt"
	"io"
	"strings"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/explain"
	"interlock/internal/impact/fact"
)

// lineWidth is how wide an explanation is printed, whatever the terminal: what is read is also sent on and kept.
const lineWidth = 100

// A page writes wrapped, indented text that no input can break out of.
type page struct{ b strings.Builder }

// line writes one paragraph; what is wrapped goes under the text behind lead.
func (p *page) line(indent int, lead, text string) {
	indent = min(indent, 24)
	first := strings.Repeat(" ", indent) + lead
	p.b.WriteString(first)
	at := indent + len([]rune(lead))
	room := lineWidth - at
	for n, word := range strings.Fields(text) {
		runes := []rune(cli.Printable(word))
		for len(runes) > 0 {
			piece := runes
			if len(piece) > lineWidth-indent-len(lead) {
				piece = piece[:lineWidth-indent-len(lead)]
			}
			if n > 0 && room < len(piece)+1 {
				p.b.WriteString("\n" + strings.Repeat(" ", at))
				room = lineWidth - at
			} else if n > 0 && room < lineWidth-at {
				p.b.WriteString(" ")
				room--
			}
			p.b.WriteString(string(piece))
			room -= len(piece)
			runes = runes[len(piece):]
		}
	}
	p.b.WriteString("\n")
}

// printExplanation shows a decision and why to a person.
func printExplanation(w io.Writer, d interlock.Decision, e explain.Explanation) error {
	p := &page{}
	p.line(0, "", fmt.Sprintf("%s   risk %d, %s", strings.ToUpper(d.Verdict.String()), d.Risk, d.Danger))
	p.b.WriteString("\nHow it is read\n")
	shown := map[int]bool{}
	p.step(1, e.Tree, d, shown, e.Passes)
	if d.Verdict.Allowed() && len(d.Impacts) == 0 {
		p.line(2, "", "nothing in this has an effect that is known, so there is nothing to object to")
	}
	whole := false
	for _, f := range d.Findings {
		if len(f.Impacts) > 0 {
			continue
		}
		if !whole {
			p.b.WriteString("\nWhat is said about the whole\n")
			whole = true
		}
		p.finding(1, f)
	}
	if len(e.Ways) > 0 {
		p.b.WriteString("\nWhat would make it pass\n")
	}
	for _, way := range e.Ways {
		p.line(2, "- ", way.Say)
		for _, command := range way.Run {
			p.b.WriteString("      " + cli.Printable(command) + "\n") // on one line, so that it can be copied
		}
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *page) step(depth int, s fact.Step, d interlock.Decision, shown map[int]bool, passes map[int]string) {
	lead := s.Kind + ": "
	if s.Kind == "command" {
		lead = "$ "
	}
	p.line(2*depth, lead, cli.OrDash(s.Text))
	for _, n := range s.Impacts {
		if n >= len(d.Impacts) || shown[n] {
			continue
		}
		shown[n] = true
		p.line(2*depth+2, "- ", explain.Sentence(d.Impacts[n]))
		for _, f := range d.Findings {
			for _, about := range f.Impacts {
				if about == n {
					p.finding(depth+2, f)
				}
			}
		}
		if row := passes[n]; row != "" {
			p.line(2*depth+4, "> ", "passes: no rule objects, and "+row+" lets it")
		}
	}
	for _, inner := range s.Steps {
		p.step(depth+1, inner, d, shown, passes)
	}
}

func (p *page) finding(depth int, f interlock.Finding) {
	p.line(2*depth, "> ", fmt.Sprintf("%s %s (layer %s): %s", strings.ToUpper(f.Verdict.String()), f.Rule, f.LayerText(), f.Reason))
}
