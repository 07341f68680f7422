package console

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/console/render"
	"interlock/internal/ledger"
)

// A search says which events the audit page shows. Empty fields say nothing.
type search struct {
	Event string // id or index of one event
	Type  string
	Actor string // part of its name
	Run   string // of a decision, or the seed of any event's run
	Text  string // anywhere in the event
	dated
	Before int64
}

func searchOf(query url.Values) (search, error) {
	s := search{Event: strings.TrimSpace(query.Get("event")), Type: query.Get("type"), Actor: query.Get("actor"),
		Run: query.Get("run"), Text: query.Get("q"), Before: -1}
	for _, field := range [][2]string{{"event", s.Event}, {"actor", s.Actor}, {"run", s.Run}, {"q", s.Text}} {
		if len(field[1]) > render.MaxFilter {
			return s, interlock.Errorf(interlock.CodeInvalid, field[0], "is longer than %d bytes", render.MaxFilter)
		}
	}
	if s.Type != "" && !slices.Contains(interlock.EventTypes(), interlock.EventType(s.Type)) {
		return s, interlock.Errorf(interlock.CodeInvalid, "type", "%.40q is not a type of event", s.Type)
	}
	var err error
	if s.dated, err = datedOf(query); err != nil {
		return s, err
	}
	return s, indexed(query, "before", &s.Before)
}

func (s search) query() url.Values {
	values := url.Values{}
	for _, field := range [][2]string{{"type", s.Type}, {"actor", s.Actor}, {"run", s.Run}, {"q", s.Text}, {"since", s.Since},
		{"until", s.Until}} {
		if field[1] != "" {
			values.Set(field[0], field[1])
		}
	}
	return values
}

// holds reports whether an entry is looked for. over says that everything before it is too old.
func (s search) holds(e interlock.Entry) (found, over bool) {
	if s.Type != "" && string(e.Type) != s.Type && s.from.IsZero() {
		return false, false
	}
	raw := bytes.Trim(render.Quoted("", s.Text), `"`) // as the text is spelled in an event
	if s.Text != "" && s.from.IsZero() && plain(raw) && !containsFold(e.Body, string(raw)) {
		return false, false
	}
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		return s.Type == "" || string(e.Type) == s.Type, false // damaged entries are always worth a look
	}
	if !s.from.IsZero() && event.Recorded.Before(s.from) {
		return false, true
	}
	within := func(text, part string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(part)) }
	switch {
	case s.Type != "" && string(event.Type) != s.Type, !s.to.IsZero() && event.Recorded.After(s.to), s.Actor != "" &&
		!within(event.Actor, s.Actor):
		return false, false
	case s.Run != "" && event.Seed != s.Run && !bytes.Contains(e.Body, render.Quoted("run", s.Run)):
		return false, false
	case s.Text != "" && !within(string(e.Body), s.Text) && !bytes.Contains(e.Body, raw):
		return false, false
	}
	return true, false
}

