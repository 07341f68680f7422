package hook

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"interlock"
	"interlock/internal/strictjson"
)

// An object is one JSON object with its members unread. Members are taken by exact name; a name that differs from one
// that is asked for only in case is refused, because the harness may read it as the other.
type object map[string]json.RawMessage

// limits admit what a harness sends. Depth stays at the default: an analyser would not go deeper either.
func limits() strictjson.Limits {
	return strictjson.Limits{Bytes: MaxPayload, String: MaxPayload, Array: 1 << 20}
}

// readPayload reads the whole payload. One leading byte order mark is passed over: Windows shells put it there.
func readPayload(stdin []byte) (object, error) {
	if len(stdin) > MaxPayload {
		return nil, interlock.Errorf(interlock.CodeLimited, "", "the hook payload is larger than %d bytes", MaxPayload)
	}
	stdin = bytes.TrimPrefix(stdin, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(stdin)) == 0 {
		return nil, interlock.Errorf(interlock.CodeInvalid, "", "the hook payload is empty")
	}
	if !utf8.Valid(stdin) {
		return nil, interlock.Errorf(interlock.CodeInvalid, "", "the hook payload is not valid UTF-8")
	}
	payload, err := readObject(stdin)
	if err != nil {
		return nil, unreadable(err)
	}
	return payload, nil
}

func readObject(data []byte) (object, error) {
	var o object
	if err := strictjson.DecodeLimited(data, &o, limits()); err != nil {
		return nil, err
	}
	if o == nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "", "must be an object")
	}
	return o, nil
}

// unreadable says of an error that it is about the payload as a whole.
func unreadable(err error) error {
	e, ok := err.(*interlock.Error)
	if !ok {
		return interlock.Errorf(interlock.CodeInvalid, "", "the hook payload can't be read")
	}
	return &interlock.Error{Code: e.Code, Message: "the hook payload can't be read: " + e.Error()}
}

// only refuses members whose names differ from the given ones only in case.
func (o object) only(names ...string) error {
	var foreign []string
	for have := range o {
		for _, name := range names {
			if have != name && len(have) == len(name) && strings.EqualFold(have, name) {
				foreign = append(foreign, have)
			}
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	sort.Strings(foreign)
	return interlock.Errorf(interlock.CodeInvalid, "/"+printable(foreign[0]), "is spelled in another case than the harness uses")
}

// has reports whether a member is there and is not null.
func (o object) has(name string) bool {
	raw, ok := o[name]
	return ok && string(raw) != "null"
}

// text returns a string member; an absent or null one is empty.
func (o object) text(name string) (string, error) {
	if !o.has(name) {
		return "", nil
	}
	var s string
	if err := strictjson.DecodeLimited(o[name], &s, limits()); err != nil {
		return "", interlock.Errorf(interlock.CodeInvalid, "/"+printable(name), "must be a string")
	}
	return s, nil
}

// texts reads several string members at once.
func (o object) texts(into map[string]*string) error {
	names := slices.Sorted(maps.Keys(into))
	if err := o.only(names...); err != nil {
		return err
	}
	for _, name := range names {
		s, err := o.text(name)
		if err != nil {
			return err
		}
		*into[name] = s
	}
	return nil
}

// sub returns an object member; an absent or null one is nil.
func (o object) sub(name string) (object, error) {
	if !o.has(name) {
		return nil, nil
	}
	inner, err := readObject(o[name])
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "/"+printable(name), "must be an object")
	}
	return inner, nil
}

// arguments returns a member that is an object, or a string holding one as JSON text, as some harnesses send it. Absent
// arguments are an empty object.
func (o object) arguments(name string) (object, error) {
	if !o.has(name) {
		return object{}, nil
	}
	raw := []byte(o[name])
	if raw[0] == '"' {
		text, err := o.text(name)
		if err != nil {
			return nil, err
		}
		raw = []byte(text)
		if len(bytes.TrimSpace(raw)) == 0 {
			return object{}, nil
		}
	}
	inner, err := readObject(raw)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "/"+printable(name), "must be an object: %s", plain(err))
	}
	return inner, nil
}

// use returns the tool use whose arguments a member holds. Copilot hands the patches of apply_patch over as bare text, and
// to hooks in Claude Code's form names them Edit.
func (o object) use(tool, member, dir string) (use, error) {
	if text, err := o.text(member); err == nil && isPatch(tool, text) {
		return use{tool: "apply_patch", input: object{"input": o[member]}, dir: dir}, nil
	}
	input, err := o.arguments(member)
	return use{tool: tool, input: input, dir: dir}, err
}

// first returns the first of the named string members that is not empty.
func (o object) first(names ...string) (string, error) {
	for _, name := range names {
		s, err := o.text(name)
		if err != nil || s != "" {
			return s, err
		}
	}
	return "", nil
}

// firstOf returns the first element of an array of strings, or nothing.
func (o object) firstOf(name string) string {
	var list []string
	if !o.has(name) || strictjson.DecodeLimited(o[name], &list, limits()) != nil || len(list) == 0 {
		return ""
	}
	return list[0]
}

// truth reports whether a member is exactly true.
func (o object) truth(name string) bool { return string(o[name]) == "true" }

// falsity reports whether a member is exactly false.
func (o object) falsity(name string) bool { return string(o[name]) == "false" }

// milliseconds reads a duration in milliseconds; what is no plausible one is none.
func (o object) milliseconds(name string) time.Duration {
	var ms float64
	if !o.has(name) || strictjson.DecodeLimited(o[name], &ms, limits()) != nil || ms < 0 || ms > 1e12 {
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond))
}

func plain(err error) string {
	if e, ok := err.(*interlock.Error); ok {
		return e.Message
	}
	return "can't be read"
}

// outcomeOf reads off a tool's response whether the tool failed, as far as harnesses say so in ways that are known.
// Anything else counts as success: the tool ran.
func outcomeOf(response json.RawMessage) interlock.OutcomeStatus {
	o, err := readObject(response)
	if err != nil {
		return interlock.OutcomeSuccess
	}
	for _, code := range []string{"exit_code", "exitCode"} {
		if o.has(code) && string(o[code]) != "0" {
			return interlock.OutcomeFailure
		}
	}
	kind, _ := o.first("resultType", "result_type")
	switch {
	case kind == "denied" || kind == "rejected":
		return interlock.OutcomeSkipped
	case kind == "failure" || kind == "error", o.truth("is_error"), o.truth("isError"), o.truth("interrupted"),
		string(o["success"]) == "false", o.has("error") && string(o["error"]) != `""` && string(o["error"]) != "false":
		return interlock.OutcomeFailure
	}
	if inner, err := o.sub("metadata"); err == nil && inner.has("exit_code") && string(inner["exit_code"]) != "0" {
		return interlock.OutcomeFailure
	}
	return interlock.OutcomeSuccess
}
