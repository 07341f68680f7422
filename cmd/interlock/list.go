package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"interlock/internal/admission"
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
	if n >= admission.MostMore {
		fmt.Fprintf(p.stderr, "interlock: %d or more are not listed; --all lists them\n", admission.MostMore)
	} else if n > 0 {
		fmt.Fprintf(p.stderr, "interlock: %d more are not listed; --all lists them\n", n)
	}
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
