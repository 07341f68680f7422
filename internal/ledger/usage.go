package ledger

import (
	"encoding/json"
	"strings"
	"time"

	"interlock"
	"interlock/internal/meter"
	"interlock/internal/strictjson"
)

// A UsageBody is how much of something one of those it is counted for has used.
type UsageBody struct {
	Key string // see [UsageKey]
	meter.Count
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
	var fits bool
	if was.Count, fits = was.Take(s.Take, s.Bound(), now); !fits {
		return nil, "there is no room for it"
	}
	return was, ""
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
	if s.Charged > s.Taken {
		was.Count = was.Put(s.Charged-s.Taken, s.Window, s.At)
		return was, nil
	}
	is := was
	is.Count = was.Free(s.Taken-s.Charged, s.Decided)
	if !there || is.Total == was.Total {
		return nil, nil
	}
	return is, nil
}

// MarshalJSON writes the body.
func (u UsageBody) MarshalJSON() ([]byte, error) { return u.Body(), nil }

// Body is the body as it is stored.
func (u UsageBody) Body() []byte {
	b := strictjson.AppendString(append(make([]byte, 0, len(u.Key)+u.Size()), `{"key":`...), strings.ToValidUTF8(u.Key, "\uFFFD"))
	return append(u.Append(append(b, ',')), '}')
}

// UnmarshalJSON reads a body, and refuses one that no uses make.
func (u *UsageBody) UnmarshalJSON(data []byte) error {
	var text struct {
		Key string `json:"key"`
		meter.Text
	}
	err := json.Unmarshal(data, &text)
	if err != nil {
		return err
	}
	u.Key = text.Key
	u.Count, err = text.Count()
	return err
}
