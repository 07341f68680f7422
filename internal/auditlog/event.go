package auditlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// Schema is the value of every event's "schema" member in this version of the format.
const Schema = "interlock.event/v1"

// SignatureAlgorithm is the value of "sig_alg" in events that carry their own signature.
const SignatureAlgorithm = "ed25519"

// Bounds of an event. An entry stays below the 65,535 bytes a C2SP tile can hold.
const (
	MaxEntry   = 60 << 10 // bytes of a whole event
	MaxPayload = 52 << 10 // bytes of its payload
	maxName    = 256      // bytes of an identity, seed or trace id
	maxStamps  = 16       // snapshot ids per event
)

// recordedLayout is fixed-width so that events of one log sort as text; microseconds are what clocks here agree on.
const recordedLayout = "2006-01-02T15:04:05.000000Z"

// seededBase is the origin of the logical clock: ts_seeded is this plus sequence_index seconds. It orders the events of a
// run and means nothing on a wall.
var seededBase = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// seededLayout is whole seconds, because the logical clock ticks once per event.
const seededLayout = "2006-01-02T15:04:05Z"

// An Event is one record of the log in parsed form. Its bytes are canonical JSON (RFC 8785) of exactly these members.
type Event struct {
	Actor     string // actor_id
	Content   string // content_hash: "sha256:" and the hex SHA-256 of Payload
	ID        string // event_id: hex sha256(job_seed ":" sequence_index ":" event_type)
	Type      interlock.EventType
	Seed      string // job_seed
	Key       string // key_id, only in signed events
	Payload   []byte // canonical JSON object
	Previous  string // prev_hash: record hash of the entry before, of whatever run
	Role      string
	Schema    string
	Sequence  int64             // sequence_index, from 1, contiguous per job_seed
	Algorithm string            // sig_alg, only in signed events
	Signature string            // base64 Ed25519 over signedText, only in signed events
	Snapshots map[string]string // snapshot_ids
	Trace     string            // trace_id
	Recorded  time.Time         // ts_recorded: wall clock, captured once
	Seeded    time.Time         // ts_seeded: logical clock
}

