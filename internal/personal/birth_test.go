package personal_test

import (
	"testing"

	"interlock/internal/personal"
)

// TestBirths: days of birth are found as people write them in several languages, where a word says that they are, and addresses of persons'
// pages; other dates and addresses are let be.
func TestBirths(t *testing.T) {
	for _, test := range []struct{ text, found string }{
		{"born on March 12, 1984", "March 12, 1984"}, {"Born: 12-Mar-1984", "12-Mar-1984"}, {"DOB: 1984-03-12T00:00:00Z", "1984-03-12"},
		{"date of birth: 12th of March 1984", "12th of March 1984"}, {"née le 12 mars 1984", "12 mars 1984"},
		{"nacido el 12 de marzo de 1984", "12 de marzo de 1984"}, {"geboren am 12. März 1984", "12. März 1984"},
		{"Ann, 12.3.1984 geboren", "12.3.1984"}, {"生年月日：1984年3月12日", "1984年3月12日"}, {"1984年3月12日出生", "1984年3月12日"},
		{"생년월일 1984년 3월 12일", "1984년 3월 12일"}, {"nascido em 12 de março de 1984", "12 de março de 1984"},
		{"geboren op 12 maart 1984", "12 maart 1984"}, {"urodzona 12 marca 1984", "12 marca 1984"}, {"родилась 12 марта 1984 года", "12 марта 1984"},
		{"Her birthday is the 12th of March, 1984.", "12th of March, 1984"}, {"DOB: 19840312", "19840312"},
		{`{"birthDate":"1984-03-12"}`, "1984-03-12"},
		{"see https://www.linkedin.com/in/ann-smith-123.", "linkedin.com/in/ann-smith-123"},
		{"https://www.facebook.com/profile.php?id=100012345&x", "facebook.com/profile.php?id=100012345"},
		{"https://wa.me/4915112345678", "wa.me/4915112345678"},
	} {
		got := personal.Find(test.text)
		if len(got) != 1 || test.text[got[0].Start:got[0].End] != test.found {
			t.Errorf("%q: %+v", test.text, got)
		}
	}
	for _, text := range []string{
		"Today is March 12, 1984", "12 March 1984 was a Monday", "birth rate in 1984: 12", "the building of 12 March 1984", "version 12.03.84",
		"geboren wird am Ende", "born in the USA in 1984", "born 12 markets", "born on March 12, 19845", "build 19840312", "1984年3月12日",
		"https://www.linkedin.com/company/acme", "https://facebook.com/acme", "https://www.linkedin.com/in/", "https://wa.me/settings",
	} {
		if got := personal.Find(text); len(got) > 0 {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
