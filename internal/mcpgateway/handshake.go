package mcpgateway

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock/internal/admission/pinning"
	"interlock/internal/rpc"
)

// clientVersions are the revisions of the protocol that a client's handshake may name, newest first. Batches, which one of
// the older ones has, are refused under each.
var clientVersions = []string{RevisionSessions, "2025-06-18", "2025-03-26", "2024-11-05"}

// SpeaksSessions reports whether a revision of the protocol is one whose clients begin with a handshake, and is spoken here.
func SpeaksSessions(revision string) bool { return slices.Contains(clientVersions, revision) }

// Revisions are all revisions of the protocol that are spoken to clients, newest first.
func Revisions() []string { return append([]string{RevisionStateless}, clientVersions...) }

// introduced finds out under which revision a request is made and what its client can do, or says why it can't be served.
func (s *Session) introduced(r *request) (fault []byte) {
	if r.meta.version != "" && !SpeaksSessions(r.meta.version) {
		return s.introducedStateless(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.method == "initialize" && s.revision != "":
		return rpc.FaultObject(rpc.CodeInvalidRequest, "the session was initialized before", nil)
	case r.method == "initialize":
		s.revision = RevisionSessions
		s.client = abilitiesOf(rpc.Member(r.params, "capabilities"))
		s.begin()
	case r.method == "ping":
	case s.revision != RevisionSessions:
		return rpc.FaultObject(rpc.CodeInvalidRequest, "send initialize first, or name the protocol's revision in _meta", nil)
	}
	r.revision, r.client = RevisionSessions, s.client
	return nil
}

// introducedStateless reads what a request of a stateless revision says of its client.
func (s *Session) introducedStateless(r *request) (fault []byte) {
	if r.meta.version != RevisionStateless {
		data, _ := json.Marshal(map[string]any{"supported": Revisions(),
			"requested": r.meta.version})
		return rpc.FaultObject(rpc.CodeVersion, "unsupported protocol version", data)
	}
	if len(r.meta.capabilities) == 0 || r.meta.capabilities[0] != '{' {
		return rpc.FaultObject(rpc.CodeInvalidParams,
			"params/_meta/"+metaCapabilities+" is missing; every request says what its client can do", nil)
	}
	r.revision, r.client = RevisionStateless, abilitiesOf(r.meta.capabilities)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.revision == RevisionSessions {
		return rpc.FaultObject(rpc.CodeInvalidRequest, "the session was initialized under revision "+RevisionSessions, nil)
	}
	if s.revision == "" {
		s.revision, s.client = RevisionStateless, r.client
		s.begin()
	}
	return nil
}

// begin starts the session's servers; s.mu is held. They are started one after another, in their order, and shake hands
// side by side; one that does not come up costs the others nothing. The client waits a little for them. One that takes longer is
// not given up, because some programs are downloaded when they are first started, and what is ended in the middle of
// that may never start again: the client is told when it is there.
func (s *Session) begin() {
	s.started = make(chan struct{})
	started := s.started
	enough := sync.OnceFunc(func() { close(started) })
	limits := s.gateway.config.Limits
	waiting := time.AfterFunc(limits.Start, func() {
		for _, m := range s.mounts {
			if m.live.Load() == nil {
				m.slow(limits.Start)
			}
		}
		enough()
	})
	s.receivers.Go(func() {
		defer enough()
		defer waiting.Stop()
		var hands sync.WaitGroup
		for _, m := range s.mounts {
			m.dialing <- struct{}{}
			w, err := m.dial(s.ctx)
			if err != nil {
				<-m.dialing
				close(m.tried)
				m.search()
				continue
			}
			hands.Go(func() {
				err := m.handshake(s.ctx, w)
				<-m.dialing
				close(m.tried)
				switch {
				case err != nil:
					m.search()
				case closed(started):
					s.resume(m)
				}
			})
		}
		hands.Wait()
	})
}

// closed reports whether a channel that nothing is sent on was closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// ready waits until the servers had their time to start.
func (s *Session) ready(ctx context.Context) {
	s.mu.Lock()
	started := s.started
	s.mu.Unlock()
	if started == nil {
		return
	}
	select {
	case <-started:
	case <-ctx.Done():
	}
}

// isReady reports whether nobody has to be waited for.
func (s *Session) isReady() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started == nil || closed(s.started)
}

