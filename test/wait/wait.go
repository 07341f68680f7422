// Package wait is where tests wait. A test waits for an event and says so; how long it takes is the machine's affair, so that
// nothing fails because other programs run beside it. What has to happen within a time is tested on a clock that the test drives.
package wait

import (
	"testing"
	"time"
)

// Limit is when something that does not come counts as never coming. Nothing is decided by it on a machine that is only busy.
const Limit = 2 * time.Minute

// Until waits until something is so. What it asks may start a program: it is asked less often the longer it takes.
func Until(t testing.TB, what string, is func() bool) {
	t.Helper()
	if !Holds(is) {
		t.Fatalf("waited %v in vain: %s", Limit, what)
	}
}

// Holds waits like [Until] and reports whether it came, for those who have more to say.
func Holds(is func() bool) bool {
	pause := time.Millisecond
	for late := time.Now().Add(Limit); !is(); time.Sleep(pause) {
		if time.Now().After(late) {
			return false
		}
		pause = min(2*pause, 250*time.Millisecond)
	}
	return true
}

// Chance lets time pass in which something that must not come could come. A busy machine makes that easier to miss and fails
// nobody.
func Chance(of time.Duration) { time.Sleep(of) }
