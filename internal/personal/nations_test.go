package personal_test

import (
	"strings"
	"testing"

	"interlock/internal/personal"
)

func kinds(text string) string {
	var got []string
	for _, s := range personal.Find(text) {
		got = append(got, s.Kind+":"+text[s.Start:s.End])
	}
	return strings.Join(got, " ")
}

// TestNumbersOfNations tries each kind on a number that its issuer or the documents about it give as an example, behind a word of
// its country, and on the same number with another check digit.
func TestNumbersOfNations(t *testing.T) {
	for _, test := range []struct{ kind, before, right, wrong string }{
		{"ie-pps", "PPS", "1234567T", "1234567U"},
		{"ie-pps", "PPS", "1234567FA", "1234567GA"},
		{"at-insurance", "SVNR", "1237 010180", "1236 010180"},
		{"cz-id", "rodné číslo", "710319/2745", "710319/2746"},
		{"ru-snils", "СНИЛС", "112-233-445 95", "112-233-445 96"},
		{"ru-inn", "ИНН", "500100732259", "500100732258"},
		{"ru-firm", "ИНН", "7707083893", "7707083894"},
		{"ar-cuit", "CUIT", "20-05536168-2", "20-05536168-3"},
		{"cl-rut", "RUT", "12.531.909-2", "12.531.909-3"},
		{"cl-rut", "RUT", "76086428-5", "76086428-6"},
		{"jp-my-number", "マイナンバー", "1234 5678 9018", "1234 5678 9019"},
		{"hu-taj", "TAJ", "111 111 110", "111 111 112"},
		{"hu-tax", "adóazonosító", "8071592153", "8071592154"},
		{"ro-cnp", "CNP", "1630615123457", "1630615123458"},
		{"bg-id", "ЕГН", "7523169263", "7523169264"},
		{"ee-lt-id", "isikukood", "37605030299", "37605030298"},
		{"ee-lt-id", "asmens kodas", "38703181745", "38703181746"},
		{"lv-id", "Latvian", "161175-19997", "161175-19998"},
		{"gr-amka", "ΑΜΚΑ", "01013099997", "01013099998"},
		{"gr-afm", "ΑΦΜ", "094259216", "094259217"},
		{"jmbg", "EMŠO", "0101006500006", "0101006500007"},
		{"mt-id", "national identity", "1234567M", "1234567C"},
		{"cy-tax", "tax", "00123123T", "00123123U"},
		{"uk-utr", "UTR", "1955839661", "1955839662"},
		{"ua-tax", "ИПН", "1759013776", "1759013777"},
		{"mx-rfc", "RFC", "GODE561231GR8", "GODE561231GR9"},
		{"is-id", "kennitala", "120174-3399", "120174-3389"},
		{"tw-id", "身分證", "A123456789", "A123456788"},
		{"hk-id", "HKID", "A1234563", "A1234564"},
		{"my-id", "MyKad", "770305-02-1234", "771305-02-1234"},
		{"pk-id", "CNIC", "42201-0397640-8", "82201-0397640-8"},
		{"ae-id", "Emirates", "784-1984-1234567-4", "784-1984-1234567-5"},
		{"br-firm", "CNPJ", "16.727.230/0001-97", "16.727.230/0001-98"},
		{"pl-firm", "NIP", "856-734-62-15", "856-734-62-16"},
		{"fr-firm", "SIRET", "732 829 320 00074", "732 829 320 00075"},
		{"pl-id-card", "dowód", "ABA 300000", "ABA 300001"},
		{"ar-dni", "DNI", "12.345.678", "11.111.111"},
	} {
		if got, want := kinds(test.before+" "+test.right+" ok"), test.kind+":"+test.right; got != want {
			t.Errorf("%s %s: got %q, want %q", test.before, test.right, got, want)
		}
		if got := kinds(test.before + " " + test.wrong + " ok"); strings.Contains(got, test.kind) {
			t.Errorf("%s %s: got %q", test.before, test.wrong, got)
		}
	}
}

