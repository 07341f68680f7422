package mcpgateway

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/pinning"
	"interlock/internal/rpc"
)

// An offerKind is one of the lists a server keeps.
type offerKind int

const (
	kindTools offerKind = iota
	kindPrompts
	kindResources
	kindTemplates
)

// offerKinds says of each kind how it is listed and by what its entries are known.
var offerKinds = [...]struct {
	method, list, name string
	changed            string // the notification to the client
	pinned             string // what its entries are pinned under, before their names
}{
	kindTools:   {"tools/list", "tools", "name", "notifications/tools/list_changed", ""},
	kindPrompts: {"prompts/list", "prompts", "name", "notifications/prompts/list_changed", interlock.PinnedPrompt},
	kindResources: {"resources/list", "resources", "uri", "notifications/resources/list_changed",
		interlock.PinnedResource},
	kindTemplates: {"resources/templates/list", "resourceTemplates", "uriTemplate", "notifications/resources/list_changed",
		interlock.PinnedTemplate},
}

// An offer is one thing a server offers, as it described it to this session.
type offer struct {
	name   string          // as the server calls it
	full   string          // as the client calls it
	listed json.RawMessage // the definition as the client sees it
	raw    json.RawMessage // and as the server sent it
	hints  *interlock.Annotations
	form   *form // what its arguments are to be
	shaped bool  // its results have a declared form: outputSchema
	target pinning.Target
}

// offers are what a server offers of one kind, in its order.
type offers struct {
	list   []offer
	byName map[string]int
	left   map[string]bool // definitions that no client may see
}

func (o *offers) named(name string) *offer {
	if o == nil {
		return nil
	}
	if i, ok := o.byName[name]; ok {
		return &o.list[i]
	}
	return nil
}

// offersKind reports whether the server has such a list at all, and whether it says when it changes.
func (f features) offersKind(k offerKind) (has, tells bool) {
	switch k {
	case kindTools:
		return f.tools, f.toolsChange
	case kindPrompts:
		return f.prompts, f.promptsChange
	default:
		return f.resources, f.resourcesChange
	}
}

// readAll reads every list of a server that has just introduced itself.
func (m *mount) readAll(ctx context.Context, w *wire) error {
	if err := m.instructed(ctx); err != nil {
		return err
	}
	for k := range offerKinds {
		kind := offerKind(k)
		has, _ := m.can().offersKind(kind)
		if !has {
			if kind == kindTools {
				if err := m.learn(ctx, kind, nil); err != nil { // the server itself is examined, whatever it offers
					return err
				}
			}
			m.offers[kind].Store(nil)
			continue
		}
		if err := m.read(ctx, w, kind); err != nil && kind == kindTools {
			return err // a server whose tools nobody can tell is not there
		}
	}
	return nil
}

// read reads one list, with every page of it.
func (m *mount) read(ctx context.Context, w *wire, kind offerKind) error {
	most := m.session.gateway.config.Limits.Offers
	var raw []json.RawMessage
	cursor := ""
	for range most {
		params := []byte{'{'}
		if cursor != "" {
			params = rpc.AppendString(append(params, `"cursor":`...), cursor)
		}
		e, err := w.ask(ctx, errand{method: offerKinds[kind].method, params: params})
		if err != nil {
			return err
		}
		if e.Fault != nil {
			if kind == kindTemplates { // many servers with resources have no templates
				break
			}
			return interlock.Errorf(interlock.CodeUnavailable, "", "the server does not answer %s", offerKinds[kind].method)
		}
		rpc.Elements(rpc.Member(e.Result, offerKinds[kind].list), func(value []byte) { raw = append(raw, value) })
		next := rpc.Unquoted(rpc.Member(e.Result, "nextCursor"))
		if next == "" || next == cursor || len(raw) >= most {
			break
		}
		cursor = next
	}
	if len(raw) > most {
		return interlock.Errorf(interlock.CodeLimited, "", "the server lists more than %d %s", most, offerKinds[kind].list)
	}
	return m.learn(ctx, kind, raw)
}

// instructionsTool is the name under which a server's instructions are pinned, as a tool's description is: a model reads both.
const instructionsTool = "initialize.instructions"

