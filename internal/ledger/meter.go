package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"interlock"
)

// meterLives is how long a meter is remembered after it was heard last.
const meterLives = 8 * 24 * time.Hour

// The bounds of what a meter remembers. What is forgotten counts once more if it is told again: a meter errs towards more.
const (
	maxReadings = 1024 // told once each
	maxRunning  = 256  // that go on rising
	maxSources  = 32
)

// A Reading is one number that somebody reports as used. What is told again under the same id counts once; one that goes on rising is
// told as what it has come to, and counts with what it has risen by.
type Reading struct {
	ID     uint64 // of what was counted: the series and the time it is about, or the one thing that used it
	Rising bool
	Value  int64
	At     int64 // nanoseconds; of what rises, which was told later
}

// A MeterBody is what one session of an agent has reported as used of one measure. The same use may be told by several sources, such as
// a service's own metrics and its spans: what counts is the largest of their sums, so that telling more often counts nothing twice, and
// whatever else is told can only raise it.
type MeterBody struct {
	Agent   string           `json:"agent"`
	Run     string           `json:"run,omitempty"`
	Service string           `json:"service,omitempty"` // what reports: its name, and which instance of it
	Measure string           `json:"measure"`           // tokens, or money and its currency
	Number  int              `json:"number"`            // of changes: each follows the one before
	Sums    map[string]int64 `json:"sums,omitempty"`    // by source
	Counted int64            `json:"counted"`           // the largest of the sums there has been
	Seen    []byte           `json:"seen,omitempty"`    // ids of readings, the latest last
	Running []byte           `json:"running,omitempty"` // of those that rise: id, time and value, the latest last
	At      time.Time        `json:"at"`                // when it was heard last
}

// MeterKey names a meter.
func MeterKey(b *MeterBody) string {
	return strings.Join([]string{b.Agent, b.Run, b.Service, b.Measure}, "\x00")
}

// Row is the meter as a row to write.
func (b *MeterBody) Row() Row { return Row{Kind: Meter, Key: MeterKey(b), Value: *b} }

func meterNext(was, is MeterBody, there bool, _ time.Time) error {
	if is.Number != was.Number+1 {
		return moved(Meter, "something else was reported meanwhile")
	}
	return nil
}

// ErrMeterFull is that a meter has more sources than it keeps.
var ErrMeterFull = interlock.Errorf(interlock.CodeLimited, "", "more kinds of report of one session than are told apart")

// With returns the meter with what a source reports, and by how much that raises what counts. Numbers below nothing count as nothing.
func (b MeterBody) With(source string, readings []Reading, now time.Time) (MeterBody, int64, error) {
	if _, known := b.Sums[source]; !known && len(b.Sums) >= maxSources {
		return b, 0, ErrMeterFull
	}
	seen, running, sum := slices.Clone(b.Seen), slices.Clone(b.Running), b.Sums[source]
	for _, r := range readings {
		fresh := int64(0)
		r.Value = max(r.Value, 0)
		if r.Rising {
			running, fresh = risen(running, r)
		} else if at := slot(seen, seenSize, r.ID); at < 0 {
			seen, fresh = binary.BigEndian.AppendUint64(seen, r.ID), r.Value
		}
		sum += min(fresh, math.MaxInt64-sum)
	}
	b.Seen = seen[max(len(seen)-maxReadings*seenSize, 0):]
	b.Running = running[max(len(running)-maxRunning*runningSize, 0):]
	b.Sums = maps.Clone(b.Sums)
	if b.Sums == nil {
		b.Sums = map[string]int64{}
	}
	b.Sums[source] = sum
	add := max(sum-b.Counted, 0)
	b.Counted += add
	if now.After(b.At) {
		b.At = now
	}
	b.Number++
	return b, add, nil
}

// Same reports whether two meters have heard the same.
func (b *MeterBody) Same(o *MeterBody) bool {
	return maps.Equal(b.Sums, o.Sums) && bytes.Equal(b.Seen, o.Seen) && bytes.Equal(b.Running, o.Running)
}

const (
	seenSize    = 8
	runningSize = 24
)

// slot finds an id among entries of a size.
func slot(list []byte, size int, id uint64) int {
	for at := len(list) - size; at >= 0; at -= size { // what is told again was told lately
		if binary.BigEndian.Uint64(list[at:]) == id {
			return at
		}
	}
	return -1
}

// risen is by how much something has risen since it was told last. One that has fallen later on has begun again, and counts
// whole; one that was told before is late, and counts nothing.
func risen(running []byte, r Reading) ([]byte, int64) {
	fresh := r.Value
	if at := slot(running, runningSize, r.ID); at >= 0 {
		then, was := int64(binary.BigEndian.Uint64(running[at+8:])), int64(binary.BigEndian.Uint64(running[at+16:]))
		switch {
		case r.At <= then && r.Value <= was:
			return running, 0
		case r.Value >= was:
			fresh = r.Value - was
		}
		r.At = max(r.At, then)
		running = slices.Delete(running, at, at+runningSize)
	}
	running = binary.BigEndian.AppendUint64(running, r.ID)
	running = binary.BigEndian.AppendUint64(running, uint64(r.At))
	return binary.BigEndian.AppendUint64(running, uint64(r.Value)), fresh
}

func meterCheck(b MeterBody) error {
	if len(b.Seen)%seenSize != 0 || len(b.Running)%runningSize != 0 || b.Counted < 0 || b.Number < 0 {
		return errors.New("a meter that no reports make")
	}
	return nil
}

// A BudgetBody is which steps of a budget people were told of, for one of those that it is counted for.
type BudgetBody struct {
	Key    string               `json:"key"` // of what is used, see [TakenFrom]
	Number int                  `json:"number"`
	Told   map[string]time.Time `json:"told"` // by step
	Within time.Duration        `json:"within_ns,omitempty"`
	At     time.Time            `json:"at"`
}

// Row is the body as a row to write.
func (b *BudgetBody) Row() Row { return Row{Kind: Budget, Key: b.Key, Value: *b} }

func budgetNext(was, is BudgetBody, there bool, _ time.Time) error {
	if is.Number != was.Number+1 {
		return moved(Budget, "another step was told of meanwhile")
	}
	return nil
}

// Reached returns the body after steps of a budget were reached, lowest first, and the highest that people are to be told of now:
// of each once within the budget's time, and of those below it not at all.
func (b BudgetBody) Reached(steps []string, within time.Duration, now time.Time) (after BudgetBody, tell string) {
	for n := range slices.Backward(steps) {
		if told, before := b.Told[steps[n]]; !before || within > 0 && now.Sub(told) >= within {
			tell = steps[n]
			steps = steps[:n+1]
			break
		}
	}
	if tell == "" {
		return b, ""
	}
	b.Told = maps.Clone(b.Told)
	if b.Told == nil {
		b.Told = map[string]time.Time{}
	}
	for _, step := range steps {
		b.Told[step] = now
	}
	b.Number, b.Within, b.At = b.Number+1, within, now
	return b, tell
}
