package config

import (
	"strings"
	"time"

	"interlock"
)

// A Channel is one way to reach a human, see [Config]. What each kind takes is for package notify to check.
type Channel struct {
	Name     string          `json:"name"`
	Kind     string          `json:"kind"`
	Floor    *interlock.Tier `json:"floor"`
	Always   bool            `json:"always"`
	URL      string          `json:"url"`
	Key      string          `json:"key"`
	Token    string          `json:"token"`
	Host     string          `json:"host"`
	TLS      string          `json:"tls"`
	User     string          `json:"user"`
	Password string          `json:"password"`
	From     string          `json:"from"`
	To       []string        `json:"to"`
}

// Hours are a stretch of every day, as in "22:00-07:00" or "22:00-07:00 Europe/Berlin"; one that ends before it begins goes
// over midnight. The zero value is never.
type Hours string

// UnmarshalText reads hours, and refuses what is none.
func (h *Hours) UnmarshalText(text []byte) error {
	read := Hours(strings.TrimSpace(string(text)))
	if _, _, _, err := read.parse(); err != nil {
		return err
	}
	*h = read
	return nil
}

// parse returns the minutes since midnight and the time zone they are in.
func (h Hours) parse() (begin, end int, zone *time.Location, err error) {
	span, name, named := strings.Cut(string(h), " ")
	from, to, ok := strings.Cut(span, "-")
	first, errFrom := time.Parse("15:04", from)
	last, errTo := time.Parse("15:04", to)
	if !ok || errFrom != nil || errTo != nil || first.Equal(last) {
		return 0, 0, nil, interlock.Errorf(interlock.CodeInvalid, "",
			"%.40q is not a stretch of the day such as 22:00-07:00", string(h))
	}
	zone = time.Local
	if named {
		if zone, err = time.LoadLocation(strings.TrimSpace(name)); err != nil {
			return 0, 0, nil, interlock.Errorf(interlock.CodeInvalid, "", "%.40q is not a time zone such as Europe/Berlin", name)
		}
	}
	return first.Hour()*60 + first.Minute(), last.Hour()*60 + last.Minute(), zone, nil
}

// Contain reports whether a time lies within the hours.
func (h Hours) Contain(at time.Time) bool {
	if h == "" {
		return false
	}
	begin, end, zone, err := h.parse()
	if err != nil {
		return true // unreachable for hours that were read; nobody is there then
	}
	at = at.In(zone)
	minute := at.Hour()*60 + at.Minute()
	if begin < end {
		return minute >= begin && minute < end
	}
	return minute >= begin || minute < end
}
