package personal

import (
	"crypto/sha256"
	"strings"
)

// Checksums and structure of numbers with letters in them. Each takes the characters alone, in capitals.

func nino(d []byte) bool {
	if strings.IndexByte("DFIQUV", d[0]) >= 0 || strings.IndexByte("DFIOQUV", d[1]) >= 0 || d[8] > 'D' {
		return false
	}
	switch string(d[:2]) {
	case "BG", "GB", "KN", "NK", "NT", "TN", "ZZ":
		return false
	}
	return varied(d[2:8])
}

// spanish is a DNI or NIE: the letter is the rest of the number by 23.
func spanish(d []byte) bool {
	n := 0
	body := d[:len(d)-1]
	if letter(d[0]) {
		at := strings.IndexByte("XYZ", d[0])
		if at < 0 {
			return false
		}
		n, body = at, body[1:]
	}
	for _, c := range body {
		n = n*10 + int(c-'0')
	}
	return "TRWAGMYFPDXBNJZSQVHLCKE"[n%23] == d[len(d)-1]
}

func fiscalCode(d []byte) bool {
	const odd = "\x01\x00\x05\x07\x09\x0d\x0f\x11\x13\x15" // of the digits; of the letters below
	const oddLetters = "\x01\x00\x05\x07\x09\x0d\x0f\x11\x13\x15\x02\x04\x12\x14\x0b\x03\x06\x08\x0c\x0e\x10\x0a\x16\x19\x18\x17"
	sum := 0
	for i, c := range d[:15] {
		switch {
		case i%2 == 1 && digit(c):
			sum += int(c - '0')
		case i%2 == 1:
			sum += int(c - 'A')
		case digit(c):
			sum += int(odd[c-'0'])
		default:
			sum += int(oddLetters[c-'A'])
		}
	}
	// the letter of the month; one that is wrong beside a right date is a slip of the pen
	return byte('A'+sum%26) == d[15] || strings.IndexByte("ABCDEHLMPRST", d[8]) >= 0
}

func slashed([]byte) bool { return true }

func finnish(d []byte) bool {
	if !day(d[:2], d[2:4]) {
		return false
	}
	serial := d[len(d)-4:]
	if len(d) == 11 && strings.IndexByte("ABCDEFYXWVU", d[6]) < 0 {
		return false
	}
	if !digit(serial[0]) || !digit(serial[1]) || !digit(serial[2]) || number(serial[:3]) < 2 {
		return false
	}
	n := number(d[:6])*1000 + number(serial[:3])
	return "0123456789ABCDEFHJKLMNPRSTUVWXY"[n%31] == serial[3]
}

func indianPAN(d []byte) bool { return strings.IndexByte("ABCFGHLJPT", d[3]) >= 0 }

func chineseID(d []byte) bool { return chinese(d[:17], d[17]) }

func singapore(d []byte) bool {
	sum := 0
	for i, w := range [...]int{2, 7, 6, 5, 4, 3, 2} {
		sum += int(d[i+1]-'0') * w
	}
	switch d[0] {
	case 'S':
		return "JZIHGFEDCBA"[sum%11] == d[8]
	case 'T':
		return "JZIHGFEDCBA"[(sum+4)%11] == d[8]
	case 'F':
		return "XWUTRQPNMLK"[sum%11] == d[8]
	case 'G':
		return "XWUTRQPNMLK"[(sum+4)%11] == d[8]
	}
	return false
}

func curp(d []byte) bool {
	return day(d[8:10], d[6:8]) && (d[10] == 'H' || d[10] == 'M' || d[10] == 'X')
}

// pension is the German number of pension insurance: place, day of birth, letter, serial, check digit.
func pension(d []byte) bool {
	days := number(d[2:4])
	if days > 50 {
		days -= 50
	}
	if month := number(d[4:6]); month > 12 && month < 80 || days > 31 {
		return false
	}
	var digits [13]byte
	copy(digits[:], d[:8])
	digits[8], digits[9] = '0'+(d[8]-'A'+1)/10, '0'+(d[8]-'A'+1)%10
	copy(digits[10:], d[9:12])
	sum := 0
	for i, w := range [...]int{2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1} {
		v := int(digits[i]-'0') * w
		sum += v/10 + v%10
	}
	return sum%10 == int(d[11]-'0')
}

// machineRead is the check digit of documents that machines read: weights 7, 3 and 1.
func machineRead(d []byte) bool {
	if strings.IndexByte("CFGHJKLMNPRTVWXYZ", d[0]) < 0 {
		return false
	}
	sum := 0
	for i, c := range d[:len(d)-1] {
		v := int(c - '0')
		if letter(c) {
			if strings.IndexByte("ABDEIOQSU", c) >= 0 {
				return false
			}
			v = int(c-'A') + 10
		}
		sum += v * [...]int{7, 3, 1}[i%3]
	}
	return sum%10 == int(d[len(d)-1]-'0')
}

// passportLetter is a first letter that Korean and Indian passports have and other documents seldom.
func passportLetter(d []byte) bool { return strings.IndexByte("MSRDG", d[0]) >= 0 }

// spelled are three letters that are not the beginning of the alphabet.
func spelled(d []byte) bool { return string(d[:3]) != "ABC" }

func ukDriver(d []byte) bool {
	month := int(d[6]-'0') * 10
	if month >= 50 {
		month -= 50
	}
	if digit(d[7]) {
		month += int(d[7] - '0')
	}
	return month >= 1 && month <= 12
}

