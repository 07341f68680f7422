package personal

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

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
	ofDocument // a document that says who somebody is, in the words of Latin America
)

// telling are words, in small letters, by what they say of a number beside them. They are those of English, German, French,
// Spanish, Italian, Portuguese, Dutch, Polish, Russian, Japanese, Chinese, Hindi and Arabic, and of other countries' own numbers.
// Accents are left out where a word is read without them too (package classify reads both); endings that inflect words of other
// alphabets are cut off by wordTopic.
var telling = [...]struct {
	of    topic
	words string
}{
	{ofPhone, "phone phones telephone tel mobile cell cellphone call fax whatsapp sms dial hotline landline phonenumber telefon handy mobil " +
		"telefonnummer rufnummer handynummer mobilnummer festnetz festnetznummer anrufen fon durchwahl mobiltelefon telefono teléfono " +
		"téléphone portable appelez appeler móvil movil celular llamame llámame llamar cellulare chiamami chiamare recapito telefone " +
		"telemovel telemóvel ligue telefoon telefoonnummer mobiel mobieltje gsm telefonu telefoniczny komorkowy komórkowy komórka komorka " +
		"zadzwoń zadzwon tlf numaram телефон тел моб мобильн сотов звоните позвоните звони позвони फ़ोन फोन मोबाइल दूरभाष कॉल " +
		"هاتف الهاتف هاتفي جوال الجوال جوالي موبايل تلفون محمول المحمول اتصل نייד טלפון"},
	{ofCard, "card cards visa mastercard amex credit debit cc discover maestro karte kreditkarte kreditkartennummer kartennummer carte " +
		"bancaire tarjeta tarjetas carta cartao cartão creditcard kaartnummer karta karty kart карт кредитн कार्ड क्रेडिट بطاقة البطاقة ائتمان pan"},
	{ofBank, "account acct bank iban routing aba konto kontonummer bankverbindung bankkonto bic swift rtn checking savings cuenta compte " +
		"conto conta bancaria rekening rekeningnummer konta rachunek rachunku sort счет счёт расчетн банк खाता खाते حساب الحساب حسابي"},
	{ofNation, "ssn ssns social sin nino insurance national identity identification personnummer pesel cpf rrn frn aadhaar aadhar uid dni nie " +
		"nif nir cnp bsn hetu cpr henkilötunnus henkilotunnus citizen resident rut curp nric fin ausweis personalausweis ausweisnummer kimlik " +
		"tc ahv nin voter burgerservicenummer identidad identité identite identidade identita identiteit identiteitskaart fiscale codice " +
		"egn oib jmbg emso emšo identitätsnummer extranjero pps ppsn svnr sozialversicherungsnummer sozialversicherung rodné rodne rodneho " +
		"snils cuit cuil mynumber taj amka isikukood asmens kods kennitala matricule hkid mykad cnic emirates nik ktp securite sécurité " +
		"sociale rijksregisternummer rijksregister niss insz tożsamości tozsamosci dowod dowód dowodu contribuinte снилс егн αμκα आधार पहचान " +
		"هوية الهوية الإقامة " +
		// "id" alone names everything that a machine counts
		"thai african belgian polish turkish korean chinese swedish danish finnish norwegian brazilian israeli dutch spanish french swiss " +
		"croatian irish austrian czech slovak russian hungarian romanian bulgarian estonian latvian lithuanian greek"},
	{ofTax, "tax tin itin tfn vat steuer utr gst gstin steuernummer steuerid ust idnr pan ein iva nip nr partita bir " +
		"steueridentifikationsnummer steueridentnummer rfc cuit cuil rut inn ruc fiscal contribuinte contribuyente impuestos impots impôts " +
		"belasting btw podatkowy podatnika αφμ afm adóazonosító adoazonosito adóazonosítója adószám adoszam инн иннл налог ипн टैक्स ضريبي الضريبي"},
	{ofPassport, "passport passports pasaporte reisepass reisepassnummer passeport passaporto passaporte paspoort paszport paszportu pass " +
		"pasaport паспорт पासपोर्ट जवाज جواز الجواز"},
	{ofDriving, "driver drivers driver's driving licence license führerschein führerscheinnummer fuhrerschein fuhrerscheinnummer permis conduire " +
		"patente conducir conduccion condução conducao habilitação habilitacao rijbewijs rijbewijsnummer jazdy dl водительск लाइसेंस رخصة القيادة"},
	{ofHealth, "patient medical mrn medicare npi nhs health insurance member policy mbi dea hospital lanr bsnr prescription krankenkasse " +
		"krankenversicherung krankenversichertennummer versicherungsnummer kvnr praxis betriebsstättennummer medicaid chart diagnosis arztnummer " +
		"versichertennummer patientennummer paciente paziente sanitaria mutuelle patiente pacjent pacjenta пациент полис омс मरीज रोगी مريض المريض"},
	{ofBirth, "born birth dob birthday birthdate geboren geburtsdatum né née nacimiento nato nata geburtstag naissance nacido nacida nascita geb " +
		"geboortedatum nascimento nascido nascida urodzenia urodzony urodzona fødselsdato fodelsedatum narozeni narození doğum dogum рожден " +
		"родился родилась जन्म जन्मतिथि ميلاد الميلاد مواليد"},
	{ofVehicle, "plate plates vehicle registration kennzeichen plaka bike bike's car car's matrícula matricula immatriculation targa reg " +
		"nummerschild autokennzeichen placa placas kenteken rejestracyjny rejestracyjna госномер لوحة"},
	{ofFirm, "company abn acn business brn uen amtsgericht handelsregister firm cnpj siret siren organisationsnummer handelsregisternummer crn " +
		"hrb hra eingetragen kvk огрн"},
	{ofPost, "zip zipcode postcode postal plz postleitzahl cap pincode cep pocztowy индекс почтов पिनकोड البريدي"},
	{ofWallet, "wallet bitcoin btc ethereum eth crypto coin"},
	{ofNumber, "number numbers no num id nummer numero número numéro numer numeru numara номер नंबर संख्या رقم"},
	{ofMachine, "ip ipv address mac host unspecified server ethernet"},
	{ofPerson, "name names patient customer client employee mr mrs ms dr herr frau monsieur madame senor señor senora señora nombre nome naam " +
		"cliente kunde klant klient имя фио नाम اسم الاسم"},
	{ofDocument, "dni cedula cédula documento identidad ciudadania ciudadanía"},
}

