package hook

import (
	"context"
	"encoding/json"
	"strings"

	"interlock"
	"interlock/internal/strictjson"
)

// A Screener says what of a result an agent may be shown, where the settings have results classified. Some backends are one.
type Screener interface {
	// ScreenResult returns a result as it may be shown and what is said of what is missing: nothing, where it may be shown as it is.
	// What was taken out is recorded when it returns.
	ScreenResult(ctx context.Context, p interlock.Proposal, result string) (shown, message string, err error)
}

// notRecorded takes the place of a result nothing of which may go on.
const notRecorded = "What had to be left out of this result could not be recorded, so all of it was."

// A screened is what an agent may be shown of a result. Its zero value is: the result.
type screened struct {
	shown   string // as text or JSON, as the result is; empty: nothing of it
	message string // what is said of what is missing; empty: nothing is
}

// screen has what a call returned looked at.
func (c *Call) screen(ctx context.Context, backend Backend) {
	by, looks := backend.(Screener)
	if !looks || c.Phase != After || !tells(c) {
		return
	}
	shown, message, err := by.ScreenResult(ctx, c.Proposals[0], c.Result)
	if err != nil {
		shown, message = "", notRecorded
	}
	c.screened = screened{shown, message}
}

// readScreened takes the server's word on what a call returned.
func (c *Call) readScreened(reply []byte) error {
	var body struct {
		Shown   string `json:"shown"`
		Message string `json:"message"`
	}
	if err := strictjson.DecodeLenient(reply, &body); err != nil {
		return err
	}
	c.screened = screened{body.Shown, body.Message}
	return nil
}

// replacing writes an answer that has other words shown in place of a result, for harnesses that take one; where there is none, and
// for those that don't, it is said what should not have been shown.
func (c *Call) replacing(d dialect) Output {
	if d.replace != nil {
		if out, can := d.replace(*c); can {
			return out
		}
	}
	return Output{Stderr: []byte("[hook.texts] " + c.screened.message + " This harness shows its agent the result as it was.\n"), Exit: 1}
}

// failedAfter tells of a failure after the fact. Where the harness shows people only what comes with a status of failure, and takes another
// result only without one, the result goes first.
func (c *Call) failedAfter(text string) Output {
	out := Output{Exit: 1}
	if c.Phase == After && c.screened.message != "" {
		if d, known := dialectOf(c.Agent); known {
			out = c.replacing(d)
		}
	}
	out.Stderr = append(out.Stderr, text+"\n"...)
	return out
}

// json is what is shown in the form that the result had.
func (s screened) json() json.RawMessage {
	if s.shown != "" && json.Valid([]byte(s.shown)) {
		return json.RawMessage(s.shown)
	}
	text := s.shown
	if text == "" {
		text = s.message
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage(`""`) // unreachable: texts have a JSON form
	}
	return quoted
}

// text is what is shown as one text that says so.
func (s screened) text() string {
	text := s.shown
	if strings.HasPrefix(text, `"`) {
		if json.Unmarshal([]byte(s.shown), &text) != nil {
			text = s.shown
		}
	}
	if text == "" || text == s.message {
		return s.message
	}
	return s.message + "\n" + text
}
