package ledger

import (
	"maps"
	"slices"
)

// maxDrives bounds who drives whom of one orchestration that is remembered.
const maxDrives = 1024

// Drive is what is counted of an orchestration with once more that one agent drove another, and how many turns of a circle that makes in
// which each drives the next: 0 where it closes none. A circle turns as often as its slowest part, so that one who only reports often to
// the one who gave the work goes round in none. fits is false where there are too many to remember.
func (t RunCountBody) Drive(from, to string) (after RunCountBody, turns int, fits bool) {
	drives, n := map[string]map[string]int{}, 0
	for who, whom := range t.Drives { // order-independent: copies a map
		drives[who] = maps.Clone(whom)
		n += len(whom)
	}
	if drives[from] == nil {
		drives[from] = map[string]int{}
	}
	if drives[from][to] == 0 && n >= maxDrives {
		return t, 0, false
	}
	drives[from][to]++
	t.Drives = drives
	way := wayBack(drives, to, from)
	if way == nil {
		return t, 0, true
	}
	way = append(way, to) // from: to ... from, and the step that was just made
	slowest := 0
	for i := range len(way) - 1 {
		if count := drives[way[i]][way[i+1]]; slowest == 0 || count < slowest {
			slowest = count
		}
	}
	for i := range len(way) - 1 {
		turns += min(drives[way[i]][way[i+1]], slowest+1)
	}
	return t, turns, true
}

// wayBack is the shortest way on which one agent drives another through others, both of them included; of several the first by name.
func wayBack(drives map[string]map[string]int, from, to string) []string {
	came := map[string]string{from: ""}
	for at := []string{from}; len(at) > 0; {
		var next []string
		for _, who := range at {
			for _, whom := range slices.Sorted(maps.Keys(drives[who])) {
				if _, seen := came[whom]; seen {
					continue
				}
				came[whom] = who
				if whom == to {
					var way []string
					for step := to; step != ""; step = came[step] {
						way = append(way, step)
					}
					slices.Reverse(way)
					return way
				}
				next = append(next, whom)
			}
		}
		at = next
	}
	return nil
}