// IsEventID reports whether a text has the form of an event id.
func IsEventID(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// EventID returns the MACE event id: lower-case hex of sha256(job_seed ":" sequence_index ":" event_type).
func EventID(seed string, sequence int64, kind interlock.EventType) string {
	return ledger.EventID(seed, sequence, kind)
}

// seededAt returns the logical time of a run's n-th event.
func seededAt(sequence int64) time.Time { return seededBase.Add(time.Duration(sequence) * time.Second) }

// signed reports whether events of this type are written with a signature of their own: those by which people govern, and every safety
// event (MACE Governance: an unsigned governance event is rejected; MACE 1: a safety event is appended with a signature). All others are
// covered by the checkpoint's signature alone.
func signed(kind interlock.EventType) bool { return governs(kind) || signedLately(kind) }

// signedLately reports whether events of this type are safety events that versions before this one wrote without a signature of their
// own. A log that holds such is as sound as it was: the checkpoint covers them.
func signedLately(kind interlock.EventType) bool {
	return kind == interlock.EventBlock || kind == interlock.EventReviewRequest
}

// governs reports whether people govern by events of this type, or are told by them that something is wrong.
func governs(kind interlock.EventType) bool {
	switch kind {
	case interlock.EventApproval, interlock.EventApprovalRefused, interlock.EventAlert, interlock.EventIntegrity,
		interlock.EventIntegritySummary, interlock.EventRedaction, interlock.EventPersonal,
		interlock.EventConsent, interlock.EventConsentRevoked, interlock.EventPersonalKept,
		interlock.EventDataRequest, interlock.EventDataDelete, interlock.EventDeletedPersonal,
		interlock.EventIncident, interlock.EventHalt, interlock.EventHaltClear, interlock.EventKill, interlock.EventKillRelease,
		interlock.EventRollback, interlock.EventRollbackStep, interlock.EventRollbackEnd,
		interlock.EventMended, interlock.EventBudget, interlock.EventJudgedLate, interlock.EventPhase, interlock.EventRootCause, interlock.EventLost,
		interlock.EventSeconded, interlock.EventProbe, interlock.EventBreaker, interlock.EventBreakerReset,
		interlock.EventNodeDegraded, interlock.EventNodeOffline, interlock.EventNodeHealthy, interlock.EventRetry, interlock.EventAccountReview,
		interlock.EventIdentity, interlock.EventRuleset, interlock.EventMode, interlock.EventSuppression,
		interlock.EventBlocked, interlock.EventUnblocked, interlock.EventGrant, interlock.EventTrust, interlock.EventPin,
		interlock.EventCommitment, interlock.EventAccess, interlock.EventArchive, interlock.EventShadow, interlock.EventPromotion,
		interlock.EventGroundRules,
		interlock.EventRedteam, interlock.EventReport, interlock.EventTriage,
		interlock.EventRunPaused, interlock.EventRunChanged, interlock.EventInstalled, interlock.EventReplayRequest, interlock.EventReplayResult,
		interlock.EventActionRequest, interlock.EventVote, interlock.EventActionStatus, interlock.EventExecuted, interlock.EventOverride,
		interlock.EventSafetyOverride, interlock.EventReview, interlock.EventReviewOverdue, interlock.EventPause, interlock.EventResume,
		interlock.EventSemPut, interlock.EventSemDelete:
		return true
	default:
		return false
	}
}

// signedText is what an event's own signature covers: a prefix that no other signed object of Interlock starts with, and
// the event's canonical JSON without its "signature" member.
func signedText(e *Event) []byte {
	text := append(make([]byte, 0, 1024+len(e.Payload)), "interlock event v1\n"...)
	unsigned := *e
	unsigned.Signature = ""
	return unsigned.append(text)
}

// opening writes the event's canonical JSON to dst up to where its payload begins.
func (e *Event) opening(dst []byte) []byte {
	dst = strictjson.AppendString(append(dst, `{"actor_id":`...), e.Actor)
	dst = strictjson.AppendString(append(dst, `,"content_hash":`...), e.Content)
	dst = strictjson.AppendString(append(dst, `,"event_id":`...), e.ID)
	dst = strictjson.AppendString(append(dst, `,"event_type":`...), string(e.Type))
	dst = strictjson.AppendString(append(dst, `,"job_seed":`...), e.Seed)
	if e.Key != "" {
		dst = strictjson.AppendString(append(dst, `,"key_id":`...), e.Key)
	}
	return append(dst, `,"payload":`...)
}

// append writes the event's canonical JSON to dst. Members stand in RFC 8785 order; a test holds this encoder against the
// general one.
func (e *Event) append(dst []byte) []byte {
	dst = append(e.opening(dst), e.Payload...)
	dst = strictjson.AppendString(append(dst, `,"prev_hash":`...), e.Previous)
	dst = strictjson.AppendString(append(dst, `,"role":`...), e.Role)
	dst = strictjson.AppendString(append(dst, `,"schema":`...), e.Schema)
	dst = strconv.AppendInt(append(dst, `,"sequence_index":`...), e.Sequence, 10)
	if e.Algorithm != "" {
		dst = strictjson.AppendString(append(dst, `,"sig_alg":`...), e.Algorithm)
	}
	if e.Signature != "" {
		dst = strictjson.AppendString(append(dst, `,"signature":`...), e.Signature)
	}
	dst = appendStamps(append(dst, `,"snapshot_ids":`...), e.Snapshots)
	dst = strictjson.AppendString(append(dst, `,"trace_id":`...), e.Trace)
	dst = append(dst, `,"ts_recorded":"`...)
	dst = appendTime(dst, e.Recorded.UTC())
	dst = append(appendDigits(append(dst, '.'), e.Recorded.Nanosecond()/1000, 6), 'Z')
	dst = append(dst, `","ts_seeded":"`...)
	dst = append(appendTime(dst, e.Seeded.UTC()), 'Z')
	return append(dst, `"}`...)
}

// appendTime writes a UTC time up to its seconds as both layouts do, at a third of AppendFormat's price; years outside
// four digits, which a draft can't have, go to it.
func appendTime(dst []byte, at time.Time) []byte {
	year, month, day := at.Date()
	if year < 0 || year > 9999 {
		return at.AppendFormat(dst, "2006-01-02T15:04:05")
	}
	hour, minute, second := at.Clock()
	dst = append(appendDigits(dst, year, 4), '-')
	dst = append(appendDigits(dst, int(month), 2), '-')
	dst = append(appendDigits(dst, day, 2), 'T')
	dst = append(appendDigits(dst, hour, 2), ':')
	dst = append(appendDigits(dst, minute, 2), ':')
	return appendDigits(dst, second, 2)
}

// appendDigits writes n with so many digits.
func appendDigits(dst []byte, n, digits int) []byte {
	start := len(dst)
	dst = append(dst, "000000"[:digits]...)
	for at := start + digits - 1; at >= start; at-- {
		dst[at] = byte('0' + n%10)
		n /= 10
	}
	return dst
}

func appendStamps(dst []byte, stamps map[string]string) []byte {
	var room [maxStamps]string
	names := room[:0]
	for name := range stamps {
		names = append(names, name)
	}
	sort.Strings(names) // names are ASCII, so byte order is RFC 8785's UTF-16 order
	dst = append(dst, '{')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strictjson.AppendString(dst, name)
		dst = append(dst, ':')
		dst = strictjson.AppendString(dst, stamps[name])
	}
	return append(dst, '}')
}

// Sound reports whether the event's payload is the one that its content hash was made of.
func (e *Event) Sound() bool { return e.Content == contentHash(e.Payload) }

// contentHash returns the content_hash of a payload.
func contentHash(payload []byte) string { return hashText(sha256.Sum256(payload)) }

// hashText renders a hash the way every digest in an event is rendered.
func hashText(h [32]byte) string {
	var text [7 + 64]byte
	copy(text[:], "sha256:")
	hex.Encode(text[7:], h[:])
	return string(text[:])
}

