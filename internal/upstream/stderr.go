package upstream

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"interlock/internal/meter"
)

// The bounds of what is logged of a program's error output.
const (
	longestLine    = 1 << 10 // bytes of a line
	linesPerWindow = 100
	lineWindow     = time.Minute
)

// complaints takes a program's error output and hands it on line by line, redacted and bounded: a program may write what it
// likes, and as much.
type complaints struct {
	conceal concealer
	log     func(line string)
	now     func() time.Time

	mu      sync.Mutex
	partial []byte
	cut     bool // the rest of the line is dropped
	last    string
	lines   meter.Allowance
}

// Write takes output. It never fails.
func (c *complaints) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if room := longestLine - len(c.partial); !c.cut && len(line) > room {
			// One secret may be cut in two here, so what is beyond the bound is shown by nobody.
			c.partial, c.cut = append(c.partial, line[:room]...), true
		} else if !c.cut {
			c.partial = append(c.partial, line...)
		}
		if ended {
			c.end()
		}
		rest = after
	}
	return len(p), nil
}

// end hands the line on. The caller holds the lock.
func (c *complaints) end() {
	line := bytes.TrimRight(c.partial, "\r")
	if len(line) > 0 {
		text := c.conceal.line(line, longestLine)
		if c.cut {
			text = cutWord(text) + "…"
		}
		c.last = text
		c.say(text)
	}
	c.partial, c.cut = c.partial[:0], false
}

func (c *complaints) say(text string) {
	may, missed := c.lines.Take(c.now())
	c.leftOut(missed)
	if may {
		c.log(text)
	}
}

func (c *complaints) leftOut(lines int) {
	if lines > 0 {
		c.log(fmt.Sprintf("(%d lines were left out)", lines))
	}
}

// close hands on what is left, and returns the last line.
func (c *complaints) close() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end()
	c.leftOut(c.lines.Missed())
	return c.last
}

// cutWord drops the last word of a line that was cut: it may be the beginning of a secret that is no longer recognised.
func cutWord(text string) string {
	if i := bytes.LastIndexByte([]byte(text), ' '); i >= 0 {
		return text[:i+1]
	}
	return ""
}
