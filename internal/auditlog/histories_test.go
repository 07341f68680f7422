package auditlog

import (
	"context"
	"errors"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
)

// A treeLog is the hashes of a tree, row by row.
type treeLog struct{ rows [][]byte }

func (l *treeLog) Hashes(_ context.Context, index int64) ([]byte, error) {
	if index >= int64(len(l.rows)) {
		return nil, errors.New("no such row")
	}
	return l.rows[index], nil
}

func (l *treeLog) add(t *testing.T, text string) {
	t.Helper()
	hashes, err := tlog.StoredHashes(int64(len(l.rows)), []byte(text), hashReader(context.Background(), l))
	if err != nil {
		t.Fatal(err)
	}
	var row []byte
	for _, h := range hashes {
		row = append(row, h[:]...)
	}
	l.rows = append(l.rows, row)
}

func (l *treeLog) head(t *testing.T, size int64) Checkpoint {
	t.Helper()
	root, err := tlog.TreeHash(size, hashReader(context.Background(), l))
	if err != nil {
		t.Fatal(err)
	}
	return Checkpoint{Origin: "log", Size: size, Root: root}
}

// TestHistories: a disagreement is as exact as the heads that are kept.
func TestHistories(t *testing.T) {
	var was, is treeLog
	for n := range 20 {
		was.add(t, string(rune('a'+n)))
		if n < 12 {
			is.add(t, map[bool]string{true: string(rune('a' + n)), false: "other"}[n < 9])
		}
	}
	now := is.head(t, 12)
	for _, c := range []struct {
		name string
		kept []Checkpoint
		want []string
	}{
		{"nothing is kept", nil, nil},
		{"what is kept is the log's", []Checkpoint{was.head(t, 5), is.head(t, 10), now}, nil},
		{"another log's", []Checkpoint{{Origin: "other", Size: 4}}, nil},
		{"a fork", []Checkpoint{was.head(t, 5), was.head(t, 11)},
			[]string{"two histories disagree on entries 5 to 10, and agree up to entry 4: the log is not the one that had 11 entries once"}},
		{"a fork of one entry", []Checkpoint{was.head(t, 9), was.head(t, 10), is.head(t, 11)},
			[]string{"two histories disagree on entry 9, and agree up to entry 8: the log is not the one that had 10 entries once"}},
		{"a fork of which the beginning is not known", []Checkpoint{was.head(t, 10)},
			[]string{"two histories disagree on entries 0 to 9, all of it: the log is not the one that had 10 entries once"}},
		{"a rollback", []Checkpoint{was.head(t, 8), was.head(t, 20), was.head(t, 13)}, []string{
			"two histories disagree on entries 8 to 19, and agree up to entry 7: the log had 20 entries once and has 12 now; entries 12 to 19 are missing",
			"two histories disagree on entries 8 to 12, and agree up to entry 7: the log had 13 entries once and has 12 now; entry 12 is missing"}},
	} {
		found, err := Histories(context.Background(), &is, now, c.kept)
		if err != nil || len(found) != len(c.want) {
			t.Errorf("%s: %v %v", c.name, found, err)
			continue
		}
		for i := range found {
			if found[i].String() != c.want[i] {
				t.Errorf("%s: %s", c.name, found[i])
			}
		}
	}
	if _, err := Histories(context.Background(), &treeLog{}, now, []Checkpoint{was.head(t, 5)}); err == nil {
		t.Error("a log that can't be read disagrees with nothing")
	}
}
