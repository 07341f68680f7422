package mcpgateway

import (
	"context"
	"strings"

	"interlock"
	"interlock/internal/rpc"
)

// getPrompt decides a prompts/get and forwards it.
func (s *Session) getPrompt(ctx context.Context, r *request) answer {
	var full string
	if wrong := texts(r.params, map[string]*string{"name": &full}); wrong != "" || full == "" {
		return faultOf(rpc.CodeInvalidParams, first(wrong, "params/name is missing; name the prompt"), nil)
	}
	server, name, _ := strings.Cut(full, ".")
	m := s.mount(server)
	if m != nil && !closed(m.tried) {
		r.standAside()
		m.ready(ctx)
	}
	if m == nil {
		return faultOf(rpc.CodeInvalidParams, "unknown prompt: "+full, nil)
	}
	offered := m.offers[kindPrompts].Load().named(name)
	if offered == nil {
		return faultOf(rpc.CodeInvalidParams, "unknown prompt: "+full, nil)
	}
	params := rpc.AppendString([]byte(`{"name":`), name)
	given := rpc.Member(r.params, "arguments")
	if given != nil && string(given) != "null" {
		arguments, err := canonicalArguments(given)
		if err != nil || arguments[0] != '{' {
			return faultOf(rpc.CodeInvalidParams, "params/arguments must be an object of strings", nil)
		}
		given = arguments
		params = append(append(params, `,"arguments":`...), arguments...)
	} else {
		given = []byte("{}")
	}
	action, err := promptAction(server, name, given, s.caller.Dir)
	return s.decided(ctx, r, part{m, offered.target.Upstream}, action, err, params)
}

// readResource decides a resources/read and forwards it to the server whose resource it is.
func (s *Session) readResource(ctx context.Context, r *request) answer {
	uri, m, bad := s.resource(r)
	if m == nil {
		return bad
	}
	of, err := s.taken(ctx, r, m, uri)
	if err != nil {
		return undetermined()
	}
	action, err := resourceAction(m.name(), r.method, uri, s.caller.Dir)
	return privately(r, s.decided(ctx, r, of, action, err, rpc.AppendString([]byte(`{"uri":`), uri)))
}

// privately is the answer to a resources/read as it may be kept: by the client it was decided for.
func privately(r *request, a answer) answer {
	if r.revision != RevisionStateless || a.result == nil || rpc.Unquoted(rpc.Member(a.result, "resultType")) == typeInput {
		return a
	}
	if rpc.Member(a.result, "cacheScope") == nil {
		a.result = rpc.Appended(a.result, `"ttlMs":0,"cacheScope":"private"`)
	} else { // it was decided for this caller and is nobody else's, whatever the server says
		a.result = rpc.With(a.result, "cacheScope", []byte(`"private"`))
	}
	return a
}

// resource finds the URI a request is about, and its server.
func (s *Session) resource(r *request) (string, *mount, answer) {
	var uri string
	if wrong := texts(r.params, map[string]*string{"uri": &uri}); wrong != "" || uri == "" {
		return "", nil, faultOf(rpc.CodeInvalidParams, first(wrong, "params/uri is missing; name the resource"), nil)
	}
	if m := s.holder(uri); m != nil {
		return uri, m, answer{}
	}
	return "", nil, faultOf(rpc.CodeNoResource, "resource not found", encode(map[string]string{"uri": uri}))
}

// holder is the server that has a resource: the first that lists it, else the first with a template it fits, else the only
// one with resources at all.
func (s *Session) holder(uri string) *mount {
	var only *mount
	several := false
	for _, m := range s.mounts {
		if m.offers[kindResources].Load().named(uri) != nil {
			return m
		}
		if m.can().resources {
			several = only != nil
			only = m
		}
	}
	for _, m := range s.mounts {
		if m.template(uri) != nil {
			return m
		}
	}
	if several {
		return nil
	}
	return only
}

