package personal

import "sync"

// A topic is what a word says of the number beside it. Topics are sets.
type topic uint32

const (
	ofPhone topic = 1 << iota
	ofCard
	ofBank
	ofNation
	ofTax
	ofPassport
	ofDriving
	ofHealth
	ofBirth
	ofVehicle
	ofFirm
	ofPost
	ofWallet
	ofNumber // a number of something
	ofMachine
	ofPerson
)

// told words, by what they say.
var topicWords = sync.OnceValue(topicTable)

func topicTable() map[string]topic {
	out := make(map[string]topic, 256)
	for _, row := range [...]struct {
		of    topic
		words []string
	}{
		{ofPhone, []string{"phone", "phones", "telephone", "tel", "mobile", "cell", "cellphone", "call", "fax", "whatsapp", "sms",
			"telefon", "handy", "mobil", "telefono", "teléfono", "téléphone", "dial", "hotline", "portable", "móvil", "numaram",
			"電話", "电话", "手机", "전화", "telefonnummer", "rufnummer"}},
		{ofCard, []string{"card", "cards", "visa", "mastercard", "amex", "credit", "debit", "cc", "discover", "maestro", "karte",
			"kreditkarte", "carte", "tarjeta", "carta", "pan"}},
		{ofBank, []string{"account", "acct", "bank", "iban", "routing", "aba", "konto", "kontonummer", "bic", "swift", "rtn",
			"checking", "savings", "cuenta", "compte", "conto", "sort"}},
		{ofNation, []string{"ssn", "social", "sin", "nino", "insurance", "national", "identity", "identification", "personnummer",
			"pesel", "cpf", "rrn", "frn", "aadhaar", "aadhar", "uid", "dni", "nie", "nif", "nir", "cnp", "bsn", "hetu", "cpr",
			"henkilötunnus", "citizen", "resident", "rut", "curp", "nric", "fin", "ausweis", "personalausweis", "kimlik",
			"身份证", "身份證", "마이넘버", "주민등록번호", "เลขบัตรประชาชน", "tc", "ahv", "nin", "voter", "burgerservicenummer",
			"identidad", "identité", "fiscale", "codice", "ssns", "egn", "oib", "jmbg", "identitätsnummer", "extranjero",
			// "id" alone names everything that a machine counts
			"thai", "african", "belgian", "polish", "turkish", "korean", "chinese", "swedish", "danish", "finnish", "norwegian",
			"brazilian", "israeli", "dutch", "spanish", "french", "swiss", "croatian"}},
		{ofTax, []string{"tax", "tin", "itin", "tfn", "vat", "steuer", "utr", "gst", "gstin", "steuernummer", "steuerid", "ust",
			"idnr", "pan", "ein", "iva", "nip", "nr", "partita", "bir", "steueridentifikationsnummer"}},
		{ofPassport, []string{"passport", "passports", "pasaporte", "reisepass", "passeport", "passaporto", "여권", "パスポート",
			"护照", "paspoort", "pass"}},
		{ofDriving, []string{"driver", "drivers", "driver's", "driving", "licence", "license", "führerschein",
			"führerscheinnummer", "permis", "patente", "dl", "운전면허"}},
		{ofHealth, []string{"patient", "medical", "mrn", "medicare", "npi", "nhs", "health", "insurance", "member", "policy",
			"mbi", "dea", "hospital", "lanr", "bsnr", "prescription", "krankenkasse", "versicherungsnummer", "kvnr", "praxis",
			"betriebsstättennummer", "medicaid", "chart", "diagnosis", "arztnummer", "versichertennummer"}},
		{ofBirth, []string{"born", "birth", "dob", "birthday", "birthdate", "geboren", "geburtsdatum", "né", "née", "nacimiento",
			"nato", "nata", "geburtstag", "naissance", "nacido", "nascita"}},
		{ofVehicle, []string{"plate", "plates", "vehicle", "registration", "kennzeichen", "plaka", "bike", "bike's", "car",
			"car's", "matrícula", "immatriculation", "targa", "reg"}},
		{ofFirm, []string{"company", "abn", "acn", "business", "brn", "uen", "amtsgericht", "handelsregister", "firm", "cnpj",
			"siret", "siren", "organisationsnummer", "handelsregisternummer", "crn", "hrb", "hra", "eingetragen"}},
		{ofPost, []string{"zip", "zipcode", "postcode", "postal", "plz", "postleitzahl", "cap"}},
		{ofWallet, []string{"wallet", "bitcoin", "btc", "ethereum", "eth", "crypto", "coin"}},
		{ofNumber, []string{"number", "numbers", "no", "num", "id", "nummer", "numero", "número", "numéro"}},
		{ofMachine, []string{"ip", "ipv", "address", "mac", "host", "unspecified", "server", "ethernet"}},
		{ofPerson, []string{"name", "names", "patient", "customer", "client", "employee", "mr", "mrs", "ms", "dr"}},
	} {
		for _, word := range row.words {
			out[word] |= row.of
		}
	}
	return out
}

// The bytes before and behind a number in which a word for it is looked for.
const (
	contextBefore = 64
	contextBehind = 32
)

// topics is what the words close to a place say.
func (f *finder) topics(start, end int) topic {
	return wordTopics(f.text[max(0, start-contextBefore):start]) |
		wordTopics(f.text[end:min(len(f.text), end+contextBehind)])
}

func wordTopics(text string) (all topic) {
	var word [40]byte
	for i := 0; i < len(text); {
		n := 0
		for i < len(text) && (letter(text[i]) || text[i] >= 0x80 || text[i] == '\'' && n > 0) {
			if n < len(word) {
				word[n] = lower(text[i])
				n++
			}
			// "accountNumber" is two words
			if i++; i < len(text) && text[i] >= 'A' && text[i] <= 'Z' && text[i-1] >= 'a' && text[i-1] <= 'z' {
				break
			}
		}
		if n == 0 {
			i++
			continue
		}
		all |= topicWords()[string(word[:n])]
	}
	return all
}
