package sqlite

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Memory is given back once after each load, when it is over, and not while nothing has happened.
func TestRestIsWhenWritingHasPaused(t *testing.T) {
	pause := rested{}
	var over []int
	for n, size := range []int64{5, 5, 5, 90, 200, 200, 200, 201, 201} {
		if pause.over(size) {
			over = append(over, n)
		}
	}
	if diff := cmp.Diff([]int{1, 5, 8}, over); diff != "" {
		t.Error(diff)
	}
}