// initialize answers the handshake of a session.
func (s *Session) initialize(r *request) answer {
	version := rpc.Unquoted(rpc.Member(r.params, "protocolVersion"))
	if !SpeaksSessions(version) {
		version = RevisionSessions
	}
	text := append([]byte(`{"protocolVersion":"`+version+`","capabilities":`), s.capabilities()...)
	text = append(append(text, `,"serverInfo":`...), s.gateway.info()...)
	if about := s.instructions(); about != "" {
		text = rpc.AppendString(append(text, `,"instructions":`...), about)
	}
	return answer{result: append(text, '}')}
}

// discover answers the stateless revisions' question what there is.
func (s *Session) discover() answer {
	versions, _ := json.Marshal(Revisions())
	text := append(append([]byte(`{"resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":`), versions...),
		`,"capabilities":`...)
	text = append(text, s.gateway.config.Asker.capabilities(s.capabilities())...)
	if about := s.instructions(); about != "" {
		text = rpc.AppendString(append(text, `,"instructions":`...), about)
	}
	text = append(append(text, `,"_meta":{"`+metaServerInfo+`":`...), s.gateway.info()...)
	return answer{result: append(text, '}', '}')}
}

func (g *Gateway) info() []byte {
	return append(rpc.AppendString([]byte(`{"name":"interlock","title":"Interlock gateway","version":`), g.version()), '}')
}

// capabilities are the union of what the servers can do. Lists may always change: a server may come back with others.
func (s *Session) capabilities() []byte {
	var all features
	for _, m := range s.mounts {
		f := m.can()
		all.tools = all.tools || f.tools
		all.resources = all.resources || f.resources
		all.subscribe = all.subscribe || f.subscribe
		all.prompts = all.prompts || f.prompts
		all.completions = all.completions || f.completions
		all.logging = all.logging || f.logging
	}
	parts := []string{`"tools":{"listChanged":true}`} // also where no server has come up yet: one may
	if all.resources && all.subscribe {
		parts = append(parts, `"resources":{"listChanged":true,"subscribe":true}`)
	} else if all.resources {
		parts = append(parts, `"resources":{"listChanged":true}`)
	}
	if all.prompts {
		parts = append(parts, `"prompts":{"listChanged":true}`)
	}
	if all.completions {
		parts = append(parts, `"completions":{}`)
	}
	if all.logging {
		parts = append(parts, `"logging":{}`)
	}
	return []byte("{" + strings.Join(parts, ",") + "}")
}

// instructions are what the servers tell the model about themselves, each under its name, as far as that was approved.
func (s *Session) instructions() string {
	var all []string
	for _, m := range s.mounts {
		m.mu.Lock()
		about, pinned := strings.TrimSpace(m.shown), m.pinned
		m.mu.Unlock()
		if about != "" && s.mayShow(pinned) {
			all = append(all, "# "+m.name()+"\n\n"+about)
		}
	}
	return strings.Join(all, "\n\n")
}

func (s *Session) mayShow(pinned pinning.Target) bool {
	pins := s.gateway.config.Pins
	if pins == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
	defer cancel()
	shown, err := pins.Visible(ctx, s.requester(), []pinning.Target{pinned})
	return err == nil && len(shown) == 1 && shown[0] && pinned.Upstream.Definition != ""
}

// resume puts a server that came back where the one that went away was: what the client subscribed to and set.
func (s *Session) resume(m *mount) {
	w := m.live.Load()
	if w == nil {
		return
	}
	s.mu.Lock()
	level := s.level
	var uris []string
	for uri, at := range s.watched {
		if at == m {
			uris = append(uris, uri)
		}
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(w.ctx, time.Minute)
	defer cancel()
	if level != "" && m.can().logging {
		_, _ = w.ask(ctx, errand{method: "logging/setLevel", params: rpc.AppendString([]byte(`{"level":`), level)})
	}
	for _, uri := range uris {
		_, _ = w.ask(ctx, errand{method: "resources/subscribe", params: rpc.AppendString([]byte(`{"uri":`), uri)})
	}
	for k := range offerKinds {
		if has, _ := m.can().offersKind(offerKind(k)); has && offerKind(k) != kindTemplates {
			s.changed(offerKind(k))
		}
	}
}
