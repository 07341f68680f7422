package tune

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/ruleset"
	"interlock/rules"
)

// TestLargeBudgets: a budget of which far less was ever reported is questioned, with the peak; one of three times the peak is not, and
// neither is one of which too little is known, or that counts for ever.
func TestLargeBudgets(t *testing.T) {
	set, err := ruleset.Load(rules.Defaults(), map[string][]byte{"team.yaml": []byte(`
budgets:
  - {id: team.large, per: agent, measure: tokens, most: 1000, within: 1h}
  - {id: team.fits, per: agent, measure: tokens, most: 300, within: 1h}
  - {id: team.total, per: agent, measure: tokens, most: 1000000}
`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, reports := range []int{largeReports - 1, largeReports} {
		peaks := budgetPeaks{}
		for n := range reports {
			var charged []interlock.Taken
			for _, b := range set.AllBudgets() {
				charged = append(charged, b.Taken(interlock.Requester{Agent: fmt.Sprint("a", n%2)}, &interlock.AgentRecord{}, 100))
			}
			peaks.observe(int64(n/2)*int64(time.Hour), charged)
		}
		problems := peaks.large(set)
		if want := reports >= largeReports; len(problems) == 1 != want {
			t.Fatalf("%d reports: %+v", reports, problems)
		}
		for _, p := range problems {
			if p.Rule != "team.large" || !strings.Contains(p.Message, "lets 1000 be used, and the most that was within 1h0m0s is 100, in 20 reports") {
				t.Errorf("%+v", p)
			}
		}
	}
}
