package personal_test

import (
	"strings"
	"testing"

	"interlock/internal/personal"
)

// TestFind tries each kind on a number that is one and on one that differs by a digit, a word or its neighbours. The numbers are
// those that issuers publish as examples, or made up with a right check digit.
func TestFind(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"pay with 4012 8888 8888 1881.", "card:4012 8888 8888 1881"},
		{"pay with 4012 8888 8888 1882.", ""},
		{"at 3714-496353-98431", "card:3714-496353-98431"},
		{"build 4012888888881881-alpha", ""},
		{"ratio 0.4012888888881881", ""},
		{"IBAN GB82 WEST 1234 5698 7654 32, thanks", "iban:GB82 WEST 1234 5698 7654 32"},
		{"IBAN GB82 WEST 1234 5698 7654 33, thanks", ""},
		{"SSN 536-22-8741", "us-ssn:536-22-8741"},
		{"SSN 666-22-8741", ""},
		{"part 536.22.8741 of it", ""},
		{"my SIN is 130 692 544", "ca-sin:130 692 544"},
		{"NI number AB 12 34 56 C", "uk-nino:AB 12 34 56 C"},
		{"DNI 12345678-Z", "es-dni:12345678-Z"},
		{"DNI 12345678-A", ""},
		{"cf RSSMRA85T10A562S", "it-fiscal-code:RSSMRA85T10A562S"},
		{"BSN 111222333", "nl-bsn:111222333"},
		{"Registre national 85.07.30-033.28", "be-id:85.07.30-033.28"},
		{"Steuer-ID 86 095 742 719", "de-tax-id:86 095 742 719"},
		{"CPF 529.982.247-25", "br-cpf:529.982.247-25"},
		{"CPF 529.982.247-26", ""},
		{"Aadhaar 3998 7654 3211", "in-aadhaar:3998 7654 3211"},
		{"HETU 131052-308T", "fi-id:131052-308T"},
		{"身份证 11010519491231002X", "cn-id:11010519491231002X"},
		{"PESEL 44051401458", "pl-pesel:44051401458"},
		{"PESEL 44051401459", ""},
		{"order 44051401458", ""},
		{"NIR 2 55 08 14 168 025 38", "fr-nir:2 55 08 14 168 025 38"},
		{"AHV 756.9217.0769.85", "ch-ahv:756.9217.0769.85"},
		{"passport number: X1234567", "passport:X1234567"},
		{"NHS number 943 476 5919", "uk-nhs:943 476 5919"},
		{"patient number 84210077", "medical-number:84210077"},
		{"account number 0011223344", "bank-account:0011223344"},
		{"routing 121042882", "us-routing:121042882"},
		{"call (415) 555-0132 now", "phone:(415) 555-0132"},
		{"call +44 20 7946 0958 x 12", "phone:+44 20 7946 0958 x 12"},
		{"1 + 49 = 50, and +12 degrees", ""},
		{"on 2024-03-15 at 14:30:05", ""},
		{"from 01.02.2024 to 03.04.2024", ""},
		{"mail ann.lee+x@mail.example.com, please", "email:ann.lee+x@mail.example.com"},
		{"icon@2x.png and @app.route and git@github", ""},
		{"host 192.168.2.14:80", "ip-address:192.168.2.14"},
		{"version 10.0.19041.1, 1.2.3.4.5, 300.1.1.1", ""},
		{"at fe80::1 or so", "ip-address:fe80::1"},
		{"std::vector and 12:30:45 and a::b", ""},
		{"card 00:1A:2B:3C:4D:5E there", "mac-address:00:1A:2B:3C:4D:5E"},
		{"I live at 221 Baker Street, London", "postal-address:221 Baker Street, London"},
		{"the 3 Main Roads of it", ""},
		{"born on 12 March 1984", "birth-date:12 March 1984"},
		{"made on 12 March 1984", ""},
		{"My name is Ann Lee, hello", "name:Ann Lee"},
		{"my name is on it", ""},
		{"wallet 1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "wallet:1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"},
		{"wallet 1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3", ""},
		{"commit 4f8a9c2e7b1d6053aa91 and 3f2504e0-4f89-11d3-9a0c-0305e82c3301", ""},
		{"Send it to SW1A 1AA, the postcode", "postcode:SW1A 1AA"},
	} {
		var got []string
		for _, s := range personal.Find(test.text) {
			got = append(got, s.Kind+":"+test.text[s.Start:s.End])
			if personal.Kinds()[s.Kind] != s.Tier {
				t.Errorf("%q: %s is of the %s tier, and the list of kinds has %q", test.text, s.Kind, s.Tier, personal.Kinds()[s.Kind])
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
	}
}

// FuzzFind: spans lie in the text, in order and apart, and have a kind and a tier; finding twice finds the same.
func FuzzFind(f *testing.F) {
	for _, seed := range []string{"", "4012 8888 8888 1881", "+44 (20) 7946-0958 ext. 5", "a@b.co", "::", "fe80::1%eth0", "(((((1)))))",
		"1-1-1-1-1-1-1-1-1-1-1-1-1-1-1-1-1-1-1", "GB82 WEST 1234 5698 7654 32", "1.1.1.1.1.1", "221 Baker Street", "aabb.ccdd.eeff",
		"\xff\xfe@\xff.\xff", "born 1 May 1", "x 1", "0x", "1 x", "(0)900-1 123123"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spans := personal.Find(text)
		end := 0
		for _, s := range spans {
			if s.Start < end || s.End <= s.Start || s.End > len(text) || s.Kind == "" || s.Tier == "" {
				t.Fatalf("%q: %+v behind %d", text, s, end)
			}
			end = s.End
		}
		again := personal.Find(text)
		if len(again) != len(spans) {
			t.Fatalf("%q: %v, then %v", text, spans, again)
		}
	})
}