// examine holds what a server lists against what was approved; with its tools, what it tells the model about itself.
func (m *mount) examine(ctx context.Context, kind offerKind, raw []json.RawMessage) ([]pinning.PinVerdict, error) {
	switch kind {
	case kindTools:
	case kindResources:
		return m.examineResources(ctx, raw)
	default:
		return m.hold(ctx, pinning.Listing{Of: offerKinds[kind].pinned, Definitions: raw})
	}
	m.mu.Lock()
	about, can := m.about, m.features
	m.mu.Unlock()
	definitions := slices.Clip(raw)
	if about != "" {
		text := rpc.AppendString([]byte(`{"name":"`+instructionsTool+`","description":`), about)
		definitions = append(definitions, append(text, '}'))
	}
	var absent []string
	if !can.prompts {
		absent = append(absent, interlock.PinnedPrompt)
	}
	if !can.resources {
		absent = append(absent, interlock.PinnedTemplate)
	}
	verdicts, err := m.hold(ctx, pinning.Listing{Definitions: definitions, Absent: absent})
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if about != "" {
		m.pinned = pinning.Target{Name: m.name() + "." + instructionsTool,
			Upstream: interlock.Upstream{Server: m.name(), Identity: m.server.Identity(), Tool: instructionsTool,
				Definition: verdicts[len(raw)].Definition}}
	}
	m.known.Do(func() { close(m.examined) })
	return verdicts[:len(raw)], nil
}

// hold has a list of this server examined.
func (m *mount) hold(ctx context.Context, l pinning.Listing) ([]pinning.PinVerdict, error) {
	g := m.session.gateway
	l.Server, l.Identity, l.FirstUse = m.name(), m.server.Identity(), g.firstUse(m.name())
	verdicts, err := g.config.Pins.Examine(ctx, l)
	if err == nil && len(verdicts) != len(l.Definitions) {
		err = fmt.Errorf("%d verdicts on %d definitions", len(verdicts), len(l.Definitions))
	}
	return verdicts, err
}

// learn takes a whole list. What has no name, or one that stood before, is left out.
func (m *mount) learn(ctx context.Context, kind offerKind, raw []json.RawMessage) error {
	found, before := &offers{byName: make(map[string]int, len(raw)), left: map[string]bool{}}, m.offers[kind].Load()
	var verdicts []pinning.PinVerdict
	if m.session.gateway.config.Pins != nil {
		var err error
		if verdicts, err = m.examine(ctx, kind, raw); err != nil {
			m.offers[kind].Store(nil)
			return fmt.Errorf("examining what a server lists: %w", err)
		}
	}
	for i, definition := range raw {
		o, ok := m.offer(kind, definition)
		if _, twice := found.byName[o.name]; !ok || twice {
			continue
		}
		shown, err := m.defined(ctx, before, o, definition)
		if err != nil {
			m.offers[kind].Store(nil)
			return fmt.Errorf("looking at what a server lists: %w", err)
		}
		if shown == nil {
			found.left[string(definition)] = true
			continue
		}
		o.listed = shown
		if verdicts != nil { // whether it may be shown and called is asked each time: an operator may approve it at any time
			o.target.Upstream.Definition = verdicts[i].Definition
		}
		found.byName[o.name] = len(found.list)
		found.list = append(found.list, o)
	}
	m.offers[kind].Store(found)
	return nil
}

// offer reads one definition.
func (m *mount) offer(kind offerKind, definition json.RawMessage) (offer, bool) {
	o := offer{name: rpc.Unquoted(rpc.Member(definition, offerKinds[kind].name)), listed: definition, raw: definition}
	if o.name == "" || len(o.name) > 2048 || strings.ContainsRune(o.name, 0) {
		return o, false
	}
	o.full = o.name
	o.target.Upstream = interlock.Upstream{Server: m.name(), Identity: m.server.Identity(),
		Tool: offerKinds[kind].pinned + o.name}
	if kind == kindTools || kind == kindPrompts {
		o.full = m.name() + "." + o.name
	}
	if kind == kindTools {
		o.hints = annotationsOf(definition)
		o.form, o.shaped = &form{definition: definition}, declaresOutput(definition)
	}
	o.target.Name = o.full
	return o, true
}

// refresh reads lists again and then tells the client once that they have changed. A change while it reads makes it read again.
func (m *mount) refresh(kinds ...offerKind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stale[kinds[0]] = true
	if !m.reading[kinds[0]] {
		m.reading[kinds[0]] = true
		m.session.receivers.Go(func() { m.reread(kinds) })
	}
}

// Between two readings it pauses: a server that says without end that its lists change must not keep us and the client busy.
func (m *mount) reread(kinds []offerKind) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		m.mu.Lock()
		if !m.stale[kinds[0]] {
			m.reading[kinds[0]] = false
			m.mu.Unlock()
			return
		}
		m.stale[kinds[0]] = false
		m.mu.Unlock()
		if w := m.live.Load(); w != nil {
			ctx, cancel := context.WithTimeout(w.ctx, m.session.gateway.config.Limits.Start)
			for _, kind := range kinds {
				if err := m.read(ctx, w, kind); err != nil {
					m.unwell(err)
				}
			}
			cancel()
		}
		m.session.changed(kinds[0])
		select {
		case <-time.After(pause):
		case <-m.session.ctx.Done():
		}
	}
}

