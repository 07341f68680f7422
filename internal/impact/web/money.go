package web

import (
	"slices"
	"strings"

	"interlock/internal/impact/place"
)

// What the path of an interface calls the movement of money. Where a request that changes something goes to such a path, it pays,
// takes back or promises something.
var paymentPaths = []string{"charge", "charges", "payment", "payments", "payout", "payouts", "refund", "refunds", "withdraw",
	"withdrawal", "withdrawals", "checkout",
	"purchase", "purchases", "transfer", "transfers", "donation", "donations", "remittance", "remittances", "disbursement",
	"disbursements", "topup", "topups",
	"pay", "buy", "wire", "wires", "subscription", "subscriptions"}

// lookingPaths end the path of a request that asks something or is told something, whatever comes before.
var lookingPaths = []string{"search", "query", "list", "lookup", "validate", "verify", "estimate", "quote", "quotes", "preview",
	"webhook", "webhooks", "test", "simulate", "status",
	"export", "report", "reports", "methods"}

// Pays reports whether a request that changes something moves money: it goes where payments are made, or carries a
// sum and who gets it.
func Pays(url, body string) bool {
	url = url[:min(len(url), maxLocator)]
	host := strings.ToLower(place.HostOf(url))
	for label := range strings.SplitSeq(host, ".") {
		if label == "sandbox" || label == "mock" || strings.HasPrefix(label, "sandbox-") || strings.HasSuffix(label, "-sandbox") {
			return false
		}
	}
	words := strings.FieldsFunc(strings.ToLower(pathOf(url)), func(c rune) bool { return strings.ContainsRune("/_-.:", c) })
	if len(words) > 0 && slices.Contains(lookingPaths, words[len(words)-1]) {
		return false
	}
	for _, word := range words {
		if slices.Contains(paymentPaths, word) {
			return true
		}
	}
	return paysByBody(body, slices.Contains(words, "transaction") || slices.Contains(words, "transactions") ||
		slices.Contains(words, "orders"))
}

// paysByBody reports whether a body says how much and to whom, or is a mutation of a graph that pays.
func paysByBody(body string, ledger bool) bool {
	if len(body) > 64<<10 {
		body = body[:64<<10]
	}
	low := strings.ToLower(body)
	keys := strings.FieldsFunc(low, func(c rune) bool { return c != '_' && (c < 'a' || c > 'z') })
	if slices.Contains(keys, "mutation") {
		for _, verb := range [...]string{"payment", "payout", "charge", "refund", "transfer", "withdraw",
			"purchase", "checkout"} {
			if strings.Contains(low, verb) {
				return true
			}
		}
	}
	sum := slices.ContainsFunc(keys, func(k string) bool { return k == "amount" || k == "amount_cents" || k == "total_amount" })
	return sum && ledger || sum && slices.ContainsFunc(keys, func(k string) bool {
		switch k {
		case "iban", "bic", "recipient", "beneficiary", "payee", "card", "card_number", "creditor", "destination", "currency",
			"account_number", "to_account", "to", "wallet":
			return true
		}
		return false
	})
}
