package stats

import (
	"context"
	"sync"
	"time"

	"interlock/internal/auditlog"
	"interlock/internal/judgments"
	"interlock/internal/ledger"
)

const (
	catchChunk = 500                   // entries read at once, which a page in want of the store does not notice
	catchWait  = 60 * time.Millisecond // how long a page waits for what is new to be counted
	catchFar   = 100_000               // entries; a counter that is further behind starts over from the log's end
)

// A Counter keeps a rollup up with the log while somebody looks. What is new is read forwards; what was there before is read from
// the end backwards, so that today is there first.
type Counter struct {
	log  Log
	now  func() time.Time
	done <-chan struct{}

	judged bool // what came of asking judges is counted as well

	mu      sync.Mutex
	rolled  *Rollup
	low     int64 // entries from low to before high are counted
	high    int64 // -1: none yet
	size    int64 // of the log, when it was looked at last
	whole   bool  // all of the last month is counted, up to size
	reading chan struct{}
	failed  error
}

func NewCounter(log Log, now func() time.Time, done <-chan struct{}, judged bool) *Counter {
	return &Counter{log: log, now: now, done: done, judged: judged, rolled: NewRollup(), high: -1}
}

// Counting is how far a counter has come.
type Counting struct {
	Whole   bool
	Counted int64
	Size    int64
	Failed  error
}

// View has a function look at what is counted, after waiting a moment for what is new. The function must not keep what it is
// given.
func (c *Counter) View(ctx context.Context, look func(*Rollup)) Counting {
	c.mu.Lock()
	if c.reading == nil {
		c.reading = make(chan struct{})
		go c.read(context.WithoutCancel(ctx), c.reading)
	}
	reading := c.reading
	c.mu.Unlock()
	patience := time.NewTimer(catchWait)
	defer patience.Stop()
	select {
	case <-reading:
	case <-patience.C:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	look(c.rolled)
	return Counting{Whole: c.whole && c.high >= c.size, Counted: c.high - c.low, Size: c.size, Failed: c.failed}
}

// read counts until nothing is left to count, and ends then.
func (c *Counter) read(ctx context.Context, finished chan struct{}) {
	err := c.catchUp(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed, c.reading = err, nil
	close(finished)
}

func (c *Counter) catchUp(ctx context.Context) error {
	head, err := c.log.Head(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.size = head.Size
	if c.high < 0 || head.Size < c.high || head.Size-c.high > catchFar {
		c.rolled, c.low, c.high, c.whole = NewRollup(), head.Size, head.Size, false
	}
	high, low, whole := c.high, c.low, c.whole
	c.mu.Unlock()
	for high < head.Size {
		if high, err = c.forwards(ctx, high); err != nil {
			return err
		}
	}
	for !whole {
		if low, whole, err = c.backwards(ctx, low); err != nil {
			return err
		}
	}
	return nil
}

// forwards counts the next entries, and says where it has come to.
func (c *Counter) forwards(ctx context.Context, from int64) (int64, error) {
	list, next, _, err := c.chunk(ctx, ledger.From(from, catchChunk))
	if err != nil {
		return from, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(list)
	c.high = max(from+1, next) // an entry that is not there yet is not waited for
	return c.high, nil
}

// backwards counts the entries before an index, and says whether that was the last that is young enough.
func (c *Counter) backwards(ctx context.Context, before int64) (low int64, whole bool, err error) {
	var list []Seen
	if before > 0 {
		if list, _, low, err = c.chunk(ctx, ledger.Before(before, catchChunk)); err != nil {
			return before, false, err
		}
	}
	whole = low <= 0
	oldest := c.now().Add(-RollupHours * time.Hour)
	if !whole && len(list) > 0 {
		whole = true
		for _, s := range list {
			whole = whole && s.At.Before(oldest)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(list)
	c.low, c.whole = low, whole
	return low, whole, nil
}

// chunk reads a span, and says after which entry it ends and with which it begins.
func (c *Counter) chunk(ctx context.Context, span ledger.Span) (list []Seen, next, first int64, err error) {
	select {
	case <-c.done:
		return nil, 0, 0, context.Canceled
	default:
	}
	entries, err := c.log.Entries(ctx, "", span)
	if err != nil {
		return nil, 0, 0, err
	}
	for i, e := range entries {
		s, ok := see(e)
		if c.judged {
			if of, tells := judgments.Of(e); tells {
				s.Index, s.At, s.judged, ok = e.Index, of.At, &of, true
			}
		}
		if ok {
			list = append(list, s)
		}
		next = max(next, e.Index+1)
		if i == 0 || e.Index < first {
			first = e.Index
		}
	}
	return list, next, first, nil
}

// count adds what was seen. What says that it comes from the future is left out: it would push out what is true.
func (c *Counter) count(list []Seen) {
	latest := c.now().Add(time.Hour)
	oldest := c.now().Add(-RollupHours * time.Hour)
	for _, s := range list {
		if s.At.Before(latest) && s.At.After(oldest) {
			c.rolled.Add(s)
		}
	}
}

// Log is what the console reads of the log. It is read from its right end.
type Log interface {
	auditlog.Source
	auditlog.HashRows
	auditlog.Pages
}