func italianDriver(d []byte) bool { return d[0] == 'U' && d[1] == '1' }

// mbi is a Medicare number: some letters are never in one.
func mbi(d []byte) bool {
	if d[0] == '0' {
		return false
	}
	for i, c := range d {
		if letter(c) && strings.IndexByte("SLOIBZ", c) >= 0 || i == 3 && !digit(c) {
			return false
		}
	}
	return true
}

func dea(d []byte) bool {
	v := func(i int) int { return int(d[i] - '0') }
	return (v(2)+v(4)+v(6)+2*(v(3)+v(5)+v(7)))%10 == v(8)
}

// wrongDEA reports the form of a DEA number whose check digit is wrong.
func wrongDEA(word string) bool {
	if len(word) != 9 || !letter(word[0]) || !letter(word[1]) {
		return false
	}
	for i := 2; i < 9; i++ {
		if !digit(word[i]) {
			return false
		}
	}
	return !dea([]byte(word))
}

// kvnr is the German health insurance number: a letter as two digits, then Luhn from the left.
func kvnr(d []byte) bool {
	n := d[0] - 'A' + 1
	digits := append([]byte{'0' + n/10, '0' + n%10}, d[1:9]...)
	sum := 0
	for i, c := range digits {
		v := int(c - '0')
		if i%2 == 1 {
			v *= 2
		}
		sum += v/10 + v%10
	}
	return sum%10 == int(d[9]-'0')
}

func uen(d []byte) bool {
	if letter(d[0]) {
		return strings.IndexByte("RST", d[0]) >= 0
	}
	if len(d) == 10 {
		return number(d[:4]) >= 1900 && number(d[:4]) <= 2100
	}
	return true
}

func gstin(d []byte) bool { return number(d[:2]) >= 1 && number(d[:2]) <= 37 }

// germanVAT has the check digit of mod 11,10.
func germanVAT(d []byte) bool { return d[2] != '0' && mod1110(d[2:]) }

func indianState(d []byte) bool {
	const states = "AN AP AR AS BR CG CH DD DL GA GJ HP HR JH JK KA KL LA LD MH ML MN MP MZ NL OD OR PB PY RJ SK TN TR TS UK UP WB"
	return strings.Contains(states, string(d[:2])) && number(d[2:4]) > 0
}

func turkishPlate(d []byte) bool { return number(d[:2]) >= 1 && number(d[:2]) <= 81 }

// britishPlate leaves out letters that plates never have, and the years that current ones can't.
func britishPlate(d []byte) bool {
	for i, c := range d {
		if c == 'I' || c == 'Q' && i > 0 || c == 'Z' && digit(d[len(d)-1]) {
			return false
		}
	}
	return d[0] != 'O' || !digit(d[1])
}

func britishPost(d []byte) bool {
	if strings.IndexByte("QVX", d[0]) >= 0 || letter(d[1]) && strings.IndexByte("IJZ", d[1]) >= 0 {
		return false
	}
	for _, c := range d[len(d)-2:] {
		if strings.IndexByte("CIKMOV", c) >= 0 {
			return false
		}
	}
	const areas = " AB AL B BA BB BD BH BL BN BR BS BT CA CB CF CH CM CO CR CT CV CW DA DD DE DG DH DL DN DT DY E EC EH EN EX FK FY G GL GU " +
		"GY HA HD HG HP HR HS HU HX IG IM IP IV JE KA KT KW KY L LA LD LE LL LN LS LU M ME MK ML N NE NG NN NP NR NW OL OX PA PE " +
		"PH PL PO PR RG RH RM S SA SE SG SK SL SM SN SO SP SR SS ST SW SY TA TD TF TN TQ TR TS TW UB W WA WC WD WF WN WR WS WV YO ZE "
	area := string(d[:1])
	if letter(d[1]) {
		area = string(d[:2])
	}
	return strings.Contains(areas, " "+area+" ")
}

// ibanLength is how long the account numbers of a country are; 0 is none.
func ibanLength(country string) int {
	const lengths = "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24FI18FK18FO18FR27" +
		"GB22GE22GI23GL18GR27GT28HN28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MN20" +
		"MR27MT31MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23ST25SV28TL23TN24TR26UA29" +
		"VA22VG24XK20YE30"
	for i := 0; i+4 <= len(lengths); i += 4 {
		if lengths[i:i+2] == country {
			return int(lengths[i+2]-'0')*10 + int(lengths[i+3]-'0')
		}
	}
	return 0
}

// iban is the check by 97.
func iban(d []byte) bool {
	rest := 0
	for i := range d {
		c := d[(i+4)%len(d)]
		if letter(c) {
			rest = (rest*100 + int(c-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(c-'0')) % 97
		}
	}
	return rest == 1
}

// coinAddress reports an address in base 58 whose check, the beginning of a hash of a hash, is right.
func coinAddress(word string) bool {
	const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	var value [25]byte
	for i := 0; i < len(word); i++ {
		carry := strings.IndexByte(alphabet, word[i])
		if carry < 0 {
			return false
		}
		for k := len(value) - 1; k >= 0; k-- {
			carry += int(value[k]) * 58
			value[k] = byte(carry)
			carry >>= 8
		}
		if carry != 0 {
			return false
		}
	}
	once := sha256.Sum256(value[:21])
	twice := sha256.Sum256(once[:])
	return string(twice[:4]) == string(value[21:])
}
