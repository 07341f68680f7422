package harness

import (
	"fmt"
	"strings"
)

// maxDiffLines bounds the files a line diff is made of; it takes their product.
const maxDiffLines = 4000

// Diff shows the plan as a unified diff with three lines of context.
func (p Plan) Diff() string {
	if !p.Changes() {
		return ""
	}
	old, new := linesOf(p.Before), linesOf(p.After)
	from, to := p.Path, p.Path
	if p.Before == nil {
		from = "/dev/null"
	}
	if p.After == nil {
		to = "/dev/null"
	}
	title := fmt.Sprintf("--- %s\n+++ %s\n", from, to)
	if head, tail := common(old, new); max(len(old), len(new))-head-tail > maxDiffLines {
		return title + fmt.Sprintf("(%d lines become %d)\n", len(old), len(new))
	}
	return title + hunks(script(old, new))
}

func linesOf(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// A change is one line of an edit script: ' ' kept, '-' removed, '+' added.
type change struct {
	sign byte
	text string
}

// common counts the lines two lists have in common at their beginnings and at their ends.
func common(old, new []string) (head, tail int) {
	for head < min(len(old), len(new)) && old[head] == new[head] {
		head++
	}
	for tail < min(len(old), len(new))-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	return head, tail
}

// script is the shortest edit script between two lists of lines, by their longest common subsequence.
func script(old, new []string) []change {
	head, tail := common(old, new)
	var out []change
	for _, line := range old[:head] {
		out = append(out, change{' ', line})
	}
	out = append(out, subsequence(old[head:len(old)-tail], new[head:len(new)-tail])...)
	for _, line := range old[len(old)-tail:] {
		out = append(out, change{' ', line})
	}
	return out
}

func subsequence(old, new []string) []change {
	common := make([][]int, len(old)+1)
	for i := range common {
		common[i] = make([]int, len(new)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(new) - 1; j >= 0; j-- {
			if old[i] == new[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []change
	i, j := 0, 0
	for i < len(old) || j < len(new) {
		switch {
		case i < len(old) && j < len(new) && old[i] == new[j]:
			out = append(out, change{' ', old[i]})
			i, j = i+1, j+1
		case i < len(old) && (j == len(new) || common[i+1][j] >= common[i][j+1]):
			out = append(out, change{'-', old[i]})
			i++
		default:
			out = append(out, change{'+', new[j]})
			j++
		}
	}
	return out
}

// hunks writes the changed parts of a script with their context and line numbers.
func hunks(all []change) string {
	const context = 3
	var b strings.Builder
	oldLine, newLine := 1, 1
	for i := 0; i < len(all); {
		next := i
		for next < len(all) && all[next].sign == ' ' {
			next++
		}
		if next == len(all) {
			break
		}
		start := max(i, next-context)
		oldLine, newLine = oldLine+start-i, newLine+start-i
		end, quiet := next, 0
		for end < len(all) && quiet <= 2*context {
			if all[end].sign == ' ' {
				quiet++
			} else {
				quiet = 0
			}
			end++
		}
		end -= max(0, quiet-context)
		i = end
		oldCount, newCount := 0, 0
		var body strings.Builder
		for _, c := range all[start:end] {
			if c.sign != '+' {
				oldCount++
			}
			if c.sign != '-' {
				newCount++
			}
			fmt.Fprintf(&body, "%c%s\n", c.sign, c.text)
		}
		fmt.Fprintf(&b, "@@ -%s +%s @@\n%s", span(oldLine, oldCount), span(newLine, newCount), body.String())
		oldLine, newLine = oldLine+oldCount, newLine+newCount
	}
	return b.String()
}

func span(line, count int) string {
	if count == 0 {
		line--
	}
	return fmt.Sprintf("%d,%d", line, count)
}
