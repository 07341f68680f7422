package ledger

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/strictjson"
)

// The bounds of how exactly a window is counted. Up to so many uses each counts for itself; beyond that those of one part of the
// window count as if all of them had been at the latest, so that a use counts for longer than it should and never for less long.
const (
	ExactUses  = 1000
	UsageParts = 64
	freshUses  = 64 // uses that are copied with each new one; those before are shared
)

// A UsageBody is how much of something one of those it is counted for has used. How much may be used is no part of it: that comes
// with the [Spend], so that other rules change what there is room for and not what was used.
//
// Uses are kept as what had been used in all with each of them. So what a window holds is a difference of two, and forgetting
// all but the last use of a part of it is what makes that part one.
type UsageBody struct {
	Key    string        // see [UsageKey]
	Total  int64         // ever used, less what was given back
	Before int64         // so much of it before what is remembered
	Last   time.Time     // when something was used last: a clock that says less is taken for this
	Kept   time.Duration // how long uses are remembered; 0: nothing counts for a window
	Ever   bool          // something was counted for ever, so that the row is never over
	Coarse bool          // there were too many to remember each

	old   []used // never changed, so that many values share it
	fresh []used
}

// A used is what had been used in all, with what was used at a time.
type used struct {
	at  int64 // in nanoseconds
	sum int64
}

// UsageKey names what is counted: under which limit, for whom. Parts hold no NUL.
func UsageKey(parts ...string) string { return strings.Join(parts, "\x00") }

