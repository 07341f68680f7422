package mcpgateway

import (
	"bytes"
	"context"
	"encoding/json"

	"interlock"
	"interlock/internal/admission/pinning"
	"interlock/internal/rpc"
)

// A part is what a request is about that names no tool: its server, and the pinned thing of it that it is judged by.
type part struct {
	mount *mount
	by    interlock.Upstream
}

// itself is the server as a whole: what has no definition of its own is judged by it.
func (m *mount) itself() interlock.Upstream {
	return interlock.Upstream{Server: m.name(), Identity: m.server.Identity()}
}

// examineResources examines a list of resources, which may be thousands, as far as it is not what this session has seen examined: some
// servers never say when a list changes, so that it is read again whenever a client asks for it.
func (m *mount) examineResources(ctx context.Context, raw []json.RawMessage) ([]pinning.PinVerdict, error) {
	before, verdicts := m.offers[kindResources].Load(), make([]pinning.PinVerdict, len(raw))
	var fresh []json.RawMessage
	var at []int
	names := make(map[string]bool, len(raw))
	for i, definition := range raw {
		name := rpc.Unquoted(rpc.Member(definition, offerKinds[kindResources].name))
		if names[name] { // which of the two counts is decided where the whole list is seen
			return m.hold(ctx, pinning.Listing{Of: interlock.PinnedResource, Definitions: raw})
		}
		names[name] = true
		if same := before.named(name); same != nil && bytes.Equal(same.raw, definition) {
			verdicts[i].Definition = same.target.Upstream.Definition
			continue
		}
		fresh, at = append(fresh, definition), append(at, i)
	}
	if len(fresh) == 0 && before != nil {
		return verdicts, nil
	}
	found, err := m.hold(ctx, pinning.Listing{Of: interlock.PinnedResource, Definitions: fresh})
	for i, verdict := range found {
		verdicts[at[i]] = verdict
	}
	return verdicts, err
}

// template is the first template that a URI fits, or nil.
func (m *mount) template(uri string) *offer {
	templates := m.offers[kindTemplates].Load()
	if templates == nil {
		return nil
	}
	for i := range templates.list {
		if fits(templates.list[i].name, uri) {
			return &templates.list[i]
		}
	}
	return nil
}

// maxTaken bounds the resources of a server that a session remembers to be pinned; it asks again about others.
const maxTaken = 4096

// taken says what reading a resource is judged by, and has it pinned if it was never read: by what the server says of it where that
// is in its list, else by the template that the URI fits, else by the server.
func (s *Session) taken(ctx context.Context, r *request, m *mount, uri string) (part, error) {
	of, pins := part{m, m.itself()}, s.gateway.config.Pins
	if pins == nil {
		return of, nil
	}
	reading := pinning.Reading{Server: m.name(), Identity: m.server.Identity(), URI: uri}
	listed := m.offers[kindResources].Load().named(uri)
	if listed != nil {
		reading.Definition = listed.raw
		m.mu.Lock()
		known := m.taken[uri] == listed.target.Upstream.Definition && m.taken[uri] != ""
		m.mu.Unlock()
		if known { // a pin stays; whether it is still in force is decided with the call
			of.by = listed.target.Upstream
			return of, nil
		}
	}
	r.standAside() // it may have to be written first
	by, err := pins.Take(ctx, reading)
	if err != nil {
		s.gateway.config.Logger.Error("what a resource is judged by was not determined", "server", m.name(), "error", err.Error())
		return of, err
	}
	of.by = by
	switch {
	case by.Tool != "" && listed != nil:
		m.mu.Lock()
		if m.taken == nil || len(m.taken) >= maxTaken {
			m.taken = map[string]interlock.Digest{}
		}
		m.taken[uri] = by.Definition
		m.mu.Unlock()
	case by.Tool == "" && listed == nil:
		if template := m.template(uri); template != nil {
			of.by = template.target.Upstream
		}
	}
	return of, nil
}

// undetermined is the answer where nobody can tell what a request is to be judged by.
func undetermined() answer {
	return faultOf(rpc.CodeInternal, "what this is judged by could not be determined, so nothing was done; try again", nil)
}