// written are words of scripts that put no blanks between words, or that hang endings on them; they are looked for inside others.
var written = [...]struct {
	of    topic
	words string
}{
	{ofPhone, "電話 携帯 连絡先 电话 手机 手機 座机 致电 拨打 전화 휴대폰 핸드폰 연락처 โทร มือถือ"},
	{ofCard, "カード クレジット 信用卡 银行卡 卡号 카드"},
	{ofBank, "口座 银行 銀行 계좌"},
	{ofNation, "身份证 身份證 身分證 マイナンバー 個人番号 마이넘버 주민등록번호 เลขบัตรประชาชน 外国人登録"},
	{ofTax, "税号 納税 纳税"},
	{ofPassport, "여권 パスポート 护照 護照 旅券"},
	{ofDriving, "운전면허 免許 驾照 驾驶证"},
	{ofHealth, "患者 病历 医保 診察券 保険証 환자"},
	{ofBirth, "生年月日 誕生日 生まれ 出生 生日 생년월일 생일"},
	{ofVehicle, "车牌 車牌 ナンバープレート 차량번호"},
	{ofPost, "邮编 邮政编码 郵便番号 우편번호 〒"},
	{ofNumber, "番号 号码 號碼 번호"},
	{ofPerson, "姓名 氏名 이름"},
}

var tellingWords = sync.OnceValue(func() map[string]topic {
	out := make(map[string]topic, 640)
	for _, row := range telling {
		for word := range strings.FieldsSeq(row.words) {
			out[word] |= row.of
		}
	}
	return out
})

// A writtenWord is one word of written.
type writtenWord struct {
	text string
	of   topic
}

var writtenWords = sync.OnceValue(func() map[rune][]writtenWord {
	out := make(map[rune][]writtenWord, 64)
	for _, row := range written {
		for word := range strings.FieldsSeq(row.words) {
			first, _ := utf8.DecodeRuneInString(word)
			out[first] = append(out[first], writtenWord{word, row.of})
		}
	}
	return out
})

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

// Speaks reports whether a name has a word in it that says of a number or a date what it is.
func Speaks(name string) bool { return wordTopics(name)&^(ofNumber|ofPerson|ofMachine) != 0 }

func wordTopics(text string) (all topic) {
	var space [48]byte
	for i := 0; i < len(text); {
		word := space[:0]
		for i < len(text) && (letter(text[i]) || text[i] >= 0x80 || text[i] == '\'' && len(word) > 0) {
			if text[i] >= 0x80 {
				r, size := utf8.DecodeRuneInString(text[i:])
				all |= insideTopic(r, text[i:])
				if i += size; len(word)+utf8.UTFMax <= len(space) {
					word = utf8.AppendRune(word, unicode.ToLower(r))
				}
				continue
			}
			if len(word) < len(space) {
				word = append(word, lower(text[i]))
			}
			// "accountNumber" is two words
			if i++; i < len(text) && text[i] >= 'A' && text[i] <= 'Z' && text[i-1] >= 'a' && text[i-1] <= 'z' {
				break
			}
		}
		if len(word) == 0 {
			i++
			continue
		}
		all |= wordTopic(word)
	}
	return all
}

// wordTopic is what a word says, as it is or, in another alphabet, without the one to three letters that inflect it.
func wordTopic(word []byte) topic {
	known := tellingWords()
	of := known[string(word)]
	for range 3 {
		if of != 0 || word[0] < 0xce || len(word) < 8 {
			return of
		}
		_, size := utf8.DecodeLastRune(word)
		word = word[:len(word)-size]
		of = known[string(word)]
	}
	return of
}

// insideTopic is what a word says that begins at a character in the middle of others.
func insideTopic(r rune, text string) (all topic) {
	if r < 0xe00 || r > 0xe7f && r < 0x3000 {
		return 0
	}
	for _, w := range writtenWords()[r] {
		if strings.HasPrefix(text, w.text) {
			all |= w.of
		}
	}
	return all
}
