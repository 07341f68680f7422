package mcpgateway

import (
	"context"

	"interlock/internal/rpc"
)

// dispatch carries out one request.
func (s *Session) dispatch(ctx context.Context, r *request) answer {
	if r.method == "ping" && r.revision == RevisionSessions {
		return answer{result: []byte("{}")}
	}
	if state, held := r.heldState(); held {
		return s.comeBack(ctx, r, state)
	}
	switch r.method {
	case "tools/call": // it waits for its own server, and for no other
		return s.callTool(ctx, r)
	case "prompts/get":
		return s.getPrompt(ctx, r)
	case "initialize", "server/discover": // a client that waits for these takes its servers for broken soon
		hello, cancel := context.WithTimeout(ctx, s.gateway.config.Limits.Hello)
		s.ready(hello)
		cancel()
	default:
		if !s.isReady() {
			r.standAside()
			s.ready(ctx)
		}
	}
	switch r.method {
	case "tools/list":
		return s.list(ctx, r, kindTools)
	case "prompts/list":
		return s.list(ctx, r, kindPrompts)
	case "resources/list":
		return s.list(ctx, r, kindResources)
	case "resources/templates/list":
		return s.list(ctx, r, kindTemplates)
	case "resources/read":
		return s.readResource(ctx, r)
	case "completion/complete":
		return s.complete(ctx, r)
	}
	if r.revision == RevisionStateless {
		switch r.method {
		case "server/discover":
			return s.discover()
		case "subscriptions/listen":
			return s.listen(ctx, r)
		case "tasks/get", "tasks/update", "tasks/cancel":
			return s.task(ctx, r)
		}
	} else {
		switch r.method {
		case "initialize":
			return s.initialize(r)
		case "resources/subscribe", "resources/unsubscribe":
			return s.subscribe(ctx, r)
		case "logging/setLevel":
			return s.setLevel(ctx, r)
		}
	}
	return faultOf(rpc.CodeMethodNotFound, "this server has no such method", nil)
}

// mount is the server of that name, or nil.
func (s *Session) mount(name string) *mount {
	for _, m := range s.mounts {
		if m.name() == name {
			return m
		}
	}
	return nil
}
