package conform

import (
	"fmt"
	"time"
)

// A Loop is how a home is set up, as far as clauses of MCP-AQL depend on that.
type Loop struct {
	Steps, Tolerance  int  // after so many, and above such a score, a human looks
	Channels          int  // by which codes reach people
	Acknowledges      bool // the server asks for confirmations itself
	CodeTTL, TokenTTL time.Duration
	Skew              time.Duration // the clock tolerance of tokens
	Unregistered      string        // the trust of agents that nobody registered
	Declared          int           // operations whose danger operators declare
}

// hereAQL is what clauses of MCP-AQL ask of a home.
func hereAQL() []hereCheck {
	enforced := func(h Home) (Word, string) { return word(h.Enforcing), fmt.Sprintf("enforcing: %t", h.Enforcing) }
	return []hereCheck{
		{"AQL-8.6.4", 1, enforced},
		{"AQL-8.7.2-1", 1, func(h Home) (Word, string) {
			return word(h.Enforcing && h.Loop.Steps > 0), fmt.Sprintf("a human looks after %d steps (loop.max_autonomous_steps)", h.Loop.Steps)
		}},
		{"AQL-8.7.2-5", 1, func(h Home) (Word, string) {
			return word(h.Loop.Tolerance <= 75), fmt.Sprintf("scores above %d pause (loop.tolerance)", h.Loop.Tolerance)
		}},
		{"AQL-8.8", 1, func(h Home) (Word, string) {
			return word(h.Enforcing && (h.Answerers > 0 || h.Loop.Channels > 0)),
				fmt.Sprintf("enforcing: %t, %d operators can have a code shown, %d channels send one", h.Enforcing, h.Answerers, h.Loop.Channels)
		}},
		{"AQL-8.8.2e", 1, func(h Home) (Word, string) {
			return word(h.Loop.CodeTTL > 0 && h.Loop.CodeTTL <= 15*time.Minute), "codes count for " + h.Loop.CodeTTL.String() + " (code_ttl)"
		}},
		{"AQL-8.8.3a", 1, func(h Home) (Word, string) {
			return word(h.Enforcing && h.Governors > 0), fmt.Sprintf("enforcing: %t, %d operators can lift a block", h.Enforcing, h.Governors)
		}},
		{"AQL-8.8.6", 1, func(h Home) (Word, string) {
			return word(h.Loop.Channels > 0), fmt.Sprintf("%d channels send codes to people (channels)", h.Loop.Channels)
		}},
		{"AQL-D-7.1-2", 1, enforced},
		{"AQL-D-7.2-2", 1, func(h Home) (Word, string) {
			return Pass, fmt.Sprintf("profile %s, %d declared levels (danger, in the rules)", h.Profile, h.Loop.Declared)
		}},
		{"AQL-SL-4.2", 1, func(h Home) (Word, string) {
			if !h.Loop.Acknowledges {
				return Pending, "the client asks its user, by what the tools say of themselves; with mcp_acknowledge the server asks too"
			}
			return Pass, "the server asks for confirmations (mcp_acknowledge)"
		}},
		{"AQL-T-1", 1, func(h Home) (Word, string) {
			return word(h.Governors > 0), fmt.Sprintf("%d operators can raise an agent's trust", h.Governors)
		}},
		{"AQL-T-3", 1, func(h Home) (Word, string) {
			if h.Loop.Unregistered == "untested" {
				return Pass, "agents that nobody registered are untested"
			}
			return Pending, "agents that nobody registered are " + h.Loop.Unregistered + " under the profile " + h.Profile +
				" (interlock agent add --trust untested; docs/divergences.md)"
		}},
		{"AQL-C-4", 1, func(h Home) (Word, string) {
			return word(h.Loop.TokenTTL <= 15*time.Minute), "confirmation tokens live " + h.Loop.TokenTTL.String() + " (mcp_token_ttl)"
		}},
		{"AQL-C-5", 1, func(h Home) (Word, string) {
			return word(h.Loop.Skew <= time.Minute), "clocks may differ by " + h.Loop.Skew.String() + " (mcp_clock_tolerance; warned about above 1m)"
		}},
	}
}
