package mcpgateway

import (
	"context"
	"encoding/json"
	"time"

	"interlock/internal/rpc"
)

// A listener is a stateless client's subscriptions/listen under way.
type listener struct {
	request   *request
	wants     map[string]bool // notifications by method
	resources map[string]bool // by URI
}

// subscribe decides a resources/subscribe, forwards it, and remembers it for a server that comes back. Leave to unsubscribe
// is nobody's to refuse.
func (s *Session) subscribe(ctx context.Context, r *request) answer {
	uri, m, bad := s.resource(r)
	if m == nil {
		return bad
	}
	params := rpc.AppendString([]byte(`{"uri":`), uri)
	if r.method == "resources/unsubscribe" {
		s.mu.Lock()
		delete(s.watched, uri)
		s.mu.Unlock()
		e, err := m.ask(ctx, errand{method: r.method, params: params, of: r})
		if err != nil {
			return notThere(m.name())
		}
		if e.Fault != nil {
			return s.faulted(ctx, permit{}, e.Fault)
		}
		shown, told, err := s.screen(ctx, utterance{where: inResult, value: e.Result})
		if err != nil || told.Blocked {
			shown = []byte("{}")
		}
		return answer{result: shown}
	}
	of, err := s.taken(ctx, r, m, uri)
	if err != nil {
		return undetermined()
	}
	action, err := resourceAction(m.name(), r.method, uri, s.caller.Dir)
	a := s.decided(ctx, r, of, action, err, params)
	if a.result != nil {
		s.mu.Lock()
		s.watched[uri] = m
		s.mu.Unlock()
	}
	return a
}

// setLevel sets the level of logging of every server that logs.
func (s *Session) setLevel(ctx context.Context, r *request) answer {
	var level string
	if wrong := texts(r.params, map[string]*string{"level": &level}); wrong != "" || !logLevels[level] {
		return faultOf(rpc.CodeInvalidParams, first(wrong, "params/level is no level of logging"), nil)
	}
	s.mu.Lock()
	s.level = level
	s.mu.Unlock()
	for _, m := range s.mounts {
		if w := m.live.Load(); w != nil && m.can().logging {
			// one that can't keeps its own
			_, _ = w.ask(ctx, errand{method: r.method, params: rpc.AppendString([]byte(`{"level":`), level)})
		}
	}
	return answer{result: []byte("{}")}
}

var logLevels = map[string]bool{"debug": true, "info": true, "notice": true, "warning": true, "error": true, "critical": true,
	"alert": true, "emergency": true}

// logged passes a server's log message on, under the server's name. A stateless client gets those that come while its only
// request runs, if that asked for them.
func (s *Session) logged(w *wire, params []byte) {
	if may, _ := w.chatter.Take(time.Now()); !may {
		return // a server that talks without end must not fill what its client reads of others
	}
	to := s.peer
	if s.isStateless() {
		_, r := w.only()
		if r == nil || r.meta.logLevel == "" {
			return
		}
		to = r.reply
	}
	params = s.notice(params, "data", &w.heard)
	if params == nil {
		return
	}
	logger := w.mount.name()
	if own := rpc.Unquoted(rpc.Member(params, "logger")); own != "" {
		logger += "." + own
	}
	text := rpc.AppendString([]byte(`{"logger":`), logger)
	rpc.Members(params, func(name, value []byte) {
		switch string(name) {
		case "level", "data":
			text = append(append(append(append(text, `,"`...), name...), `":`...), value...)
		}
	})
	s.tell(to, "notifications/message", append(text, '}'))
}

func (s *Session) isStateless() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision == RevisionStateless
}

// changed tells the client that a list has changed.
func (s *Session) changed(kind offerKind) {
	method := offerKinds[kind].changed
	if !s.isStateless() {
		s.tell(s.peer, method, nil)
		return
	}
	for _, l := range s.listening() {
		if l.wants[method] {
			s.tell(l.request.reply, method, l.marked(nil))
		}
	}
}

// updated tells the client that a resource has changed.
func (s *Session) updated(m *mount, uri string, params json.RawMessage) {
	if !s.isStateless() {
		s.mu.Lock()
		subscribed, itself := false, s.watched[uri] == m
		for _, at := range s.watched {
			subscribed = subscribed || at == m // what changed may be a part of what was subscribed to
		}
		s.mu.Unlock()
		params := append(rpc.AppendString([]byte(`{"uri":`), uri), 0x7d)
		if subscribed && (itself || string(s.notice(params, "", nil)) == string(params)) {
			s.tell(s.peer, "notifications/resources/updated", params)
		}
		return
	}
	for _, l := range s.listening() {
		if l.resources[uri] {
			s.tell(l.request.reply, "notifications/resources/updated", l.marked(rpc.AppendString([]byte(`"uri":`), uri)))
		}
	}
}

