package aql

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/conform"
	"interlock/internal/mcpaql/evidence"
)

func evidenceChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"AQL-10"}, Drives: "an MCP client of both modes, as the specification's runner reads what it was answered",
			Do: bundled},
	}
}

func bundled(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	var sessions []*mcp.ClientSession
	for _, mode := range []string{"semantic", "single"} {
		streams := h.Streams(ctx, "mcp", "--agent", "evidence-"+mode, "--endpoints", mode)
		defer streams.Close()
		session, err := mcp.NewClient(&mcp.Implementation{Name: "conformance", Version: "1"}, nil).Connect(ctx,
			&mcp.IOTransport{Reader: streams, Writer: streams}, nil)
		if err != nil {
			return "", fmt.Errorf("connecting in %s mode: %w: %s", mode, err, streams.Diagnostics())
		}
		defer session.Close()
		sessions = append(sessions, session)
	}
	bundle, err := evidence.Collect(ctx, sessions[0], sessions[1])
	if err != nil {
		return "", fmt.Errorf("collecting evidence: %w", err)
	}
	w := wrong(evidence.Faults(bundle))
	return fmt.Sprintf("level %d of %s, with %d mistakes, %d details, %d accepted lists and nothing that the runner's checks object to", bundle.ExpectedLevel,
		bundle.SpecVersion, len(bundle.ErrorTests), len(bundle.Introspection.OperationDetails), len(bundle.AcceptedParameters)), w.err()
}
