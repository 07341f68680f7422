package sqlite

import (
	"context"
	"strings"
)

// sizes are how many rows one INSERT takes, the most that there are: a statement costs more than a row, and each size is
// prepared once.
var sizes = [...]int{16, 4, 1}

// insertions renders an INSERT for each of sizes.
func insertions(table, columns, tail string) []string {
	statements := make([]string, len(sizes))
	row := "(?" + strings.Repeat(", ?", strings.Count(columns, ",")) + ")"
	for i, rows := range sizes {
		statements[i] = "INSERT INTO " + table + " (" + columns + ") VALUES " + row + strings.Repeat(", "+row, rows-1) + tail
	}
	return statements
}

// insert writes n rows with the statements of insertions, where args appends the arguments of row i.
func (b *batch) insert(ctx context.Context, statements []string, n int, args func(to []any, i int) []any) error {
	s := b.store
	size := 0
	for from := 0; from < n; from += sizes[size] {
		for n-from < sizes[size] {
			size++
		}
		s.args = s.args[:0]
		for i := from; i < from+sizes[size]; i++ {
			s.args = args(s.args, i)
		}
		if _, err := s.writer.exec(ctx, statements[size], s.args...); err != nil {
			return err
		}
	}
	clear(s.args)
	return nil
}
