package auditlog_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/auditlog"
)

// TestPinRecordFits: as many steps as one record holds fit into an event, whatever a server calls its tools.
func TestPinRecordFits(t *testing.T) {
	digest := interlock.Digest("sha256:" + strings.Repeat("a", 64))
	record := auditlog.PinRecord{Server: strings.Repeat("s", 64), Identity: digest}
	for range auditlog.MaxPinSteps {
		record.Steps = append(record.Steps, auditlog.PinStep{Tool: strings.Repeat(`"\`, 128), Status: interlock.PinQuarantined, Why: interlock.PinInstructions,
			Detail: strings.Repeat(`"\`, 500), Approved: digest, Seen: digest})
	}
	payload, err := record.Payload()
	if err != nil || !strings.Contains(string(payload), `"truncated"`) {
		t.Errorf("%d bytes, %v", len(payload), err)
	}
}