// plain reports whether a text is printable ASCII.
func plain(text []byte) bool {
	return !bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// auditPage searches the log from its end.
func (c *Console) auditPage(w http.ResponseWriter, r *http.Request) {
	s, err := searchOf(r.URL.Query())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	if s.Event != "" {
		http.Redirect(w, r, "/events/"+url.PathEscape(s.Event), http.StatusSeeOther)
		return
	}
	head, err := c.config.Log.Head(r.Context())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	page := struct {
		Search   search
		Types    []interlock.EventType
		Lines    []line
		Older    string
		Searched bool
		Size     int64
	}{Search: s, Types: interlock.EventTypes(), Size: head.Size}
	ended := false
	next, err := c.back(r.Context(), s.Before, func(e interlock.Entry) bool {
		found, over := s.holds(e)
		if found {
			page.Lines = append(page.Lines, c.lineFor(r, e))
		}
		ended = over
		return !over && len(page.Lines) < render.PageRows
	})
	if err != nil {
		c.fail(w, r, err)
		return
	}
	if next > 0 && !ended {
		older := s.query()
		older.Set("before", strconv.FormatInt(next, 10))
		page.Older, page.Searched = address("/audit", older), len(page.Lines) < render.PageRows
	}
	c.render(w, r, http.StatusOK, "audit.html", "Audit log", page)
}

// eventPage shows one event byte for byte, and its receipt.
func (c *Console) eventPage(w http.ResponseWriter, r *http.Request) {
	e, err := c.entry(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	page := struct {
		Line     line
		Body     string // indented, as far as it is JSON
		Event    auditlog.Event
		Previous int64
		Next     int64
		Proof    proof
	}{Line: lineOf(e), Body: string(e.Body), Previous: e.Index - 1, Next: e.Index + 1}
	var indented bytes.Buffer
	if json.Indent(&indented, e.Body, "", "  ") == nil {
		page.Body = indented.String()
	}
	page.Event, _ = auditlog.ParseEvent(e.Body) // the line says what is wrong with one that can't be read
	if page.Proof, _, err = c.prove(r, e); err != nil {
		c.fail(w, r, err)
		return
	}
	if page.Next >= page.Proof.Size && page.Proof.Size > 0 {
		page.Next = -1
	}
	c.render(w, r, http.StatusOK, "event.html", "Event "+short(e.ID), page)
}

// exportLog sends the whole log as it is now, a line each.
func (c *Console) exportLog(w http.ResponseWriter, r *http.Request) {
	format := r.URL.Query().Get("format")
	translate, known := map[string]func(interlock.Entry, string) (json.RawMessage, error){
		"jsonl": nil, "cloudevents": auditlog.CloudEvent, "ocsf": auditlog.OCSF}[format]
	if !known {
		c.fail(w, r, interlock.Errorf(interlock.CodeInvalid, "format", "is jsonl, cloudevents or ocsf"))
		return
	}
	if !c.long.TryLock() {
		c.fail(w, r, errBusy)
		return
	}
	defer c.long.Unlock()
	head, err := c.config.Log.Head(r.Context())
	if err == nil {
		err = c.whole(r)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	out := render.Patient(w) // a whole log may take longer than a page
	out.Extend()
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Content-Disposition", `attachment; filename="interlock-`+format+`.jsonl"`)
	source := auditlog.UpTo(c.config.Log, head)
	if translate == nil {
		err = auditlog.WriteLines(r.Context(), out, source)
	} else {
		err = translated(r, out, source, c.config.Facts.Key.Origin(), translate)
	}
	if err != nil {
		c.config.Logger.ErrorContext(r.Context(), "an export ended early", "error", err.Error())
		panic(http.ErrAbortHandler) // so that the reader sees that the file is not whole
	}
}

// whole refuses to write out a log that is archived in part: it would prove nothing without it.
func (c *Console) whole(r *http.Request) error {
	archived, err := c.config.Log.Entries(r.Context(), interlock.EventArchive, ledger.Before(-1, 1))
	if err == nil && len(archived) > 0 {
		err = interlock.Errorf(interlock.CodeNotFound, "", "a part of the log is archived; write out all of it with interlock audit "+
			"export --archive DIR")
	}
	return err
}

// errBusy says that one of the long readings goes on.
var errBusy = interlock.Errorf(interlock.CodeLimited, "", "the whole log is being read already; wait until that is done")

func translated(r *http.Request, w io.Writer, source auditlog.Source, origin string,
	translate func(interlock.Entry, string) (json.RawMessage, error)) error {
	out := bufio.NewWriter(w)
	err := source.Walk(r.Context(), func(e interlock.Entry) error {
		text, err := translate(e, origin)
		if err != nil {
			return err
		}
		_, err = out.Write(append(text, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// verifyLog reads the whole log and says whether it is sound.
func (c *Console) verifyLog(w http.ResponseWriter, r *http.Request) {
	if !c.long.TryLock() {
		c.fail(w, r, errBusy)
		return
	}
	defer c.long.Unlock()
	began := c.config.Now()
	report, err := auditlog.Verify(r.Context(), c.config.Log, c.config.Facts.Key, auditlog.VerifyOptions{})
	if err != nil {
		c.fail(w, r, err)
		return
	}
	render.Patient(w).Extend() // reading took its own time
	c.render(w, r, http.StatusOK, "verify.html", "Verification", struct {
		auditlog.Report
		Key  string
		Took time.Duration
	}{report, c.config.Facts.Key.ID(), c.config.Now().Sub(began).Round(time.Millisecond)})
}

// A proof is what a page shows, and its script recomputes, of an event's place in the signed log.
type proof struct {
	Index  int64
	Size   int64
	Leaf   string   // RFC 6962 leaf hash of the event, hexadecimal with "sha256:"
	Path   []string // the audit path, base64
	Root   string   // of the signed checkpoint, base64
	Signed string   // the checkpoint
	Key    string   // the log's public key
	Event  string   // the event's bytes, base64; empty where the person who asks may not read them
	Fault  string   // why the proof does not hold, as this server found; empty if it holds
}

// prove makes the proof of an entry under the newest checkpoint and checks it as an auditor would.
func (c *Console) prove(r *http.Request, e interlock.Entry) (proof, auditlog.Proof, error) {
	head, err := c.config.Log.Head(r.Context())
	if err != nil {
		return proof{}, auditlog.Proof{}, err
	}
	made, err := auditlog.Prove(r.Context(), c.config.Log, head.Checkpoint, e.Index)
	if err != nil {
		return proof{}, auditlog.Proof{}, err
	}
	p := proof{Index: e.Index, Leaf: auditlog.RecordHash(e.Body), Signed: string(made.Signed), Key: c.config.Facts.Key.String()}
	for i := range made.Hashes {
		p.Path = append(p.Path, base64.StdEncoding.EncodeToString(made.Hashes[i][:]))
	}
	checkpoint, err := made.Check(c.config.Facts.Key, e.Body)
	if err != nil {
		p.Fault = err.Error()
	}
	p.Size, p.Root = checkpoint.Size, base64.StdEncoding.EncodeToString(checkpoint.Root[:])
	if c.may(r, reading) {
		p.Event = base64.StdEncoding.EncodeToString(e.Body)
	}
	return p, made, nil
}

// receipt sends the proof as a file that `interlock audit check-proof` and other tlog tools read.
func (c *Console) receipt(w http.ResponseWriter, r *http.Request) {
	e, err := c.entry(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	_, made, err := c.prove(r, e)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="receipt-`+short(e.ID)+`.txt"`)
	_, _ = w.Write(made.Text()) // a reader that went away has nothing to miss
}
