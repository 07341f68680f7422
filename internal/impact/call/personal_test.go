package call

import (
	"testing"
)

func TestPersonalTextIsAnAddressOrARecord(t *testing.T) {
	for _, text := range []string{"She lives at 12 Baker Street, London.", "Ship to 7 Elm Road please",
		"5th floor, 44 5th Avenue", `{"name": "Ann", "born": "1990"}`, "{'dna': 'AC'}"} {
		if !personalText(text) {
			t.Errorf("%q: taken for talk", text)
		}
	}
	for _, text := range []string{"It is a 2 hour drive from here.", "Meet at 10, the road is closed", "See you on Main Street",
		"I put 3 items on the drive", "Sprint 12 is done"} {
		if personalText(text) {
			t.Errorf("%q: taken for more than talk", text)
		}
	}
}
