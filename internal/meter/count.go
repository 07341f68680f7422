package meter

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// The bounds of how exactly a window is counted. Up to so many uses each counts for itself; beyond that those of one part of the
// window count as if all of them had been at the latest, so that a use counts for longer than it should and never for less long.
const (
	ExactUses  = 1000
	UsageParts = 64
	freshUses  = 64 // uses that are copied with each new one; those before are shared
)

// A Count is how much of something was used. How much may be used is no part of it: that comes with the [Bound], so that other
// rules change what there is room for and not what was used.
//
// Uses are kept as what had been used in all with each of them. So what a window holds is a difference of two, and forgetting
// all but the last use of a part of it is what makes that part one.
type Count struct {
	Total  int64         // ever used, less what was given back
	Before int64         // so much of it before what is remembered
	Last   time.Time     // when something was used last: a clock that says less is taken for this
	Kept   time.Duration // how long uses are remembered; 0: nothing counts for a window
	Ever   bool          // something was counted for ever, so that it is never over
	Coarse bool          // there were too many to remember each

	old   []used // never changed, so that many values share it
	fresh []used
}

// A used is what had been used in all, with what was used at a time.
type used struct {
	at  int64 // in nanoseconds
	sum int64
}

// Take returns the count with one more use, or reports that a bound has no room for it.
func (c Count) Take(take int64, of Bound, now time.Time) (Count, bool) {
	now = c.clock(now)
	if take < 0 || take > of.Most || c.Used(of.Window, now) > of.Most-take || c.Total > math.MaxInt64-take {
		return c, false
	}
	return c.add(take, of.Window, now), true
}

// Put returns the count with a use that has been, whether there was room for it or not.
func (c Count) Put(take int64, window time.Duration, now time.Time) Count {
	return c.add(min(take, math.MaxInt64-c.Total), window, c.clock(now))
}

// clock is a time that is not before what is known to have been.
func (c Count) clock(now time.Time) time.Time {
	if c.Last.After(now) {
		return c.Last
	}
	return now
}

// add puts a use to the others.
func (c Count) add(take int64, window time.Duration, now time.Time) Count {
	c.Last, c.Kept, c.Ever = now, max(c.Kept, window), c.Ever || window <= 0
	c = c.pruned()
	if len(c.old)+len(c.fresh) == 0 {
		c.Kept, c.Coarse = window, false
	}
	c.Total += take
	if c.Kept <= 0 {
		c.Before = c.Total
		return c
	}
	one := used{now.UnixNano(), c.Total}
	last, any := c.last()
	switch {
	case any && (last.at == one.at || c.Coarse && c.part(last.at) == c.part(one.at)):
		c = c.shorter()
		fallthrough
	case len(c.fresh) < freshUses:
		c.fresh = append(append(make([]used, 0, len(c.fresh)+1), c.fresh...), one)
	default:
		c.old, c.fresh = slices.Concat(c.old, c.fresh), []used{one}
	}
	if len(c.old)+len(c.fresh) > ExactUses {
		c = c.coarser()
	}
	return c
}

// last is the latest use that is remembered.
func (c Count) last() (used, bool) {
	if n := len(c.fresh); n > 0 {
		return c.fresh[n-1], true
	}
	if n := len(c.old); n > 0 {
		return c.old[n-1], true
	}
	return used{}, false
}

// shorter is without the latest use, which is about to be put there again.
func (c Count) shorter() Count {
	if n := len(c.fresh); n > 0 {
		c.fresh = c.fresh[:n-1]
	} else {
		c.old = c.old[:len(c.old)-1]
	}
	return c
}

// pruned is without the uses that are over.
func (c Count) pruned() Count {
	from := c.since(c.Last.Add(-c.Kept))
	if from == 0 {
		return c
	}
	c.Before = c.at(from - 1).sum
	n := min(from, len(c.old))
	c.old, c.fresh = c.old[n:], c.fresh[from-n:]
	return c
}

// coarser remembers of each part of the window the last use alone.
func (c Count) coarser() Count {
	all := slices.Concat(c.old, c.fresh)
	c.old, c.fresh, c.Coarse = make([]used, 0, UsageParts), nil, true
	for n, one := range all {
		if n == len(all)-1 || c.part(one.at) != c.part(all[n+1].at) {
			c.old = append(c.old, one)
		}
	}
	return c
}

// part is which part of the window a time is in. One less than there are fit into it whole, so that it never touches more.
func (c Count) part(at int64) int64 {
	return at / max(int64(c.Kept)/(UsageParts-1), 1)
}

func (c Count) at(n int) used {
	if n < len(c.old) {
		return c.old[n]
	}
	return c.fresh[n-len(c.old)]
}

// since is the first use after a time.
func (c Count) since(at time.Time) int {
	after := func(one used, at int64) int {
		if one.at > at {
			return 1
		}
		return -1
	}
	from := at.UnixNano()
	if n := len(c.old); n > 0 && c.old[n-1].at > from {
		i, _ := slices.BinarySearchFunc(c.old, from, after)
		return i
	}
	i, _ := slices.BinarySearchFunc(c.fresh, from, after)
	return len(c.old) + i
}

// Used is how much was used within a window that ends at a time; without one, how much ever was.
func (c Count) Used(window time.Duration, now time.Time) int64 {
	if window <= 0 {
		return c.Total
	}
	from := c.since(c.clock(now).Add(-window))
	if from == 0 {
		return c.Total - c.Before
	}
	return c.Total - c.at(from-1).sum
}

