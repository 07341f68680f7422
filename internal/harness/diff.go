package harness

import (
	"fmt"

	"interlock/internal/linediff"
)

// maxDiffLines bounds the files a line diff is made of; it takes their product.
const maxDiffLines = 4000

// Diff shows the plan as a unified diff with three lines of context.
func (p Plan) Diff() string {
	if !p.Changes() {
		return ""
	}
	old, new := linediff.Lines(p.Before), linediff.Lines(p.After)
	from, to := p.Path, p.Path
	if p.Before == nil {
		from = "/dev/null"
	}
	if p.After == nil {
		to = "/dev/null"
	}
	title := fmt.Sprintf("--- %s\n+++ %s\n", from, to)
	if head, tail := linediff.Common(old, new); max(len(old), len(new))-head-tail > maxDiffLines {
		return title + fmt.Sprintf("(%d lines become %d)\n", len(old), len(new))
	}
	return title + linediff.Unified(old, new, false)
}
