// Package linediff says how two lists of lines differ. The comparison takes the product of what lies between their common beginning and
// their common end, in time and memory, so callers bound that. It knows nothing of files and what they are.
package linediff

import (
	"fmt"
	"strings"
)

// around is how many unchanged lines are shown on each side of a change.
const around = 3

// Lines are those of a text, without their ends.
func Lines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// Common counts the lines that two lists have in common at their beginnings and at their ends.
func Common(a, b []string) (start, end int) {
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return start, end
}

// Unified is the difference of two lists in unified form without file names; empty if nothing differs. The count of a single line is
// left out where short is set.
func Unified(a, b []string, short bool) string {
	start, end := Common(a, b)
	return hunks(script(a, b, start, end), short)
}

// A line of an edit script: kept, taken out or put in, and where it is on each side, from 0.
type edit struct {
	sign byte
	text string
	a, b int
}

// script is the shortest way from a to b, by the longest common subsequence of what lies between their common beginning
// and their common end.
func script(a, b []string, start, end int) []edit {
	var out []edit
	for i := range start {
		out = append(out, edit{' ', a[i], i, i})
	}
	x, y := a[start:len(a)-end], b[start:len(b)-end]
	longest := make([][]int32, len(x)+1)
	for i := range longest {
		longest[i] = make([]int32, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			out = append(out, edit{' ', x[i], start + i, start + j})
			i, j = i+1, j+1
		case j == len(y) || i < len(x) && longest[i+1][j] >= longest[i][j+1]:
			out = append(out, edit{'-', x[i], start + i, start + j})
			i++
		default:
			out = append(out, edit{'+', y[j], start + i, start + j})
			j++
		}
	}
	for k := range end {
		out = append(out, edit{' ', a[len(a)-end+k], len(a) - end + k, len(b) - end + k})
	}
	return out
}

// hunks writes a script with only so many unchanged lines around each change.
func hunks(edits []edit, short bool) string {
	var out strings.Builder
	for at := 0; at < len(edits); {
		if edits[at].sign == ' ' {
			at++
			continue
		}
		first, last := max(0, at-around), at
		for next := at; next < len(edits) && next-last-1 <= 2*around; next++ {
			if edits[next].sign != ' ' {
				last = next
			}
		}
		part := edits[first:min(len(edits), last+around+1)]
		removed, added := 0, 0
		for _, e := range part {
			if e.sign != '+' {
				removed++
			}
			if e.sign != '-' {
				added++
			}
		}
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", span(part[0].a, removed, short), span(part[0].b, added, short))
		for _, e := range part {
			fmt.Fprintf(&out, "%c%s\n", e.sign, e.text)
		}
		at = first + len(part)
	}
	return out.String()
}

func span(from, count int, short bool) string {
	if count == 0 {
		return fmt.Sprintf("%d,0", from)
	}
	if count == 1 && short {
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, count)
}
