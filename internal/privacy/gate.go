// Package privacy says what may become of personal data before it is kept or repeated: as it is, without what nobody permitted, or not
// at all (MACE safety boundaries 4 and its companion about privacy). It is arithmetic over what was found and what people consented to;
// who holds keys and rows is the admission's matter.
//
// Start with Gate, then consent.go.
package privacy

import (
	"strings"

	"interlock/internal/personal"
)

// An Outcome is what may become of a text.
type Outcome string

// The outcomes, in the words of MACE's companion.
const (
	Allowed         Outcome = "allowed"          // it may be kept as it is
	Redacted        Outcome = "redacted"         // it may be kept without what nobody permitted
	ConsentRequired Outcome = "consent_required" // nothing of it may be kept until the person, and for some of it the council, permits it
	Blocked         Outcome = "blocked"          // nothing of it may be kept, and nobody is named whose consent would do
)

// What an outcome waits for.
const (
	NeedsConsent = "consent"
	NeedsCouncil = "council"
)

// A Piece is something sensitive in a text: its bytes from Start up to End. Without a tier it is a credential, which no consent covers.
type Piece struct {
	Start, End int
	Type       string
	Tier       personal.Tier
}

// An Authority is what people have permitted to be kept. The zero value is nothing.
type Authority struct {
	Medium  bool     // the person consented to data of the medium tier
	High    bool     // and to data of the high tier
	Council bool     // which the council has approved as well
	IDs     []string // the consents that say so
}

// Permits reports whether data of a tier may be kept as it is: of the high tier with consent and council, of any other with consent.
func (a Authority) Permits(tier personal.Tier) bool {
	switch tier {
	case personal.High:
		return a.High && a.Council
	case personal.Medium, personal.Low:
		return a.Medium || a.High
	}
	return false
}

// Gate says what may become of a text with these pieces in it. whole says that it is of no use without them, such as a fact about
// somebody; named that it is known whose they are. needs is what an outcome of consent_required or blocked waits for.
func Gate(found []Piece, a Authority, whole, named bool) (outcome Outcome, needs []string) {
	outcome = Allowed
	consent, council := false, false
	for _, p := range found {
		if a.Permits(p.Tier) {
			continue
		}
		outcome = Redacted
		switch p.Tier {
		case personal.High:
			consent, council = consent || !a.High, council || !a.Council
		case personal.Medium:
			consent = true
		}
	}
	if !whole || !consent && !council {
		return outcome, nil
	}
	if consent {
		needs = append(needs, NeedsConsent)
	}
	if council {
		needs = append(needs, NeedsCouncil)
	}
	if !named {
		return Blocked, needs
	}
	return ConsentRequired, needs
}

// hashShown is how much of a keyed hash takes the place of what it is of: enough to tell two values apart.
const hashShown = 16

// Kept is a text as it may be kept: what nobody permitted is replaced, data of the low tier by its keyed hash, which tells equal values,
// and all else by the marker. hashes are those of the pieces, in their order, which is that of the text.
func Kept(text string, found []Piece, a Authority, marker string, hashes []string) string {
	var out strings.Builder
	at := 0
	for n, p := range found {
		if a.Permits(p.Tier) || p.Start < at || p.End > len(text) {
			continue
		}
		out.WriteString(text[at:p.Start])
		if p.Tier == personal.Low && n < len(hashes) && len(hashes[n]) >= hashShown {
			out.WriteString("[hash:" + hashes[n][:hashShown] + "]")
		} else {
			out.WriteString(marker)
		}
		at = p.End
	}
	out.WriteString(text[at:])
	return out.String()
}
