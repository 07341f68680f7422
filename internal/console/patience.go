package console

import (
	"net/http"
	"time"
)

// writePatience is how long a reader may take nothing of what it is sent. Live pages and exports last longer than a page may,
// so each write has its own time: a reader that stalls must not keep a stream, the one long reading, or the log's old pages.
const writePatience = 30 * time.Second

// A patientWriter gives every write its time.
type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func patient(w http.ResponseWriter) *patientWriter {
	return &patientWriter{ResponseWriter: w, control: http.NewResponseController(w)}
}

// Write writes, for as long as the reader's patience lasts.
func (p *patientWriter) Write(text []byte) (int, error) {
	p.extend()
	return p.ResponseWriter.Write(text)
}

func (p *patientWriter) extend() {
	_ = p.control.SetWriteDeadline(time.Now().Add(writePatience)) // where none can be set, the server's own holds
}

// Flush sends what was written.
func (p *patientWriter) Flush() error { return p.control.Flush() }
