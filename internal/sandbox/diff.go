package sandbox

import "interlock/internal/linediff"

// maxDiffLines bounds the lines of each side that are compared, because the comparison takes their product in time.
const maxDiffLines = 1000

// unifiedDiff is the difference of two texts in unified form without file names; empty if they have too many lines or
// nothing differs.
func unifiedDiff(before, after []byte) string {
	a, b := linediff.Lines(before), linediff.Lines(after)
	start, end := linediff.Common(a, b)
	if max(len(a), len(b))-start-end > maxDiffLines {
		return ""
	}
	return linediff.Unified(a, b, true)
}