// list answers one of the list methods: what all servers offer, in their order, without what this caller may not use.
func (s *Session) list(ctx context.Context, r *request, kind offerKind) answer {
	cursor := ""
	if wrong := texts(r.params, map[string]*string{"cursor": &cursor}); wrong != "" {
		return faultOf(rpc.CodeInvalidParams, wrong, nil)
	}
	if cursor == "" {
		s.reread(ctx, kind)
	}
	shown, err := s.visible(ctx, kind)
	if err != nil {
		s.gateway.config.Logger.Error("what may be shown was not determined", "agent", s.caller.Agent, "error", err.Error())
		return faultOf(rpc.CodeInternal, "what may be shown could not be determined; try again", nil)
	}
	if s.gateway.config.Pins != nil {
		s.sees(kind, shown)
	}
	from, ok := after(shown, kind, cursor)
	if !ok {
		return faultOf(rpc.CodeInvalidParams, "params/cursor is not one that this server gave; begin without one", nil)
	}
	to := min(from+s.gateway.config.Limits.Page, len(shown))
	text := append(append([]byte(`{"`), offerKinds[kind].list...), `":[`...)
	for i, o := range shown[from:to] {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, o.listed...)
	}
	text = append(text, ']')
	if to < len(shown) {
		text = rpc.AppendString(append(text, `,"nextCursor":`...), cursorAfter(kind, shown[to-1]))
	}
	if r.revision == RevisionStateless {
		text = append(text, `,"ttlMs":0,"cacheScope":"private"`...)
	}
	if left := s.leftOut(kind); left > 0 {
		text = fmt.Appendf(text, `,"_meta":{"%s":"%d left out: their names or schemas hold what may not be shown."}`, noticeOf, left)
	}
	return answer{result: append(text, '}')}
}

// reread reads the lists of servers that do not say when they change.
func (s *Session) reread(ctx context.Context, kind offerKind) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for _, m := range s.mounts {
		w := m.live.Load()
		if has, tells := m.can().offersKind(kind); w != nil && has && !tells {
			if err := m.read(ctx, w, kind); err != nil {
				m.unwell(err)
			}
		}
	}
}

// visible is what the caller may see of one kind. A name that two servers offer (only a resource's can be) is the first one's.
func (s *Session) visible(ctx context.Context, kind offerKind) ([]*offer, error) {
	var all []*offer
	var targets []pinning.Target
	seen := map[string]bool{}
	for _, m := range s.mounts {
		if m.live.Load() == nil {
			continue
		}
		found := m.offers[kind].Load()
		if found == nil {
			continue
		}
		for i := range found.list {
			o := &found.list[i]
			if seen[o.full] {
				continue
			}
			seen[o.full] = true
			all, targets = append(all, o), append(targets, seenAs(kind, o))
		}
	}
	pins := s.gateway.config.Pins
	if pins == nil {
		return all, nil
	}
	shown, err := pins.Visible(ctx, s.requester(), targets)
	if err != nil || len(shown) != len(targets) {
		return nil, fmt.Errorf("asking what may be shown: %w", err)
	}
	var may []*offer
	for i, o := range all {
		if shown[i] {
			may = append(may, o)
		}
	}
	return may, nil
}

// seenAs is what an offer is called when its visibility is asked for: a tool by its name, a prompt by what getting one is judged
// as, and a resource, which may be judged as many things, by what is pinned of it alone.
func seenAs(kind offerKind, o *offer) pinning.Target {
	target := o.target
	switch kind {
	case kindTools:
	case kindPrompts:
		target.Name = target.Upstream.Server + ".prompts/get"
	default:
		target.Name = ""
	}
	return target
}

// A cursor names the last entry of the page before, so that it stays good while the list changes elsewhere.
func cursorAfter(kind offerKind, o *offer) string {
	return base64.RawURLEncoding.EncodeToString([]byte(offerKinds[kind].list + "\x00" + o.target.Upstream.Server + "\x00" + o.full))
}

func after(shown []*offer, kind offerKind, cursor string) (int, bool) {
	if cursor == "" {
		return 0, true
	}
	for i, o := range shown {
		if cursorAfter(kind, o) == cursor {
			return i + 1, true
		}
	}
	return 0, false
}

// Tool is the definition of a tool as the client sees it, or nil if it is not known (yet).
func (s *Session) Tool(name string) json.RawMessage {
	server, tool, _ := strings.Cut(name, ".")
	m := s.mount(server)
	if m == nil {
		return nil
	}
	offered := m.offers[kindTools].Load().named(tool)
	if offered == nil {
		return nil
	}
	return offered.listed
}
