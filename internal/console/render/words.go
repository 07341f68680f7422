package render

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"interlock"
)

// MethodWords says by what an answer or an order was signed.
func MethodWords(method string) string {
	switch method {
	case "", interlock.MethodSSH:
		return "an SSH key"
	case interlock.MethodPasskey:
		return "a passkey"
	case interlock.MethodSession:
		return "a session here"
	case interlock.MethodCode:
		return "a code"
	case interlock.MethodRequester:
		return "the side that asked"
	}
	return method
}

// Told is what a challenge is about, taken apart for reading; who signs is shown all of it.
func (h Held) Told() Proposed { return TakeApart(h.Display) }

// The bounds of one page that goes back through the log.
const (
	PageRows  = 50
	PageReads = 4000 // entries one page looks at
	MaxFilter = 200  // bytes of one field of a filter
)

// MaxSummary is how much of an action a list shows, in characters.
const MaxSummary = 160

// Instant reads a time as browsers send it, in UTC.
func Instant(name, text string, into *time.Time) error {
	if text == "" {
		return nil
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339, "2006-01-02"} {
		if at, err := time.Parse(layout, text); err == nil {
			if name == "until" && layout == "2006-01-02" {
				at = at.AddDate(0, 0, 1) // that day is meant whole
			}
			*into = at
			return nil
		}
	}
	return interlock.Errorf(interlock.CodeInvalid, name, "%.40q is no time such as 2026-03-01T10:00", text)
}

// Quoted is a member as it is written in canonical JSON, or a string alone.
func Quoted(name, value string) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // a string always encodes
	text := bytes.TrimSpace(b.Bytes())
	if name == "" {
		return text
	}
	return append([]byte(`"`+name+`":`), text...)
}

// A Held is a challenge that is in force, as a list shows it.
type Held struct {
	interlock.Challenge
	Live    bool // a code is in force
	Failed  int  // wrong answers of this agent within the window
	Until   time.Time
	Refused string // why this operator's orders about it would not count
}

// writePatience is how long a reader may take nothing of what it is sent. Live pages and exports last longer than a page may,
// so each write has its own time: a reader that stalls must not keep a stream, the one long reading, or the log's old pages.
const writePatience = 30 * time.Second

// A PatientWriter gives every write its time.
type PatientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func Patient(w http.ResponseWriter) *PatientWriter {
	return &PatientWriter{ResponseWriter: w, control: http.NewResponseController(w)}
}

// Write writes, for as long as the reader's patience lasts.
func (p *PatientWriter) Write(text []byte) (int, error) {
	p.Extend()
	return p.ResponseWriter.Write(text)
}

func (p *PatientWriter) Extend() {
	_ = p.control.SetWriteDeadline(time.Now().Add(writePatience)) // where none can be set, the server's own holds
}

// Flush sends what was written.
func (p *PatientWriter) Flush() error { return p.control.Flush() }

// Clock writes a time for people and machines alike.
func Clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
