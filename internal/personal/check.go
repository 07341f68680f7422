package personal

// Checksums and structure of numbers. Each takes the digits alone, as ASCII.

// luhn reports whether the digits have the check digit that cards, SINs and several national ids have.
func luhn(d []byte) bool {
	sum := 0
	for i := range d {
		v := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0
}

// weighed is the sum of the digits, each by its weight.
func weighed(d []byte, weights ...int) (sum int) {
	for i, w := range weights {
		sum += int(d[i]-'0') * w
	}
	return sum
}

// varied reports whether the digits are not all the same one.
func varied(d []byte) bool {
	for _, c := range d {
		if c != d[0] {
			return true
		}
	}
	return false
}

func number(d []byte) (n int) {
	for _, c := range d {
		n = n*10 + int(c-'0')
	}
	return n
}

// day reports whether two digits are a day of a month and two a month.
func day(d, m []byte) bool {
	days, month := number(d), number(m)
	if month < 1 || month > 12 || days < 1 {
		return false
	}
	return days <= [...]int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
}

// cardNumber reports a payment card: an issuer's prefix with its length, and Luhn.
func cardNumber(d []byte) bool {
	two, three, four, six := number(d[:2]), number(d[:3]), number(d[:4]), number(d[:6])
	fits := false
	switch len(d) {
	case 13:
		fits = d[0] == '4'
	case 14:
		fits = two == 36 || two == 38 || two == 39 || three >= 300 && three <= 305
	case 15:
		fits = two == 34 || two == 37 || four == 2014 || four == 2149
	case 16, 17, 18, 19:
		fits = d[0] == '4' || two >= 51 && two <= 55 || four >= 2221 && four <= 2720 || four >= 3528 && four <= 3589 ||
			four == 6011 || three >= 644 && three <= 659 || two == 62 || six >= 622126 && six <= 622925 ||
			two == 50 || two >= 56 && two <= 58 || two == 60 || two == 63 || two == 67 || four >= 2200 && four <= 2204 || two == 81
	}
	return fits && luhn(d) && varied(d)
}

// anyCard is a card of an issuer not known here, where the words beside it say card.
func anyCard(d []byte) bool { return luhn(d) && varied(d) }

func ssn(d []byte) bool {
	area, serial := number(d[:3]), number(d[5:])
	return area != 0 && area != 666 && area < 900 && number(d[3:5]) != 0 && serial != 0 &&
		string(d) != "078051120" && string(d) != "219099999" && string(d) != "123456789" && varied(d)
}

func itin(d []byte) bool {
	group := number(d[3:5])
	return d[0] == '9' && (group >= 50 && group <= 65 || group >= 70 && group <= 88 || group >= 90 && group <= 92 ||
		group >= 94 && group <= 99)
}

func sin(d []byte) bool { return d[0] != '0' && d[0] != '8' && luhn(d) && varied(d) }

func tfn(d []byte) bool { return weighed(d, 1, 4, 3, 7, 5, 8, 6, 9, 10)%11 == 0 && varied(d) }

func bsn(d []byte) bool { return weighed(d, 9, 8, 7, 6, 5, 4, 3, 2, -1)%11 == 0 && varied(d) }

func nhs(d []byte) bool {
	check := 11 - weighed(d, 10, 9, 8, 7, 6, 5, 4, 3, 2)%11
	return check%11 == int(d[9]-'0') && check != 10 && varied(d)
}

func npi(d []byte) bool {
	return (d[0] == '1' || d[0] == '2') && luhn(append([]byte("80840"), d...)) && varied(d[:9])
}

func aba(d []byte) bool {
	head := number(d[:2])
	return (head <= 12 || head >= 21 && head <= 32 || head >= 61 && head <= 72 || head == 80) && number(d) != 0 &&
		weighed(d, 3, 7, 1, 3, 7, 1, 3, 7, 1)%10 == 0
}

func acn(d []byte) bool {
	return (10-weighed(d, 8, 7, 6, 5, 4, 3, 2, 1)%10)%10 == int(d[8]-'0') && varied(d)
}

func abn(d []byte) bool {
	return d[0] != '0' && (weighed(d, 10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19)-10)%89 == 0
}

func medicare(d []byte) bool {
	return d[0] >= '2' && d[0] <= '6' && weighed(d, 1, 3, 7, 9, 1, 3, 7, 9)%10 == int(d[8]-'0')
}

// verhoeff is the check digit of Aadhaar, by the dihedral group.
func verhoeff(d []byte) bool {
	const turn = "0123456789123406789523401789563401289567401239567859876043216598710432765982104387659321049876543210"
	const order = "01234567891576283094580379614289160435279453126870428657390127938064157046913258"
	check := byte(0)
	for i := range d {
		row := i % 8
		v := order[row*10+int(d[len(d)-1-i]-'0')] - '0'
		check = turn[int(check)*10+int(v)] - '0'
	}
	return check == 0
}

func aadhaar(d []byte) bool { return d[0] >= '2' && verhoeff(d) && varied(d) && !palindrome(d) }

func palindrome(d []byte) bool {
	for i := range len(d) / 2 {
		if d[i] != d[len(d)-1-i] {
			return false
		}
	}
	return true
}

// steuer is the German tax id: of its first ten digits one comes twice or three times, and the last is a check digit.
func steuer(d []byte) bool {
	var seen [10]int
	twice, thrice := 0, 0
	for _, c := range d[:10] {
		seen[c-'0']++
	}
	for _, n := range seen {
		switch {
		case n == 2:
			twice++
		case n == 3:
			thrice++
		case n > 3:
			return false
		}
	}
	if d[0] == '0' || twice+thrice > 1 {
		return false
	}
	return mod1110(d)
}

// mod1110 is ISO 7064, mod 11,10.
func mod1110(d []byte) bool {
	product := 10
	for _, c := range d[:len(d)-1] {
		sum := (int(c-'0') + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = sum * 2 % 11
	}
	return (11-product)%10 == int(d[len(d)-1]-'0') && varied(d)
}

func pesel(d []byte) bool {
	month := number(d[2:4]) % 20
	return month >= 1 && month <= 12 && number(d[4:6]) >= 1 && number(d[4:6]) <= 31 &&
		(10-weighed(d, 1, 3, 7, 9, 1, 3, 7, 9, 1, 3)%10)%10 == int(d[10]-'0')
}

func turkish(d []byte) bool {
	if d[0] == '0' {
		return false
	}
	odd := weighed(d, 1, 0, 1, 0, 1, 0, 1, 0, 1)
	even := weighed(d, 0, 1, 0, 1, 0, 1, 0, 1)
	return ((odd*7-even)%10+10)%10 == int(d[9]-'0') && (odd+even+int(d[9]-'0'))%10 == int(d[10]-'0')
}

func norwegian(d []byte) bool {
	return day(d[:2], d[2:4]) && weighed(d, 3, 7, 6, 1, 8, 9, 4, 5, 2, 1)%11 == 0 &&
		weighed(d, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)%11 == 0
}

func cpf(d []byte) bool {
	one := weighed(d, 10, 9, 8, 7, 6, 5, 4, 3, 2) * 10 % 11 % 10
	two := weighed(d, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2) * 10 % 11 % 10
	return one == int(d[9]-'0') && two == int(d[10]-'0') && varied(d)
}

func belgian(d []byte) bool {
	birth, check := number(d[:9]), number(d[9:])
	month := number(d[2:4])
	return month <= 12 && number(d[4:6]) <= 31 && (97-birth%97 == check || d[0] < '4' && 97-(2000000000+birth)%97 == check)
}

// swedish is a personal number of ten or twelve digits; from 60 on the day is a coordination number's.
func swedish(d []byte) bool {
	if len(d) == 12 {
		if year := number(d[:2]); year < 18 || year > 20 {
			return false
		}
		d = d[2:]
	}
	days := number(d[4:6])
	if days > 60 {
		days -= 60
	}
	return days >= 1 && days <= 31 && number(d[2:4]) >= 1 && number(d[2:4]) <= 12 && luhn(d)
}

func swedishFirm(d []byte) bool { return d[0] >= '2' && d[2] >= '2' && luhn(d) && varied(d) }

func danish(d []byte) bool { return day(d[:2], d[2:4]) && varied(d[6:]) }

func koreanResident(d []byte) bool {
	old := d[6] == '1' || d[6] == '2' || d[6] == '5' || d[6] == '6' // born in the century before this one
	return day(d[4:6], d[2:4]) && d[6] >= '1' && d[6] <= '8' && number(d[7:9]) <= 96 && varied(d) && !(old && d[0] == '0' && d[6] <= '2')
}

func koreanFirm(d []byte) bool {
	sum := weighed(d, 1, 3, 7, 1, 3, 7, 1, 3, 5) + int(d[8]-'0')*5/10
	return (10-sum%10)%10 == int(d[9]-'0') && varied(d)
}

func koreanDriver(d []byte) bool { return number(d[:2]) >= 11 && number(d[:2]) <= 28 }

// thai begins with a kind of person and a province; those refused below have not been given out.
func thai(d []byte) bool {
	province := number(d[1:3])
	if d[0] == '0' || d[0] == '9' || province < 10 || province >= 28 && province <= 29 || province >= 59 && province <= 59 ||
		province >= 68 && province <= 69 || province >= 78 && province <= 79 || province >= 87 && province <= 89 || province >= 97 {
		return false
	}
	return (11-weighed(d, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2)%11)%10 == int(d[12]-'0') && varied(d)
}

func southAfrican(d []byte) bool { return day(d[4:6], d[2:4]) && d[10] <= '1' && luhn(d) }

func ahv(d []byte) bool {
	return number(d[:3]) == 756 && (10-weighed(d, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3)%10)%10 == int(d[12]-'0')
}

// french is the number of social insurance: sex, year, month, place, and the key.
func french(d []byte) bool {
	month := number(d[3:5])
	return (d[0] == '1' || d[0] == '2') && (month >= 1 && month <= 12 || month >= 20 && month <= 42 || month >= 50) &&
		97-number(d[:13])%97 == number(d[13:])
}

func chinese(d []byte, last byte) bool {
	const keys = "10X98765432"
	year := number(d[6:10])
	return d[0] >= '1' && d[0] <= '8' && year >= 1900 && year < 2100 && day(d[12:14], d[10:12]) &&
		keys[weighed(d, 7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)%11] == last
}

func lanr(d []byte) bool { return (10-weighed(d, 4, 9, 4, 9, 4, 9)%10)%10 == int(d[6]-'0') }

func any(d []byte) bool { return varied(d) }

func praxis(d []byte) bool {
	switch number(d[:2]) {
	case 1, 2, 3, 5, 17, 20, 38, 46, 51, 52, 71, 72, 73, 78, 83, 88, 93, 98, 99:
		return true
	}
	return false
}

func partita(d []byte) bool { return luhn(d) && number(d) != 0 }

func israeli(d []byte) bool { return luhn(d) && varied(d) }

func nif(d []byte) bool {
	check := 11 - weighed(d, 9, 8, 7, 6, 5, 4, 3, 2)%11
	if check > 9 {
		check = 0
	}
	return d[0] != '0' && check == int(d[8]-'0') && varied(d)
}
