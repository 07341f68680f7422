package ledger_test

import (
	"slices"
	"strings"
	"testing"

	"interlock/internal/ledger"
)

// readTogether are the refs by which decisions read all of one owner's, so that a row which was taken away is missed. Each line
// that is lost here, or in the table of kinds, lets somebody take rows away unnoticed.
var readTogether = []ledger.Ref{
	{Kind: ledger.Request, Mark: ledger.Of("builder", "pat")}, {Kind: ledger.Order, Mark: ledger.Of("builder", "pat")},
	{Kind: ledger.Order, Mark: ledger.RangesOf("clerk")}, {Kind: ledger.Order, Mark: ledger.Ordered("suppress")},
	{Kind: ledger.Challenge, Mark: ledger.Of("builder")}, {Kind: ledger.Operator, Mark: ledger.All},
	{Kind: ledger.Setting, Mark: ledger.All},
	{Kind: ledger.Candidate, Mark: ledger.All}, {Kind: ledger.Pin, Mark: ledger.Server("files")},
	{Kind: ledger.Hold, Mark: ledger.OverAll},
	{Kind: ledger.Hold, Mark: ledger.Over(ledger.HoldAgent, "builder")},
	{Kind: ledger.Rollback, Mark: ledger.RollbackNamed("rb_01")},
	{Kind: ledger.RollbackStep, Mark: ledger.RollbackSteps("rb_01")},
	{Kind: ledger.Consent, Mark: ledger.OfPerson("u-1")}, {Kind: ledger.Personal, Mark: ledger.OfPerson("u-1")},
	{Kind: ledger.Hold, Mark: ledger.MemoryHolds},
}

// Those whose owner only the row says: a ref by their key reads that row and proves it by itself.
var ownedByWhatTheySay = []string{ledger.Request, ledger.Order, ledger.Challenge, ledger.Consent, ledger.Personal}

// TestOwners: every kind that needs a proof says whose its rows are, by the row, by its key and by each mark, and says the same
// each time; what says nothing is refused.
func TestOwners(t *testing.T) {
	book := ledger.NewBook()
	for _, ref := range readTogether {
		if owner, err := book.OwnerOf(ref); err != nil || owner == "" {
			t.Errorf("%+v is not read whole: %q, %v", ref, owner, err)
		}
	}
	for name, sample := range samples(t) {
		row := sample.row
		owner, err := book.Owner(row)
		if err != nil || (owner != "") != book.Proved(row.Kind) {
			t.Errorf("%s: its owner is %q, %v", name, owner, err)
		}
		byKey, err := book.OwnerOf(ledger.Ref{Kind: row.Kind, Key: row.Key})
		said := slices.Contains(ownedByWhatTheySay, row.Kind)
		if err != nil || said != (byKey == "" && owner != "") || !said && byKey != owner {
			t.Errorf("%s: by its key its owner is %q, %v; it is %q", name, byKey, err, owner)
		}
		if !book.Proved(row.Kind) {
			continue
		}
		for _, mark := range sample.marks {
			byMark, err := book.OwnerOf(ledger.Ref{Kind: row.Kind, Mark: mark})
			if err != nil || byMark != "" && byMark != owner {
				t.Errorf("%s: by its mark %q its owner is %q, %v; it is %q", name, strings.ReplaceAll(mark, "\x00", "/"), byMark, err, owner)
			}
		}
		if _, err := book.OwnerOf(ledger.Ref{Kind: row.Kind, Mark: "a mark that nobody has"}); err == nil {
			t.Errorf("%s is believed under a mark of which nothing is said", name)
		}
	}
	for _, ref := range []ledger.Ref{{Kind: "a kind that nobody knows", Key: "k"},
		{Kind: "a kind that nobody knows", Mark: ledger.All}} {
		if owner, err := book.OwnerOf(ref); err == nil {
			t.Errorf("%+v is believed as of %q", ref, owner)
		}
	}
	if owner, err := book.Owner(ledger.Row{Kind: "a kind that nobody knows", Key: "k", Body: []byte("{}")}); err == nil {
		t.Errorf("an unknown row is believed as of %q", owner)
	}
}
