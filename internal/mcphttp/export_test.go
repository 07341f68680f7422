package mcphttp

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"

	"interlock/internal/mcpgateway"
	"interlock/internal/rpc"
)

// Conversation is what the HTTP front needs of a session, for tests that put another behind it.
type Conversation interface {
	Handle(ctx context.Context, message []byte, reply mcpgateway.Peer)
	Tool(name string) json.RawMessage
	Close() error
}

// Behind puts conversations of a test's own behind the front.
func (h *Front) Behind(open func(mcpgateway.Caller, mcpgateway.Peer) (Conversation, error)) {
	h.open = func(c mcpgateway.Caller, p mcpgateway.Peer) (conversation, error) { return open(c, p) }
}

// CheckFront fails the test if a message without a session would go on under headers that say something else.
func CheckFront(t *testing.T, body string, header http.Header) {
	e, bad := rpc.Decode([]byte(body))
	if bad != nil {
		return
	}
	stateless, fault := revisionOf(header, e)
	if fault != nil {
		return
	}
	said := mcpgateway.SaidRevision(e.Params)
	if !stateless {
		if said != "" {
			t.Errorf("a message of %q goes into a session", said)
		}
		return
	}
	if said != "" && said != header.Get("Mcp-Protocol-Version") && said != strings.TrimSpace(header.Get("Mcp-Protocol-Version")) {
		t.Errorf("the header says %q, the body %q", header.Get("Mcp-Protocol-Version"), said)
	}
	if checkHeaders(header, e) != nil {
		return
	}
	var whole struct {
		Method string
		Params struct{ Name, URI string }
	}
	if json.Unmarshal([]byte(body), &whole) != nil {
		t.Errorf("%q goes on and is no JSON", body)
	}
	named := map[string]string{"tools/call": whole.Params.Name, "prompts/get": whole.Params.Name, "resources/read": whole.Params.URI}
	name, checked := named[whole.Method]
	given := strings.TrimSpace(header.Get("Mcp-Name"))
	if strings.TrimSpace(header.Get("Mcp-Method")) != whole.Method || checked && given != name && headerText(given) != name {
		t.Errorf("headers %v go on with %q", header, body)
	}
}

// ParamMismatch says what is wrong with headers that repeat arguments, or nothing.
func ParamMismatch(header http.Header, definition, arguments string) string {
	if fault := paramMismatch(header, []byte(definition), []byte(arguments)); fault != nil {
		return fault.message
	}
	return ""
}

// RemoteNetwork is the network whose connections are counted together with those from an address; empty: none.
func RemoteNetwork(address string) string {
	if prefix := remote(addressed{address: address}); prefix.IsValid() {
		return prefix.String()
	}
	return ""
}

type addressed struct {
	net.Conn
	address string
}

func (a addressed) RemoteAddr() net.Addr { return a }
func (a addressed) Network() string      { return "tcp" }
func (a addressed) String() string       { return a.address }