// TakenFrom is the key of what an action took something from. Where nothing is enforced that is another row, so that what was only
// watched leaves what is enforced as it was.
func TakenFrom(t interlock.Taken) string {
	parts := make([]string, 0, 3+len(t.Of))
	if t.Monitored {
		parts = append(parts, "")
	}
	parts = append(parts, t.Limit, t.Per)
	for _, name := range t.Of {
		parts = append(parts, strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", "\uFFFD"), "\uFFFD"))
	}
	return UsageKey(parts...)
}

// A CountedFor is what a row of uses is counted for: a limit or a budget, and one of those that it is counted for.
type CountedFor struct {
	Limit     string
	Per       string
	Of        []string
	Monitored bool // it was only watched
	Body      UsageBody
}

// ForWhom reads what a row of uses is counted for.
func ForWhom(row Row) (c CountedFor, ok bool) {
	body, is := row.Value.(UsageBody)
	parts := strings.Split(row.Key, "\x00")
	if c.Monitored = parts[0] == ""; c.Monitored {
		parts = parts[1:]
	}
	if !is || row.Kind != Usage || len(parts) < 2 {
		return CountedFor{}, false
	}
	c.Limit, c.Per, c.Of, c.Body = parts[0], parts[1], parts[2:], body
	return c, true
}

// usageUse takes from what there is room for.
func usageUse(before any, s Spend, now time.Time) (after any, why string) {
	was, there := before.(UsageBody)
	if !there {
		was.Key = s.Key
	}
	switch is, fits := was.With(s, now); {
	case fits:
		return is, ""
	default:
		return nil, "there is no room for it"
	}
}

// With returns the body with one more use, or reports that there is no room for it.
func (u UsageBody) With(s Spend, now time.Time) (UsageBody, bool) {
	now = u.clock(now)
	if s.Take < 0 || s.Take > s.Room || u.Used(s.Window, now) > s.Room-s.Take || u.Total > math.MaxInt64-s.Take {
		return u, false
	}
	return u.add(s.Take, s.Window, now), true
}

// clock is a time that is not before what is known to have been.
func (u UsageBody) clock(now time.Time) time.Time {
	if u.Last.After(now) {
		return u.Last
	}
	return now
}

// add puts a use to the others.
func (u UsageBody) add(take int64, window time.Duration, now time.Time) UsageBody {
	u.Last, u.Kept, u.Ever = now, max(u.Kept, window), u.Ever || window <= 0
	u = u.pruned()
	if len(u.old)+len(u.fresh) == 0 {
		u.Kept, u.Coarse = window, false
	}
	u.Total += take
	if u.Kept <= 0 {
		u.Before = u.Total
		return u
	}
	one := used{now.UnixNano(), u.Total}
	last, any := u.last()
	switch {
	case any && (last.at == one.at || u.Coarse && u.part(last.at) == u.part(one.at)):
		u = u.shorter()
		fallthrough
	case len(u.fresh) < freshUses:
		u.fresh = append(append(make([]used, 0, len(u.fresh)+1), u.fresh...), one)
	default:
		u.old, u.fresh = slices.Concat(u.old, u.fresh), []used{one}
	}
	if len(u.old)+len(u.fresh) > ExactUses {
		u = u.coarser()
	}
	return u
}

// last is the latest use that is remembered.
func (u UsageBody) last() (used, bool) {
	if n := len(u.fresh); n > 0 {
		return u.fresh[n-1], true
	}
	if n := len(u.old); n > 0 {
		return u.old[n-1], true
	}
	return used{}, false
}

// shorter is without the latest use, which is about to be put there anew.
func (u UsageBody) shorter() UsageBody {
	if n := len(u.fresh); n > 0 {
		u.fresh = u.fresh[:n-1]
	} else {
		u.old = u.old[:len(u.old)-1]
	}
	return u
}

// pruned is without the uses that are over.
func (u UsageBody) pruned() UsageBody {
	from := u.since(u.Last.Add(-u.Kept))
	if from == 0 {
		return u
	}
	u.Before = u.at(from - 1).sum
	n := min(from, len(u.old))
	u.old, u.fresh = u.old[n:], u.fresh[from-n:]
	return u
}

// coarser remembers of each part of the window the last use alone.
func (u UsageBody) coarser() UsageBody {
	all := slices.Concat(u.old, u.fresh)
	u.old, u.fresh, u.Coarse = make([]used, 0, UsageParts), nil, true
	for n, one := range all {
		if n == len(all)-1 || u.part(one.at) != u.part(all[n+1].at) {
			u.old = append(u.old, one)
		}
	}
	return u
}

// part is which part of the window a time is in. One less than there are fit into it whole, so that it never touches more.
func (u UsageBody) part(at int64) int64 {
	return at / max(int64(u.Kept)/(UsageParts-1), 1)
}

func (u UsageBody) at(n int) used {
	if n < len(u.old) {
		return u.old[n]
	}
	return u.fresh[n-len(u.old)]
}

// since is the first use after a time.
func (u UsageBody) since(at time.Time) int {
	after := func(one used, at int64) int {
		if one.at > at {
			return 1
		}
		return -1
	}
	from := at.UnixNano()
	if n := len(u.old); n > 0 && u.old[n-1].at > from {
		i, _ := slices.BinarySearchFunc(u.old, from, after)
		return i
	}
	i, _ := slices.BinarySearchFunc(u.fresh, from, after)
	return len(u.old) + i
}

// Used is how much was used within a window that ends at a time; without one, how much ever was.
func (u UsageBody) Used(window time.Duration, now time.Time) int64 {
	if window <= 0 {
		return u.Total
	}
	from := u.since(u.clock(now).Add(-window))
	if from == 0 {
		return u.Total - u.Before
	}
	return u.Total - u.at(from-1).sum
}

// Back is when there is room for a spend; the zero time is never.
func (u UsageBody) Back(s Spend, now time.Time) time.Time {
	now = u.clock(now)
	over := u.Used(s.Window, now) - (s.Room - s.Take)
	switch {
	case s.Take > s.Room:
		return time.Time{}
	case over <= 0:
		return now
	case s.Window <= 0:
		return time.Time{}
	}
	from, sum := u.since(now.Add(-s.Window)), u.Total-u.Used(s.Window, now)
	for n := from; n < len(u.old)+len(u.fresh); n++ {
		if u.at(n).sum-sum >= over {
			return time.Unix(0, u.at(n).at).Add(s.Window).UTC()
		}
	}
	return time.Time{}
}

// A Settling is what became of a use: so much was taken when it was decided, and so much was it. Writing one is putting it to what
// its row says.
type Settling struct {
	Key     string
	Window  time.Duration
	Decided time.Time
	At      time.Time
	Taken   int64
	Charged int64
}

func usageMerge(before any, delta any) (any, error) {
	s, ok := delta.(Settling)
	was, there := before.(UsageBody)
	switch {
	case !ok || s.Taken < 0 || s.Charged < 0:
		return nil, interlock.Errorf(interlock.CodeInvalid, "change", "a %T can't be put to what was used", delta)
	case !there:
		was.Key = s.Key
	}
	if s.Charged <= s.Taken {
		is := was.free(s.Taken-s.Charged, s.Decided)
		if !there || is.Total == was.Total {
			return nil, nil
		}
		return is, nil
	}
	return was.add(min(s.Charged-s.Taken, math.MaxInt64-was.Total), s.Window, was.clock(s.At)), nil
}

// free gives back what was taken at a time and not used. Where it can't be told any more which use that was, as where a clock was
// set back, nothing is given back.
func (u UsageBody) free(n int64, decided time.Time) UsageBody {
	at, count := decided.UnixNano(), len(u.old)+len(u.fresh)
	i := u.since(decided.Add(-1)) // the first that is not before it
	switch {
	case u.Kept <= 0:
		n = min(n, u.Total)
		u.Before -= n
	case at <= nano(u.Last.Add(-u.Kept)): // it counts in no window any more
		n, i = min(n, u.Before), 0
		u.Before -= n
	case i < count && (u.at(i).at == at || u.Coarse && u.part(u.at(i).at) == u.part(at)):
		before := u.Before
		if i > 0 {
			before = u.at(i - 1).sum
		}
		n = min(n, u.at(i).sum-before)
	default:
		return u
	}
	all := slices.Concat(u.old, u.fresh)
	for ; i < count; i++ {
		all[i].sum -= n
	}
	u.Total, u.old, u.fresh = u.Total-n, all, nil
	return u
}

// usageText is how a body is written.
type usageText struct {
	Key    string        `json:"key"`
	Total  int64         `json:"total"`
	Before int64         `json:"before,omitempty"`
	Last   time.Time     `json:"last"`
	Kept   time.Duration `json:"kept_ns,omitempty"`
	Ever   bool          `json:"ever,omitempty"`
	Coarse bool          `json:"coarse,omitempty"`
	Uses   []byte        `json:"uses,omitempty"` // pairs: how long after the one before, and how much
}

// MarshalJSON writes the body.
func (u UsageBody) MarshalJSON() ([]byte, error) { return u.Body(), nil }

// Body is the body as it is stored: of each use how long it was after the one before, and how much it was. It is written by hand,
// because a row of a busy agent is written with most of its actions.
func (u UsageBody) Body() []byte {
	uses := make([]byte, 0, 6*(len(u.old)+len(u.fresh)))
	at, sum := int64(0), u.Before
	for _, part := range [][]used{u.old, u.fresh} {
		for _, one := range part {
			uses = binary.AppendUvarint(binary.AppendUvarint(uses, uint64(one.at-at)), uint64(one.sum-sum))
			at, sum = one.at, one.sum
		}
	}
	b := strictjson.AppendString(append(make([]byte, 0, 160+len(u.Key)+2*len(uses)), `{"key":`...), strings.ToValidUTF8(u.Key, "\uFFFD"))
	b = strconv.AppendInt(append(b, `,"total":`...), u.Total, 10)
	if u.Before != 0 {
		b = strconv.AppendInt(append(b, `,"before":`...), u.Before, 10)
	}
	b = u.Last.UTC().AppendFormat(append(b, `,"last":"`...), time.RFC3339Nano)
	b = append(b, '"')
	if u.Kept != 0 {
		b = strconv.AppendInt(append(b, `,"kept_ns":`...), int64(u.Kept), 10)
	}
	if u.Ever {
		b = append(b, `,"ever":true`...)
	}
	if u.Coarse {
		b = append(b, `,"coarse":true`...)
	}
	if len(uses) > 0 {
		b = append(base64.StdEncoding.AppendEncode(append(b, `,"uses":"`...), uses), '"')
	}
	return append(b, '}')
}

// UnmarshalJSON reads a body, and refuses one that no uses make.
func (u *UsageBody) UnmarshalJSON(data []byte) error {
	var text usageText
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	is := UsageBody{Key: text.Key, Total: text.Total, Before: text.Before, Last: text.Last, Kept: text.Kept, Ever: text.Ever,
		Coarse: text.Coarse}
	if is.Before < 0 || is.Total < is.Before || is.Kept < 0 || is.Last.Year() < 1970 || is.Last.Year() > 2261 {
		return fmt.Errorf("a usage of %d, %d of them before, until %v can't be", is.Total, is.Before, is.Last)
	}
	at, sum := int64(0), is.Before
	for rest := text.Uses; len(rest) > 0; {
		var pair [2]uint64
		for n := range pair {
			value, size := binary.Uvarint(rest)
			if size <= 0 {
				return errors.New("the uses end in the middle of one")
			}
			pair[n], rest = value, rest[size:]
		}
		if len(is.old) >= ExactUses || pair[0] == 0 || pair[0] > uint64(math.MaxInt64-at) || pair[1] > uint64(is.Total-sum) {
			return errors.New("the uses are none that follow each other")
		}
		at, sum = at+int64(pair[0]), sum+int64(pair[1])
		is.old = append(is.old, used{at, sum})
	}
	if sum != is.Total || len(is.old) > 0 && at > is.Last.UnixNano() || is.Kept == 0 && len(is.old) > 0 {
		return fmt.Errorf("the uses come to %d of %d", sum, is.Total)
	}
	*u = is
	return nil
}
