package main

import (
	"strings"
	"unicode/utf8"
)

// A table is what lists are printed as. Not at a terminal every cell is whole; at one, the columns that may be long are cut so
// that a row stays on its line.
type table struct {
	heads []string
	long  []int // by column: 0 is never cut, 1 if it must, 2 before those
	rows  [][]cell
}

// A cell is a text of a table in a style. The text is printable.
type cell struct {
	text  string
	style style
}

// newTable makes a table of columns. One whose heading ends in * may be cut, and in ** is cut first; the asterisks are not shown.
func newTable(heads ...string) *table {
	t := &table{}
	for _, head := range heads {
		name := strings.TrimRight(head, "*")
		t.heads = append(t.heads, name)
		t.long = append(t.long, len(head)-len(name))
	}
	return t
}

// row adds a row of plain texts; styled gives the last row's cell in a column a style.
func (t *table) row(texts ...string) {
	cells := make([]cell, len(texts))
	for i, text := range texts {
		cells[i] = cell{text: text}
	}
	t.rows = append(t.rows, cells)
}

func (t *table) styled(head string, as style) {
	for i, name := range t.heads {
		if name == head {
			t.rows[len(t.rows)-1][i].style = as
		}
	}
}

// between is what stands between columns.
const between = 2

// shortest is what a column is cut to at most.
const shortest = 12

// print writes the table to a screen.
func (t *table) print(s *screen) {
	heads := make([]cell, len(t.heads))
	for i, head := range t.heads {
		heads[i] = cell{head, heading}
	}
	widths := t.widths(s.width)
	for _, row := range append([][]cell{heads}, t.rows...) {
		for i, c := range row {
			text := cut(c.text, widths[i])
			s.WriteString(s.paint(c.style, text))
			if i < len(row)-1 {
				s.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)+between))
			}
		}
		s.WriteString("\n")
	}
}

// widths is how wide each column is on a screen of a width, where 0 has room for all.
func (t *table) widths(room int) []int {
	widths := make([]int, len(t.heads))
	whole := between * (len(t.heads) - 1)
	for i, head := range t.heads {
		widths[i] = utf8.RuneCountInString(head)
		for _, row := range t.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i].text))
		}
		whole += widths[i]
	}
	for room > 0 && whole > room {
		widest := -1
		for i, long := range t.long {
			if long > 0 && widths[i] > shortest && (widest < 0 || long > t.long[widest] ||
				long == t.long[widest] && widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
		whole--
	}
	return widths
}

// cut shortens a text to a number of characters, and shows that it did.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
