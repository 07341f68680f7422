package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// oldestFirst lists what stands in the order in which it was given.
func oldestFirst[T any](standing map[string]T, given func(T) (at time.Time, id string)) []T {
	return slices.SortedFunc(maps.Values(standing), func(a, b T) int {
		at, id := given(a)
		other, otherID := given(b)
		return cmp.Or(at.Compare(other), strings.Compare(id, otherID))
	})
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
