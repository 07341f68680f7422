package sqlite

import (
	"encoding/json"
	"fmt"
	"maps"

	"interlock"
)

// A row is one row of the standing as a transaction wrote it. Exactly one of its names is set.
type row struct {
	agent, operator, setting, request, suppression string
	held, id                                       string // kind and id of a row of the table standing

	status string // of a request; one that is neither pending nor approved no longer stands
	value  string // of a setting
	body   []byte // of everything else, as stored; nil for a request whose status alone has changed, and a suppression that ended
}

// follow brings the standing this process remembers up to what its own transaction has written, so that who opens a request
// does not make the next decision read all others again. It applies only if the standing was that of the moment before; if
// not, or if a row can't be read, the next [Store.Standing] reads the file.
func (s *Store) follow(written []row, before, after stamp) {
	s.cache.Lock()
	defer s.cache.Unlock()
	if len(written) == 0 || s.revision != before.revision || s.standing.Version == 0 {
		return
	}
	next := s.standing
	next.Version = after.version
	next.Agents, next.Operators = maps.Clone(next.Agents), maps.Clone(next.Operators) // whoever has the old ones reads on
	next.Requests, next.Settings = maps.Clone(next.Requests), maps.Clone(next.Settings)
	next.Suppressions = maps.Clone(next.Suppressions)
	next.Challenges, next.Grants, next.Attempts = maps.Clone(next.Challenges), maps.Clone(next.Grants), maps.Clone(next.Attempts)
	next.Pins = maps.Clone(next.Pins)
	for _, r := range written {
		if err := r.apply(&next); err != nil {
			return
		}
	}
	s.standing, s.revision = next, after.revision
}

// apply changes a standing as reading it anew with the row in it would.
func (r row) apply(to *interlock.Standing) error {
	switch {
	case r.held != "":
		return r.applyHeld(to)
	case r.agent != "":
		return put(to.Agents, r.agent, r.body)
	case r.operator != "":
		return put(to.Operators, r.operator, r.body)
	case r.suppression != "" && r.body == nil:
		delete(to.Suppressions, r.suppression)
		return nil
	case r.suppression != "":
		return put(to.Suppressions, r.suppression, r.body)
	case r.request == "":
		to.Settings[r.setting] = r.value
		return nil
	}
	if status := interlock.RequestStatus(r.status); status != interlock.RequestPending && status != interlock.RequestApproved {
		delete(to.Requests, r.request)
		return nil
	}
	request, err := decodeRequest(r.status, r.body)
	if err == nil {
		to.Requests[r.request] = request
	}
	return err
}

func put[T any](records map[string]T, name string, body []byte) error {
	var record T
	if err := json.Unmarshal(body, &record); err != nil {
		return fmt.Errorf("decode a record: %w", err)
	}
	records[name] = record
	return nil
}