// TestWordsOfManyLanguages finds what only a word beside it tells, in each of the languages that this is promised for, and not
// behind a word that tells nothing.
func TestWordsOfManyLanguages(t *testing.T) {
	for _, word := range []string{"phone", "Telefon", "téléphone", "TELÉFONO", "cellulare", "telemóvel", "telefoonnummer", "telefonu",
		"телефона", "Телефон", "電話番号は", "手机号码：", "फ़ोन", "هاتف", "전화번호:"} {
		if got, want := kinds(word+" 5312345678, ok"), "phone:5312345678"; got != want {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
	}
	for _, word := range []string{"born", "geboren am", "né le", "nacido el", "nato il", "nascido em", "geboortedatum", "data urodzenia",
		"дата рождения", "生年月日", "出生日期:", "जन्म", "تاريخ الميلاد"} {
		if got, want := kinds(word+" 03.04.1985, ok"), "birth-date:03.04.1985"; got != want {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
	}
	for _, word := range []string{"order", "Bestellung", "commande", "заказ", "注文", "订单", "ऑर्डर", "طلب"} {
		if got := kinds(word + " 5312345678 03.04.1985, ok"); got != "" {
			t.Errorf("%s: got %q", word, got)
		}
	}
}

// TestOverlaps: what a checksum proves is cut whole, and no part of it, nor of a card with a slip in it, is a telephone number.
func TestOverlaps(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"phone or card 4111 1111 1111 1111, ok", "card:4111 1111 1111 1111"},
		{"my phone, then 4012 8888 8888 1882", ""},
		{"phone or CPF: 1 529.982.247-25", "br-cpf:529.982.247-25"},
		{"call 415-555-0132 94105", "phone:415-555-0132"},
		{"phone 030 4012888888881881", "card:4012888888881881"},
		{"tel. 0151 23476789, IBAN DE89 3704 0044 0532 0130 00", "phone:0151 23476789 iban:DE89 3704 0044 0532 0130 00"},
	} {
		if got := kinds(test.text); got != test.want {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
	}
}

// TestPhonesAsAtHome has numbers as they are written in their countries, without a word, and figures that are grouped otherwise.
func TestPhonesAsAtHome(t *testing.T) {
	for _, number := range []string{"138 2765 4310", "98765 43210", "333 1765432", "612 74 56 38", "91 123 45 67", "8 912 365-67-89",
		"(11) 91284-5678", "06 12 74 56 78", "0151 23476789", "090-1284-5678", "010-1284-5678", "0412 385 678", "0049 170 1284567",
		"1300 123 456"} {
		if got, want := kinds("so 1, "+number+", please"), "phone:"+number; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, text := range []string{"between 138 2765 431 and 12", "sizes 98765 4321", "12345 67890 items", "112 74 56 38 rows",
		"(11) 1234-567", "0000 1234 5678"} {
		if got := kinds(text); got != "" {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

// TestAddresses has streets of several countries, and the same words without what makes them one.
func TestAddresses(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"Ich wohne in der Hauptstraße 5, 10115 Berlin.", "Hauptstraße 5, 10115 Berlin"},
		{"Karl-Marx-Str. 12a, 12043 Berlin", "Karl-Marx-Str. 12a, 12043 Berlin"},
		{"Wir sind Am Rosenweg 7 zu finden", "Rosenweg 7"},
		{"Alexanderplatz 3, 10178 Berlin", "Alexanderplatz 3, 10178 Berlin"},
		{"J'habite 12 rue de la Paix, 75002 Paris", "12 rue de la Paix, 75002 Paris"},
		{"5 bis, avenue Victor Hugo à Lyon", "5 bis, avenue Victor Hugo"},
		{"vivo en Calle Mayor 15, 28013 Madrid", "Calle Mayor 15, 28013 Madrid"},
		{"abito in Via Roma 10, 00184 Roma", "Via Roma 10, 00184 Roma"},
		{"moro na Rua Augusta, 1500", "Rua Augusta, 1500"},
		{"Kerkstraat 12, 1017 GC Amsterdam", "Kerkstraat 12, 1017 GC Amsterdam"},
		{"mieszkam na ul. Marszałkowska 10/5, 00-590 Warszawa", "ul. Marszałkowska 10/5, 00-590 Warszawa"},
		{"живу: ул. Ленина, д. 5", "ул. Ленина, д. 5"},
		{"我住在朝阳区建国路88号。", "我住在朝阳区建国路88号"},
		{"東京都千代田区丸の内1-1-1です", "東京都千代田区丸の内1-1-1"},
		{"I live at 221 Baker Street, London", "221 Baker Street, London"},
	} {
		if got, want := kinds(test.text), "postal-address:"+test.want; got != want {
			t.Errorf("%q: got %q, want %q", test.text, got, want)
		}
	}
	for _, text := range []string{"Die Straße ist 5 km lang", "Tabellenplatz 3 ist gut", "Spring 5 and Blockade 3", "Abends 5 Uhr",
		"send it via Email 5 times", "5 via points", "12 rue words", "place 5 of 12", "on 3 routes", "Brigade 7", "这里有3号线", "на 5 улице",
		"он уснул. 5 часов", "build 12 place holders", "step 3 avenue"} {
		if got := kinds(text); got != "" {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

// TestDocumentedExamples: what documents use as examples, and machines that are nobody's, are let be; their neighbours are not.
func TestDocumentedExamples(t *testing.T) {
	for _, text := range []string{"mail noreply@example.com", "from ann@example.org", "bob@corp.test", "no-reply@shop.com", "git clone git@github.com:a/b.git",
		"ssh git@host.internal", "the net 10.0.0.0/8", "node 10.2.3.4:80", "172.16.0.0/12", "192.0.2.7", "198.51.100.3", "203.0.113.9", "192.168.0.0/16",
		"postgres://app:s3cret@db.firm.com/x"} {
		if got := kinds(text); got != "" {
			t.Errorf("%q: got %q", text, got)
		}
	}
	for _, text := range []string{"mail ann@example.company", "from ann@myexample.org", "digit@host.com", "node 11.2.3.4", "172.32.0.1", "192.0.3.7",
		"192.168.2.14/32", "mail to:ann@firm.com"} {
		if got := kinds(text); got == "" {
			t.Errorf("%q: nothing found", text)
		}
	}
}
