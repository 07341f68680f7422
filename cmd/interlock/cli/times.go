package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"interlock"
)

// Moment reads a time, or how long ago it was.
func (p *Program) Moment(flag, text string) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	ago, err := Period(text)
	if err != nil {
		return time.Time{}, Usage(interlock.Errorf(interlock.CodeInvalid, flag,
			"%.40q is no time; write how long ago as 90m, 8h or 7d, or a time as 2006-01-02T15:04:05Z", text))
	}
	return p.Now().Add(-ago), nil
}

// Period reads a length of time, also in whole days.
func Period(text string) (time.Duration, error) {
	if days, found := strings.CutSuffix(text, "d"); found {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n < 10000 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%.40q is no length of time; write one as 90m, 8h or 7d", text)
}