// noPrevious is the prev_hash of a log's first entry.
const noPrevious = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

// ParseEvent reads an event's bytes. It accepts exactly what the encoder writes: same members, same order, canonical
// strings and numbers; it doesn't check hashes, ids or signatures, which is Verify's work.
func ParseEvent(body []byte) (Event, error) {
	var e Event
	var scratch [2048]byte
	_, err := parseEvent(&e, body, scratch[:0])
	return e, err
}

// parseEvent is ParseEvent into an event whose strings and map it uses again where they fit, with the buffer it re-encodes
// into, which it returns grown.
func parseEvent(e *Event, body, scratch []byte) ([]byte, error) {
	if len(body) > MaxEntry {
		return scratch, fmt.Errorf("it is %d bytes long, more than an event may be", len(body))
	}
	r := reader{rest: body}
	e.Actor = r.kept(`{"actor_id":`, e.Actor)
	e.Content = r.text(`,"content_hash":`)
	e.ID = r.text(`,"event_id":`)
	e.Type = interlock.EventType(r.kept(`,"event_type":`, string(e.Type)))
	e.Seed = r.kept(`,"job_seed":`, e.Seed)
	e.Key = r.optional(`,"key_id":`)
	e.Payload = r.object(`,"payload":`)
	e.Previous = r.text(`,"prev_hash":`)
	e.Role = r.kept(`,"role":`, e.Role)
	e.Schema = r.kept(`,"schema":`, e.Schema)
	e.Sequence = r.number(`,"sequence_index":`)
	e.Algorithm = r.optional(`,"sig_alg":`)
	e.Signature = r.optional(`,"signature":`)
	e.Snapshots = r.stamps(`,"snapshot_ids":`, e.Snapshots)
	e.Trace = r.text(`,"trace_id":`)
	e.Recorded = r.time(`,"ts_recorded":`, recordedLayout)
	e.Seeded = r.time(`,"ts_seeded":`, seededLayout)
	r.literal(`}`)
	if r.err == nil && len(r.rest) > 0 {
		r.err = errors.New("something follows the event")
	}
	if r.err != nil {
		return scratch, r.err
	}
	if e.Schema != Schema {
		return scratch, fmt.Errorf("its schema is %.40q, not %q", e.Schema, Schema)
	}
	// Equal bytes after re-encoding mean that there is one way to write this event, so a difference is always a change.
	scratch = e.append(scratch[:0])
	if !bytes.Equal(scratch, body) {
		return scratch, errors.New("it is not in canonical form")
	}
	return scratch, nil
}

// checkDraft says what keeps a draft from being sealed.
func checkDraft(d *ledger.Draft) error {
	for _, field := range [...]struct {
		name, value string
		required    bool
	}{
		{"type", string(d.Type), true}, {"seed", d.Seed, true}, {"actor", d.Actor, false},
		{"role", d.Role, false}, {"trace", d.Trace, false},
	} {
		switch {
		case field.required && field.value == "":
			return fmt.Errorf("auditlog: the draft has no %s", field.name)
		case len(field.value) > maxName:
			return fmt.Errorf("auditlog: the draft's %s is longer than %d bytes", field.name, maxName)
		case !utf8.ValidString(field.value):
			return fmt.Errorf("auditlog: the draft's %s is not UTF-8", field.name)
		}
	}
	for _, c := range d.Type {
		if (c < 'A' || c > 'Z') && c != '_' && !lowerCase(d.Type) {
			return fmt.Errorf("auditlog: %.40q is not an event type", d.Type)
		}
	}
	if year := d.Recorded.UTC().Year(); year < 1970 || year > 9999 {
		return errors.New("auditlog: the draft has no usable time")
	}
	if len(d.Snapshots) > maxStamps {
		return fmt.Errorf("auditlog: the draft names more than %d snapshots", maxStamps)
	}
	for name, id := range d.Snapshots { // any order: the first fault found is reported, and the draft is refused either way
		if !plain(name) || !plain(id) {
			return errors.New("auditlog: a snapshot id is not short printable ASCII")
		}
	}
	if len(d.Payload) > MaxPayload {
		return fmt.Errorf("auditlog: the payload is %d bytes long, more than %d", len(d.Payload), MaxPayload)
	}
	return nil
}

// lowerCase reports whether MACE writes an event's name in lower case.
func lowerCase(name interlock.EventType) bool {
	return slices.Contains([]interlock.EventType{interlock.EventAccess, interlock.EventExecuted, interlock.EventDeletedPersonal,
		interlock.EventSemPut, interlock.EventSemDelete}, name)
}

// plain reports whether s is 1 to maxName bytes of printable ASCII without anything JSON would escape.
func plain(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e || s[i] == '"' || s[i] == '\\' {
			return false
		}
	}
	return true
}

// encodeSignature renders a signature for the "signature" member.
func encodeSignature(sig []byte) string { return base64.StdEncoding.EncodeToString(sig) }
