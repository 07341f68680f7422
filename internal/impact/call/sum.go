package call

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
)

// maxSum is the largest amount of money that is taken for one, in whole units.
const maxSum = 1e13

// A sum is what the arguments of a call say of money: amounts by the name of the argument, and currencies.
type sum struct {
	by       map[string]float64 // of one name all together, as where a list of payments is given
	currency string
	wrong    bool // no amount of money is like this: negative, beyond all there is, or in two currencies
}

// add takes an amount that an argument gives. What is no number says nothing.
func (s *sum) add(key, number string) {
	value, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil && !math.IsInf(value, 0), math.IsNaN(value):
		return
	case value < 0 || value > maxSum:
		s.wrong = true
		return
	}
	if s.by == nil {
		s.by = map[string]float64{}
	}
	s.by[key] += value
	s.wrong = s.wrong || s.by[key] > maxSum
}

// text takes an amount or a currency that is given as a text: "12.50", "12.50 EUR" or, by a name that says so, "EUR".
func (s *sum) text(key, role, text string) {
	switch {
	case len(text) > 40:
	case role == "amount":
		for _, word := range strings.Fields(text) {
			if _, known := interlock.MinorUnits(strings.ToUpper(word)); known {
				s.in(word)
				continue
			}
			s.add(key, strings.ReplaceAll(word, ",", ""))
		}
	case key == "currency", key == "currencycode", key == "currencyiso", key == "ccy", key == "paymentcurrency":
		s.in(text)
	}
}

// in takes note of a currency.
func (s *sum) in(name string) {
	name = strings.ToUpper(strings.TrimSpace(name))
	_, known := interlock.MinorUnits(name)
	s.wrong = s.wrong || !known && name != "" || s.currency != "" && s.currency != name
	if known {
		s.currency = name
	}
}

// minor is how much it is in the smallest unit of the currency, or in hundredths where none is named; 0 is not known. Of several
// amounts, such as a price and a total, the largest counts.
func (s *sum) minor() int64 {
	places, known := interlock.MinorUnits(s.currency)
	if !known {
		places = 2
	}
	most := 0.0
	for _, key := range slices.Sorted(maps.Keys(s.by)) {
		most = max(most, s.by[key])
	}
	if most == 0 || most > maxSum {
		return 0
	}
	return max(int64(most*math.Pow10(places)+0.5), 1)
}

// spend says how much an impact commits.
func (s *sum) spend(i *interlock.Impact) {
	i.Money = s.minor()
	if i.Money > 0 {
		i.Currency = s.currency
	}
	if s.wrong {
		i.Money, i.Currency = 0, ""
		i.Traits = append(slices.Clone(i.Traits), fact.TraitWrongSum)
	}
}

// addressed counts the people or places that a text names.
func addressed(text string) int64 {
	n := int64(0)
	for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ',' || c == ';' }) {
		if strings.TrimSpace(part) != "" {
			n++
		}
	}
	return n
}
