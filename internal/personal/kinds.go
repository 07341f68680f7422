package personal

// coded are the kinds that code finds instead of a form.
var coded = map[string]Tier{"bank-account": High, "iban": High, "medical-number": High, "birth-date": Medium, "email": Medium,
	"name": Medium, "phone": Medium, "postal-address": Medium, "profile": Medium, "wallet": Medium, "ip-address": Low, "mac-address": Low}

// Kinds are all that [Find] finds, each with its tier.
func Kinds() map[string]Tier {
	kinds := make(map[string]Tier, len(coded)+len(forms))
	for kind, tier := range coded { // order-independent: fills a map
		kinds[kind] = tier
	}
	for n := range forms {
		kinds[forms[n].kind] = forms[n].tier
	}
	return kinds
}
