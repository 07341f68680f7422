package interlock

import (
	"strconv"
	"strings"
)

// MinorUnits returns how many decimal places an ISO 4217 currency has, and whether it is one that is in use. Amounts of money
// are whole numbers of its smallest unit, so that adding them up loses nothing.
func MinorUnits(currency string) (places int, known bool) {
	if len(currency) != 3 || strings.ContainsAny(currency, " ,") {
		return 0, false
	}
	for places, codes := range [...]string{
		0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
		2: "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP " +
			"CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR " +
			"KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN " +
			"PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD " +
			"TZS UAH USD UYU UZS VES WST XCD XCG YER ZAR ZMW ZWG",
		3: "BHD IQD JOD KWD LYD OMR TND",
		4: "CLF UYW",
	} {
		if strings.Contains(codes, currency) {
			return places, true
		}
	}
	return 0, false
}

// Money writes an amount in the smallest unit of a currency for people: "12.50 EUR". Without a currency it is hundredths of something.
func Money(minor int64, currency string) string {
	places, known := MinorUnits(currency)
	if !known {
		places = 2
	}
	text, sign := strconv.FormatInt(minor, 10), ""
	if strings.HasPrefix(text, "-") {
		text, sign = text[1:], "-"
	}
	if places > 0 {
		text = strings.Repeat("0", max(places+1-len(text), 0)) + text
		text = text[:len(text)-places] + "." + text[len(text)-places:]
	}
	return strings.TrimSuffix(sign+text+" "+currency, " ")
}
