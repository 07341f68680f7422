package web_test

import (
	"slices"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/impacttest"
)

// TestRequestsThatPay holds every client to the same: what goes where payments are made spends money, whoever sends it.
func TestRequestsThatPay(t *testing.T) {
	spends := func(input string, kind interlock.Kind) bool {
		found := impact.NewAnalyser(impacttest.Knowledge(t)).Analyse(impacttest.Where, impacttest.Source(kind, input)).Impacts
		return slices.ContainsFunc(found, func(i interlock.Impact) bool { return i.Kind == interlock.ImpactSpend })
	}
	for _, command := range []string{
		"curl -X POST https://api.bank.example/v1/charges -d amount=5",
		"curl --data-raw '{\"amount\": 5, \"iban\": \"DE1\"}' https://api.bank.example/v1/x",
		"curl -X POST 'https://api.bank.example/v1/charges?x=" + strings.Repeat("a", 5000) + "'",
		"wget --post-data amount=5 https://api.bank.example/v1/payouts",
		"http https://api.bank.example/v1/refunds id=1",
		"xh post https://api.bank.example/v1/transfers amount=5",
		"curlie POST https://api.bank.example/v1/payments amount=5",
		`python3 -c "import requests; requests.post('https://api.bank.example/v1/payments', json={'amount': 5})"`,
		`node -e "fetch('https://api.bank.example/v1/payments', {method: 'POST', body: 'amount=5'})"`,
	} {
		if !spends(command, interlock.KindShell) {
			t.Errorf("%s: no money is seen to go", command)
		}
	}
	for _, command := range []string{
		"curl https://api.bank.example/v1/charges",
		"curl -X POST http://localhost:3000/v1/charges -d amount=5",
		"curl -X POST https://api.bank.example/v1/charges/search -d q=a",
		"curl -X POST https://api.sandbox.bank.example/v1/charges -d amount=5",
		"http GET https://api.bank.example/v1/charges",
		"http POST https://api.example.com/users name=a",
		"wget https://bank.example/payments.html",
	} {
		if spends(command, interlock.KindShell) {
			t.Errorf("%s: taken for money that goes", command)
		}
	}
}
