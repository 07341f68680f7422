package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"sync"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/hook"
	"interlock/internal/mcpgateway"
)

// canaryName is what doctor's own server behind a gateway is called, and canaryTool its only tool.
const (
	canaryName = "interlock-canary"
	canaryTool = "run_command"
)

// A canaryServer is a server behind the gateway that nothing must ever reach: doctor has a call of it refused. It runs
// nothing, whatever it is told.
type canaryServer struct{}

func (canaryServer) Name() string    { return canaryName }
func (canaryServer) Local() bool     { return false }
func (canaryServer) Trouble() string { return "" }

func (canaryServer) Identity() interlock.Digest {
	sum := sha256.Sum256([]byte(canaryName))
	return interlock.Digest("sha256:" + hex.EncodeToString(sum[:]))
}

func (canaryServer) Dial(context.Context) (mcpgateway.Link, error) {
	return &canaryLink{answers: make(chan []byte, 16), closed: make(chan struct{})}, nil
}

func isCanary(server mcpgateway.Server) bool {
	_, is := server.(canaryServer)
	return is
}

// canaryPins keep the canary out of the pins: nobody has to look at it and nobody may approve it. What was never examined may be
// neither seen nor called, so the canary is in quarantine whoever asks, and operators are not told of it each time.
type canaryPins struct{ mcpgateway.Pins }

func (p canaryPins) Examine(ctx context.Context, l admission.Listing) ([]admission.PinVerdict, error) {
	if l.Server == canaryName {
		return make([]admission.PinVerdict, len(l.Definitions)), nil
	}
	return p.Pins.Examine(ctx, l)
}

// A canaryLink answers what it is sent.
type canaryLink struct {
	answers chan []byte
	closed  chan struct{}
	once    sync.Once
}

func (l *canaryLink) Send(ctx context.Context, message []byte) error {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if err := json.Unmarshal(message, &m); err != nil || m.ID == nil {
		return err
	}
	result := `{}`
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"` + canaryName + `","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"` + canaryTool + `","inputSchema":{"type":"object","properties":{"command":{"type":"string"}}}}]}`
	case "tools/call":
		result = `{"content":[{"type":"text","text":"the canary was reached"}]}`
	}
	select {
	case l.answers <- []byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`):
		return nil
	case <-l.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *canaryLink) Receive() ([]byte, error) {
	select {
	case answer := <-l.answers:
		return answer, nil
	case <-l.closed:
		return nil, io.EOF
	}
}

func (l *canaryLink) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// canaryCall is the call that must be refused.
func canaryCall() map[string]any {
	return map[string]any{"name": canaryName + "." + canaryTool, "arguments": map[string]any{"command": hook.CanaryCommand}}
}
