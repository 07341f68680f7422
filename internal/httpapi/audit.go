package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// query reads a query string in which every parameter is known and is there once.
func query(raw string, known ...string) (map[string]string, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "", "the query string can't be read")
	}
	given := map[string]string{}
	for _, name := range known {
		switch list := values[name]; len(list) {
		case 0:
		case 1:
			given[name] = list[0]
		default:
			return nil, interlock.Errorf(interlock.CodeInvalid, name, "stands more than once")
		}
		delete(values, name)
	}
	if len(values) > 0 {
		return nil, interlock.Errorf(interlock.CodeInvalid, "", "a query parameter is not known; this path takes %q", known)
	}
	return given, nil
}

// whole reads a non-negative number as it is written once: no sign, no leading zero.
func whole(given map[string]string, name string, standard int64) (int64, error) {
	text, ok := given[name]
	if !ok {
		return standard, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return 0, interlock.Errorf(interlock.CodeInvalid, name, "must be a whole number, 0 or more")
	}
	return n, nil
}

// scanned bounds how many entries one request looks at, no matter whose they are.
const scanned = 10_000

// page is the answer to GET /v1/events. Next is where to go on; it equals Size when there is no more for now.
type page struct {
	Events []eventOf `json:"events"`
	Next   int64     `json:"next"`
	Size   int64     `json:"size"`
}

type eventOf struct {
	Index int64           `json:"index"`
	Event json.RawMessage `json:"event"` // the canonical bytes of the leaf, untouched; null where they are archived
}

// events answers GET /v1/events. A caller on the local socket can read the store itself and sees all events; an agent
// sees those it is the actor of, or none.
func (x *exchange) events() {
	if x.token && x.server.config.LogForPeople {
		x.fail(interlock.Errorf(interlock.CodeUnauthorized, "", "under this profile the log is for people: agents read nothing of it"))
		return
	}
	given, err := query(x.r.URL.RawQuery, "from", "limit", "type")
	if err != nil {
		x.fail(err)
		return
	}
	from, err := whole(given, "from", 0)
	if err != nil {
		x.fail(err)
		return
	}
	most := int64(x.server.config.Limits.Page)
	limit, err := whole(given, "limit", min(100, most))
	if err == nil && (limit < 1 || limit > most) {
		err = interlock.Errorf(interlock.CodeInvalid, "limit", "must be 1 to %d", most)
	}
	if err != nil {
		x.fail(err)
		return
	}
	found, err := x.collect(from, int(limit), interlock.EventType(given["type"]))
	if err != nil {
		x.fail(err)
		return
	}
	data, err := appendPage(nil, found)
	if err != nil {
		x.fail(err)
		return
	}
	x.answer(http.StatusOK, typeJSON, data)
}

// collect reads on from an index until it has limit events the caller may see.
func (x *exchange) collect(from int64, limit int, kind interlock.EventType) (page, error) {
	ctx, log := x.r.Context(), x.server.config.Log
	head, err := log.Head(ctx)
	if err != nil {
		return page{}, fmt.Errorf("reading the head: %w", err)
	}
	found := page{Events: []eventOf{}, Next: min(from, head.Size), Size: head.Size}
	for looked := 0; looked < scanned && len(found.Events) < limit && found.Next < head.Size; {
		entries, err := log.Entries(ctx, "", ledger.From(found.Next, min(limit, int(min(head.Size-found.Next, 1000)))))
		if err != nil {
			return page{}, fmt.Errorf("reading entries: %w", err)
		}
		if len(entries) == 0 {
			break
		}
		for _, entry := range entries {
			looked++
			found.Next = entry.Index + 1
			if kind != "" && entry.Type != kind || !x.mayRead(entry) {
				continue
			}
			if auditlog.Released(&entry) {
				entry.Body = []byte("null")
			}
			found.Events = append(found.Events, eventOf{Index: entry.Index, Event: entry.Body})
			if len(found.Events) == limit {
				break
			}
		}
	}
	return found, nil
}

// mayRead reports whether the caller may see an entry. An entry that can't be read is nobody's.
func (x *exchange) mayRead(entry interlock.Entry) bool {
	if !x.token {
		return true // the local door without a token: the owner of the store
	}
	if entry.Type == interlock.EventAccess {
		return false // its looks are for others to see, or each would find the last one
	}
	event, err := auditlog.ParseEvent(entry.Body)
	return err == nil && event.Role == "agent" && event.Actor == x.agent.ID
}

// appendPage writes the page around the events' own bytes, which must reach the reader unchanged: they are what is hashed.
func appendPage(b []byte, p page) ([]byte, error) {
	b = append(b, `{"events":[`...)
	for i, event := range p.Events {
		if i > 0 {
			b = append(b, ',')
		}
		if !json.Valid(event.Event) {
			return nil, fmt.Errorf("entry %d is not JSON", event.Index)
		}
		b = strconv.AppendInt(append(b, `{"index":`...), event.Index, 10)
		b = append(append(append(b, `,"event":`...), event.Event...), '}')
	}
	b = strconv.AppendInt(append(b, `],"next":`...), p.Next, 10)
	b = strconv.AppendInt(append(b, `,"size":`...), p.Size, 10)
	return append(b, "}\n"...), nil
}