// fits reports whether a URI could be an expansion of a URI template: what is between the expressions is there, in order.
func fits(template, uri string) bool {
	for literal := true; ; literal = false {
		before, rest, more := strings.Cut(template, "{")
		at := strings.Index(uri, before)
		switch {
		case at < 0 || literal && at != 0:
			return false
		case !more:
			return strings.HasSuffix(uri, before) && (!literal || uri == before)
		}
		_, after, closed := strings.Cut(rest, "}")
		if !closed {
			return false
		}
		uri, template = uri[at+len(before):], after
	}
}

// complete decides a completion/complete and forwards it to the server whose prompt or template it is about.
func (s *Session) complete(ctx context.Context, r *request) answer {
	reference := rpc.Member(r.params, "ref")
	kind, name, uri := rpc.Unquoted(rpc.Member(reference, "type")), rpc.Unquoted(rpc.Member(reference, "name")),
		rpc.Unquoted(rpc.Member(reference, "uri"))
	var m *mount
	var offered *offer // a quarantine of what is completed is one of its completion
	switch kind {
	case "ref/prompt":
		server, plain, _ := strings.Cut(name, ".")
		if m = s.mount(server); m != nil {
			reference = rpc.With(reference, "name", rpc.AppendString(nil, plain))
			offered = m.offers[kindPrompts].Load().named(plain)
		}
	case "ref/resource":
		if m = s.templated(uri); m != nil {
			offered = m.offers[kindTemplates].Load().named(uri)
		}
	}
	if m == nil || !m.can().completions {
		return faultOf(rpc.CodeInvalidParams, "params/ref names no prompt or template of a server that completes", nil)
	}
	params := append([]byte(`{"ref":`), reference...)
	for _, name := range []string{"argument", "context"} {
		if value := rpc.Member(r.params, name); value != nil {
			params = append(append(append(append(params, `,"`...), name...), `":`...), value...)
		}
	}
	canonical, err := canonicalArguments(append(params, '}'))
	if err != nil {
		return faultOf(rpc.CodeInvalidParams, "params: "+err.Error(), nil)
	}
	of := part{m, m.itself()}
	if offered != nil {
		of.by = offered.target.Upstream
	}
	action, err := completionAction(m.name(), canonical, s.caller.Dir)
	return s.decided(ctx, r, of, action, err, canonical[:len(canonical)-1])
}

func (s *Session) templated(uri string) *mount {
	for _, m := range s.mounts {
		if m.offers[kindTemplates].Load().named(uri) != nil {
			return m
		}
	}
	return s.holder(uri)
}

// decided decides an action of a method that is no tool's, and forwards the request made of params if it is allowed.
func (s *Session) decided(ctx context.Context, r *request, of part, action interlock.Action, err error, params []byte) answer {
	m := of.mount
	if err != nil {
		s.gateway.config.Backend.Refuse(ctx, s.requester(), door, err)
		return faultOf(rpc.CodeInvalidParams, err.Error(), nil)
	}
	p, way := s.proposal(action, s.gateway.config.View(s.caller.Dir), of.by)
	if r.revision == RevisionStateless { // what its client brings may be of another server, or still to be asked
		r.standAside()
	}
	brought, bad := s.brought(ctx, r, m, action)
	if bad.fault != nil {
		return bad
	}
	way.Continues = brought.continues
	settled := s.decide(ctx, r, way, p)
	if !settled.Forward {
		s.inputs.keep(s.inputsKey(r, m, action, rpc.Member(settled.Result, "requestState")), brought.more)
		return settled.answer()
	}
	leave := permit{action: action, requester: p.Requester, answer: settled.Answer, weighed: settled.Weighed, by: of.by}
	q := errand{method: r.method, params: append(params, brought.more...), of: r, meta: r.meta}
	if r.readsOnly() && r.revision != RevisionStateless { // what a stateless client reads is marked as its own afterwards
		return s.forwardOn(ctx, r, m, leave, q)
	}
	return s.forward(ctx, r, m, leave, q)
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