// back is when a bound has room for so much; the zero time is never.
func (b Bound) back(c Count, take int64, now time.Time) time.Time {
	now = c.clock(now)
	over := c.Used(b.Window, now) - (b.Most - take)
	switch {
	case take > b.Most:
		return time.Time{}
	case over <= 0:
		return now
	case b.Window <= 0:
		return time.Time{}
	}
	from, sum := c.since(now.Add(-b.Window)), c.Total-c.Used(b.Window, now)
	for n := from; n < len(c.old)+len(c.fresh); n++ {
		if c.at(n).sum-sum >= over {
			return time.Unix(0, c.at(n).at).Add(b.Window).UTC()
		}
	}
	return time.Time{}
}

// Free gives back what was taken at a time and not used. Where it can't be told any more which use that was, as where a clock was
// set back, nothing is given back.
func (c Count) Free(n int64, decided time.Time) Count {
	at, count := decided.UnixNano(), len(c.old)+len(c.fresh)
	i := c.since(decided.Add(-1)) // the first that is not before it
	switch {
	case c.Kept <= 0:
		n = min(n, c.Total)
		c.Before -= n
	case at <= c.Last.Add(-c.Kept).UnixNano(): // it counts in no window any more
		n, i = min(n, c.Before), 0
		c.Before -= n
	case i < count && (c.at(i).at == at || c.Coarse && c.part(c.at(i).at) == c.part(at)):
		before := c.Before
		if i > 0 {
			before = c.at(i - 1).sum
		}
		n = min(n, c.at(i).sum-before)
	default:
		return c
	}
	all := slices.Concat(c.old, c.fresh)
	for ; i < count; i++ {
		all[i].sum -= n
	}
	c.Total, c.old, c.fresh = c.Total-n, all, nil
	return c
}

// A Text is how a count is written, as members of a JSON object.
type Text struct {
	Total  int64         `json:"total"`
	Before int64         `json:"before,omitempty"`
	Last   time.Time     `json:"last"`
	Kept   time.Duration `json:"kept_ns,omitempty"`
	Ever   bool          `json:"ever,omitempty"`
	Coarse bool          `json:"coarse,omitempty"`
	Uses   []byte        `json:"uses,omitempty"` // pairs: how long after the one before, and how much
}

// Size is about how many bytes a text takes.
func (c Count) Size() int { return 160 + 9*(len(c.old)+len(c.fresh)) }

// Append appends the members of the count's [Text]: of each use how long it was after the one before, and how much it was. It is
// written by hand, because a row of a busy agent is written with most of its actions.
func (c Count) Append(b []byte) []byte {
	uses := make([]byte, 0, 6*(len(c.old)+len(c.fresh)))
	at, sum := int64(0), c.Before
	for _, part := range [][]used{c.old, c.fresh} {
		for _, one := range part {
			uses = binary.AppendUvarint(binary.AppendUvarint(uses, uint64(one.at-at)), uint64(one.sum-sum))
			at, sum = one.at, one.sum
		}
	}
	b = strconv.AppendInt(append(b, `"total":`...), c.Total, 10)
	if c.Before != 0 {
		b = strconv.AppendInt(append(b, `,"before":`...), c.Before, 10)
	}
	b = c.Last.UTC().AppendFormat(append(b, `,"last":"`...), time.RFC3339Nano)
	b = append(b, '"')
	if c.Kept != 0 {
		b = strconv.AppendInt(append(b, `,"kept_ns":`...), int64(c.Kept), 10)
	}
	if c.Ever {
		b = append(b, `,"ever":true`...)
	}
	if c.Coarse {
		b = append(b, `,"coarse":true`...)
	}
	if len(uses) > 0 {
		b = append(base64.StdEncoding.AppendEncode(append(b, `,"uses":"`...), uses), '"')
	}
	return b
}

// Count reads the text, and refuses one that no uses make.
func (t Text) Count() (Count, error) {
	is := Count{Total: t.Total, Before: t.Before, Last: t.Last, Kept: t.Kept, Ever: t.Ever, Coarse: t.Coarse}
	if is.Before < 0 || is.Total < is.Before || is.Kept < 0 || is.Last.Year() < 1970 || is.Last.Year() > 2261 {
		return Count{}, fmt.Errorf("a usage of %d, %d of them before, until %v can't be", is.Total, is.Before, is.Last)
	}
	at, sum := int64(0), is.Before
	for rest := t.Uses; len(rest) > 0; {
		var pair [2]uint64
		for n := range pair {
			value, size := binary.Uvarint(rest)
			if size <= 0 {
				return Count{}, errors.New("the uses end in the middle of one")
			}
			pair[n], rest = value, rest[size:]
		}
		if len(is.old) >= ExactUses || pair[0] == 0 || pair[0] > uint64(math.MaxInt64-at) || pair[1] > uint64(is.Total-sum) {
			return Count{}, errors.New("the uses are none that follow each other")
		}
		at, sum = at+int64(pair[0]), sum+int64(pair[1])
		is.old = append(is.old, used{at, sum})
	}
	if sum != is.Total || len(is.old) > 0 && at > is.Last.UnixNano() || is.Kept == 0 && len(is.old) > 0 {
		return Count{}, fmt.Errorf("the uses come to %d of %d", sum, is.Total)
	}
	return is, nil
}