// checkpoint answers GET /v1/checkpoint with the newest signed head, a C2SP checkpoint.
func (x *exchange) checkpoint() {
	if _, err := query(x.r.URL.RawQuery); err != nil {
		x.fail(err)
		return
	}
	head, err := x.server.config.Log.Head(x.r.Context())
	if err != nil {
		x.fail(fmt.Errorf("reading the head: %w", err))
		return
	}
	if len(head.Checkpoint) == 0 {
		x.fail(interlock.Errorf(interlock.CodeNotFound, "", "the log is empty and has no checkpoint yet"))
		return
	}
	x.answer(http.StatusOK, typeText, head.Checkpoint)
}

// inclusion is the answer to GET /v1/proof: what RFC 6962 calls an audit path, from the leaf to the root of a tree of Size.
type inclusion struct {
	Event      string   `json:"event_id"`
	Index      int64    `json:"index"`
	Size       int64    `json:"size"`
	Leaf       string   `json:"leaf"` // RFC 6962 leaf hash of the event's bytes
	Proof      []string `json:"proof"`
	Checkpoint string   `json:"checkpoint,omitempty"` // the signed head, where Size is the log's own
}

// proof answers GET /v1/proof?index=N or ?event_id=ID, and optionally &size=N for an older tree.
func (x *exchange) proof() {
	found, err := x.prove()
	if err != nil {
		x.fail(err)
		return
	}
	data, err := strictjson.Marshal(found)
	if err != nil {
		x.fail(fmt.Errorf("encoding a proof: %w", err))
		return
	}
	x.answer(http.StatusOK, typeJSON, append(data, '\n'))
}

func (x *exchange) prove() (inclusion, error) {
	ctx, log := x.r.Context(), x.server.config.Log
	given, err := query(x.r.URL.RawQuery, "index", "event_id", "size")
	if err != nil {
		return inclusion{}, err
	}
	head, err := log.Head(ctx)
	if err != nil {
		return inclusion{}, fmt.Errorf("reading the head: %w", err)
	}
	size, err := whole(given, "size", head.Size)
	if err != nil {
		return inclusion{}, err
	}
	if size > head.Size {
		return inclusion{}, interlock.Errorf(interlock.CodeInvalid, "size", "the log holds only %d entries", head.Size)
	}
	entry, err := x.entry(given)
	if err != nil {
		return inclusion{}, err
	}
	if entry.Index >= size {
		return inclusion{}, interlock.Errorf(interlock.CodeInvalid, "size", "a tree of %d does not hold entry %d",
			size, entry.Index)
	}
	hashes, err := auditlog.ProveInclusion(ctx, log, size, entry.Index)
	if err != nil {
		return inclusion{}, err
	}
	found := inclusion{Event: entry.ID, Index: entry.Index, Size: size, Leaf: auditlog.Leaf(&entry), Proof: []string{}}
	for _, hash := range hashes {
		found.Proof = append(found.Proof, base64.StdEncoding.EncodeToString(hash[:]))
	}
	if size == head.Size {
		found.Checkpoint = string(head.Checkpoint)
	}
	return found, nil
}

// entry finds the entry that is asked about. One of somebody else's is answered like one that is not there: an agent learns of its
// own events only, as it does from events.
func (x *exchange) entry(given map[string]string) (interlock.Entry, error) {
	entry, err := x.anyEntry(given)
	if err == nil && !x.mayRead(entry) {
		return interlock.Entry{}, noEntry()
	}
	return entry, err
}

func noEntry() error {
	return interlock.Errorf(interlock.CodeNotFound, "", "the log has no such entry")
}

func (x *exchange) anyEntry(given map[string]string) (interlock.Entry, error) {
	ctx, log := x.r.Context(), x.server.config.Log
	id, byID := given["event_id"]
	if _, byIndex := given["index"]; byID == byIndex {
		return interlock.Entry{}, interlock.Errorf(interlock.CodeInvalid, "index", "give either index or event_id")
	}
	if byID {
		entry, found, err := log.Entry(ctx, id)
		if err != nil {
			return interlock.Entry{}, fmt.Errorf("finding an entry: %w", err)
		}
		if !found {
			return interlock.Entry{}, noEntry()
		}
		return entry, nil
	}
	index, err := whole(given, "index", 0)
	if err != nil {
		return interlock.Entry{}, err
	}
	entry, found, err := auditlog.EntryAt(ctx, log, index)
	if err != nil {
		return interlock.Entry{}, fmt.Errorf("finding an entry: %w", err)
	}
	if !found {
		return interlock.Entry{}, noEntry()
	}
	return entry, nil
}