func (s *Session) listening() []*listener {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*listener
	for l := range s.listeners {
		all = append(all, l)
	}
	return all
}

// marked is a notification's params with the subscription they belong to.
func (l *listener) marked(params []byte) []byte {
	text := append([]byte{'{'}, params...)
	if len(params) > 0 {
		text = append(text, ',')
	}
	text = append(append(text, `"_meta":{"`+metaSubscription+`":`...), l.request.id...)
	return append(text, '}', '}')
}

// The names by which a stateless client asks for notifications.
var listenNames = map[string]string{"toolsListChanged": offerKinds[kindTools].changed,
	"promptsListChanged":   offerKinds[kindPrompts].changed,
	"resourcesListChanged": offerKinds[kindResources].changed}

// listen keeps a stateless client's subscription until the client or the session ends it.
func (s *Session) listen(ctx context.Context, r *request) answer {
	wanted := rpc.Member(r.params, "notifications")
	if len(wanted) == 0 || wanted[0] != '{' {
		return faultOf(rpc.CodeInvalidParams, "params/notifications is missing; say what is to be told", nil)
	}
	l := &listener{request: r, wants: map[string]bool{}, resources: map[string]bool{}}
	agreed := []byte{'{'}
	add := func(text string) {
		if len(agreed) > 1 {
			agreed = append(agreed, ',')
		}
		agreed = append(agreed, text...)
	}
	if rpc.Member(wanted, "taskIds") != nil && !r.client.tasks {
		return s.taskAs(ctx, r, "tasks/get", nil) // which says what is missing
	}
	var uris, ids []string
	rpc.Members(wanted, func(name, value []byte) {
		if method := listenNames[string(name)]; method != "" && rpc.IsTrue(value) {
			l.wants[method] = true
			add(`"` + string(name) + `":true`)
		}
		if string(name) == "resourceSubscriptions" {
			rpc.Elements(value, func(uri []byte) { uris = append(uris, rpc.Unquoted(uri)) })
		}
		if string(name) == "taskIds" {
			rpc.Elements(value, func(id []byte) { ids = append(ids, rpc.Unquoted(id)) })
		}
	})
	held := s.subscribeAll(ctx, r, l, uris)
	if len(held) > 0 {
		add(`"resourceSubscriptions":` + string(encode(held)))
	}
	tasks := s.tasksOf(ctx, r, ids)
	if len(tasks) > 0 {
		add(`"taskIds":` + string(encode(tasks)))
	}
	s.mu.Lock()
	s.listeners[l] = struct{}{}
	s.mu.Unlock()
	s.tell(r.reply, "notifications/subscriptions/acknowledged",
		l.marked(append(append([]byte(`"notifications":`), agreed...), '}')))
	s.hearTasks(ctx, l, tasks)
	<-ctx.Done()
	s.mu.Lock()
	delete(s.listeners, l)
	s.mu.Unlock()
	s.unsubscribeAll(held)
	if s.ctx.Err() == nil {
		return answer{}
	}
	return answer{result: l.marked([]byte(`"resultType":"complete"`))}
}

// subscribeAll decides and forwards a subscription for each resource; those that are refused are left out.
func (s *Session) subscribeAll(ctx context.Context, r *request, l *listener, uris []string) []string {
	var held []string
	for _, uri := range uris {
		m := s.holder(uri)
		if m == nil || uri == "" || l.resources[uri] {
			continue
		}
		one := *r
		one.method = "resources/subscribe"
		of, err := s.taken(ctx, &one, m, uri)
		if err != nil {
			continue
		}
		action, err := resourceAction(m.name(), one.method, uri, s.caller.Dir)
		if a := s.decided(ctx, &one, of, action, err, rpc.AppendString([]byte(`{"uri":`), uri)); a.result != nil &&
			rpc.Member(a.result, "inputRequests") == nil {
			l.resources[uri] = true
			held = append(held, uri)
		}
	}
	return held
}

// unsubscribeAll ends subscriptions that no other listener needs.
func (s *Session) unsubscribeAll(uris []string) {
	others := s.listening()
	for _, uri := range uris {
		needed := false
		for _, l := range others {
			needed = needed || l.resources[uri]
		}
		m := s.holder(uri)
		if needed || m == nil || s.ctx.Err() != nil {
			continue
		}
		if w := m.live.Load(); w != nil {
			ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
			_, _ = w.ask(ctx, errand{method: "resources/unsubscribe", params: rpc.AppendString([]byte(`{"uri":`), uri)})
			cancel()
		}
	}
}
