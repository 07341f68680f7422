package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"interlock/internal/admission/core"
)

// ListFlags are what lists of anything that may be long share.
type ListFlags struct {
	All bool `help:"List all, however many there are, and not the first thousand."`
}

// MaxListed is how much a list shows where nobody asks for all.
const MaxListed = 1000

// Limit is how much to list; 0 is all.
func (f ListFlags) Limit() int {
	if f.All {
		return 0
	}
	return MaxListed
}

// More says on the error stream, where it is in the way of nothing, that there is more than was listed.
func (f ListFlags) More(p *Program, n int) {
	if n >= core.MostMore {
		fmt.Fprintf(p.Stderr, "interlock: %d or more are not listed; --all lists them\n", core.MostMore)
	} else if n > 0 {
		fmt.Fprintf(p.Stderr, "interlock: %d more are not listed; --all lists them\n", n)
	}
}

// ShowRows prints rows as JSON, as a table, or as the word that there are none.
func ShowRows[T any](p *Program, asJSON bool, rows []T, none string, tabled func([]T) *Table) error {
	switch {
	case asJSON:
		return WriteLine(p.Stdout, OrEmpty(rows))
	case len(rows) == 0:
		_, err := fmt.Fprintln(p.Stdout, none)
		return err
	}
	return tabled(rows).Show(p)
}

// OldestFirst puts what is in force in the order in which it was given.
func OldestFirst[T any](standing []T, given func(T) (at time.Time, id string)) []T {
	slices.SortFunc(standing, func(a, b T) int {
		at, id := given(a)
		other, otherID := given(b)
		return cmp.Or(at.Compare(other), strings.Compare(id, otherID))
	})
	return standing
}

// PrintList prints a table with a heading and a row for each, or one JSON object per line.
func PrintList[T any](w io.Writer, asJSON bool, heading string, list []T, row func(T) string) error {
	if asJSON {
		for _, item := range list {
			if err := WriteLine(w, item); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, heading)
	for _, item := range list {
		fmt.Fprintln(table, row(item))
	}
	return table.Flush()
}

// Age is how long ago something was, in the largest unit that says enough.
func Age(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%dd", int(d.Hours())/24)
	}
	return Span(d)
}

// A Table is what lists are printed as. Not at a terminal every cell is whole; at one, the columns that may be long are cut so
// that a row stays on its line.
type Table struct {
	heads []string
	long  []int // by column: 0 is never cut, 1 if it must, 2 before those
	rows  [][]cell
}

// A cell is a text of a table in a style. The text is printable.
type cell struct {
	text  string
	style Style
}

// NewTable makes a table of columns. One whose heading ends in * may be cut, and in ** is cut first; the asterisks are not shown.
func NewTable(heads ...string) *Table {
	t := &Table{}
	for _, head := range heads {
		name := strings.TrimRight(head, "*")
		t.heads = append(t.heads, name)
		t.long = append(t.long, len(head)-len(name))
	}
	return t
}

// Row adds a row of plain texts; styled gives the last row's cell in a column a style.
func (t *Table) Row(texts ...string) {
	cells := make([]cell, len(texts))
	for i, text := range texts {
		cells[i] = cell{text: text}
	}
	t.rows = append(t.rows, cells)
}

func (t *Table) Styled(head string, as Style) {
	for i, name := range t.heads {
		if name == head {
			t.rows[len(t.rows)-1][i].style = as
		}
	}
}

// between is how wide the gap between columns is.
const between = 2

// shortest is what a column is cut to at most.
const shortest = 12

// Print writes the table to a screen.
func (t *Table) Print(s *Screen) {
	heads := make([]cell, len(t.heads))
	for i, head := range t.heads {
		heads[i] = cell{head, Heading}
	}
	widths := t.widths(s.Width)
	for _, row := range append([][]cell{heads}, t.rows...) {
		for i, c := range row {
			text := cut(c.text, widths[i])
			s.WriteString(s.Paint(c.style, text))
			if i < len(row)-1 {
				s.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)+between))
			}
		}
		s.WriteString("\n")
	}
}

// Show prints the table to standard output.
func (t *Table) Show(p *Program) error {
	s := p.Screen()
	t.Print(s)
	return s.Show()
}

// widths is how wide each column is on a screen of a width, where 0 has room for all.
func (t *Table) widths(room int) []int {
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
