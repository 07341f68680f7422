package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ruleset"
)

// listFlags are what lists of anything that may be long share.
type listFlags struct {
	All bool `help:"List all, however many there are, and not the first thousand."`
}

// maxListed is how much a list shows where nobody asks for all.
const maxListed = 1000

// limit is how much to list; 0 is all.
func (f listFlags) limit() int {
	if f.All {
		return 0
	}
	return maxListed
}

// more says on the error stream, where it is in the way of nothing, that there is more than was listed.
func (f listFlags) more(p *program, n int) {
	if n >= core.MostMore {
		fmt.Fprintf(p.stderr, "interlock: %d or more are not listed; --all lists them\n", core.MostMore)
	} else if n > 0 {
		fmt.Fprintf(p.stderr, "interlock: %d more are not listed; --all lists them\n", n)
	}
}

// showRows prints rows as JSON, as a table, or as the word that there are none.
func showRows[T any](p *program, asJSON bool, rows []T, none string, tabled func([]T) *table) error {
	switch {
	case asJSON:
		return writeLine(p.stdout, orEmpty(rows))
	case len(rows) == 0:
		_, err := fmt.Fprintln(p.stdout, none)
		return err
	}
	return tabled(rows).show(p)
}

// oldestFirst puts what stands in the order in which it was given.
func oldestFirst[T any](standing []T, given func(T) (at time.Time, id string)) []T {
	slices.SortFunc(standing, func(a, b T) int {
		at, id := given(a)
		other, otherID := given(b)
		return cmp.Or(at.Compare(other), strings.Compare(id, otherID))
	})
	return standing
}

// printList prints a table with a heading and a row for each, or one JSON object per line.
func printList[T any](w io.Writer, asJSON bool, heading string, list []T, row func(T) string) error {
	if asJSON {
		for _, item := range list {
			if err := writeLine(w, item); err != nil {
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

// newestFirst puts requests in the order in which people look for them.
func newestFirst(requests []interlock.ApprovalRequest) []interlock.ApprovalRequest {
	out := slices.Clone(requests)
	slices.SortFunc(out, func(a, b interlock.ApprovalRequest) int {
		return cmp.Or(b.Created.Compare(a.Created), strings.Compare(a.ID, b.ID))
	})
	return out
}

// requestTable lists requests. Nobody approves from a list, so actions are short in it.
func requestTable(requests []interlock.ApprovalRequest) *table {
	t, at := newTable("ID", "STATUS", "AGE", "EXPIRES IN", "AGENT**", "RULE*", "ACTION*", "REASON**"), now()
	for _, r := range newestFirst(requests) {
		t.row(r.ID, r.State(), age(at.Sub(r.Created)), span(r.Expires.Sub(at)), printable(r.Requester.Agent),
			orDash(printable(r.Rule)), brief(r.Display), printable(r.Reason))
		if r.Waits(at) {
			t.styled("STATUS", yellow)
		} else {
			t.styled("STATUS", faint)
		}
		t.styled("ACTION", heading)
	}
	return t
}

// ruleTable lists rules by id.
func ruleTable(rules []*ruleset.Rule) *table {
	t := newTable("RULE", "VERDICT", "LAYER", "WHOSE", "REASON**")
	for _, r := range rules {
		whose := "default"
		if r.User() {
			whose = "yours"
		}
		t.row(r.ID, r.Verdict.String(), fmt.Sprintf("layer %d", r.Layer), whose, printable(r.Reason))
		t.styled("VERDICT", verdictStyle(r.Verdict))
	}
	return t
}

// agentTable lists agents in the order they are given.
func agentTable(agents []agentShown) *table {
	t := newTable("NAME", "TYPE*", "TRUST", "OWNER*", "TOKEN", "ALLOW*", "ADDED", "REVOKED")
	for _, a := range agents {
		token := "no"
		if a.Token {
			token = "yes"
		}
		t.row(a.ID, orDash(a.Type), a.Trust.String(), orDash(a.Principal), token, orDash(printable(strings.Join(a.Allow, " "))),
			day(a.Created), day(a.Revoked))
		if !a.Revoked.IsZero() {
			t.styled("NAME", faint)
			t.styled("REVOKED", red)
		}
	}
	return t
}

// age is how long ago something was, in the largest unit that says enough.
func age(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%dd", int(d.Hours())/24)
	}
	return span(d)
}

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

// show prints the table to standard output.
func (t *table) show(p *program) error {
	s := p.screen()
	t.print(s)
	return s.show()
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
