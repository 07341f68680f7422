package personal

import "strings"

// Checksums and structure of more numbers that states give to people and firms. Each takes the characters alone, in capitals, and
// follows what the issuer publishes.

// eleven is the check digit of a weighted sum: what is missing to a multiple of eleven, and 10 where no digit can be it.
func eleven(sum int) int { return (11 - sum%11) % 11 }

// restIs reports whether a check digit is the rest of a sum by eleven, ten counting as nought.
func restIs(sum int, check byte) bool { return sum%11%10 == int(check-'0') }

// irish is a number of personal public service: one letter by 23, a second one counted nine times.
func irish(d []byte) bool {
	sum := weighed(d, 8, 7, 6, 5, 4, 3, 2)
	if len(d) == 9 && d[8] != 'W' {
		sum += int(d[8]-'A'+1) * 9
	}
	return "WABCDEFGHIJKLMNOPQRSTUV"[sum%23] == d[7]
}

// austrian is a number of social insurance: serial, check digit, day of birth.
func austrian(d []byte) bool {
	return d[0] != '0' && weighed(d, 3, 7, 9, 0, 5, 8, 4, 2, 1, 6)%11 == int(d[3]-'0') && number(d[6:8]) <= 16 && number(d[4:6]) <= 31
}

// czech is a number of birth of the Czech Republic and of Slovakia: women have 50 added to the month, and full series 20.
func czech(d []byte) bool {
	month := number(d[2:4]) % 50
	if month > 20 {
		month -= 20
	}
	return month >= 1 && month <= 12 && number(d[4:6]) >= 1 && number(d[4:6]) <= 31 &&
		(number(d)%11 == 0 || number(d[:9])%11 == 10 && d[9] == '0')
}

func snils(d []byte) bool {
	sum := weighed(d, 9, 8, 7, 6, 5, 4, 3, 2, 1) % 101
	return number(d[:9]) > 1001998 && sum%100 == number(d[9:])
}

// innPerson and innFirm are Russian tax numbers.
func innPerson(d []byte) bool {
	return restIs(weighed(d, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8), d[10]) &&
		restIs(weighed(d, 3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8), d[11]) && varied(d)
}

func innFirm(d []byte) bool { return restIs(weighed(d, 2, 4, 10, 3, 5, 9, 4, 6, 8), d[9]) && varied(d) }

// cuit is the tax number of Argentina, which begins with a kind of holder.
func cuit(d []byte) bool {
	switch number(d[:2]) {
	case 20, 23, 24, 25, 26, 27, 30, 33, 34:
		return eleven(weighed(d, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) == int(d[10]-'0')
	}
	return false
}

// chilean is a RUT: its check digit can be a K.
func chilean(d []byte) bool {
	sum, weight := 0, 2
	for i := len(d) - 2; i >= 0; i-- {
		if !digit(d[i]) {
			return false
		}
		sum += int(d[i]-'0') * weight
		if weight++; weight > 7 {
			weight = 2
		}
	}
	return "0123456789K"[eleven(sum)] == d[len(d)-1] && varied(d[:len(d)-1])
}

func myNumber(d []byte) bool {
	check := eleven(weighed(d, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2))
	return check%10 == int(d[11]-'0') && varied(d)
}

func taj(d []byte) bool {
	return weighed(d, 3, 7, 3, 7, 3, 7, 3, 7)%10 == int(d[8]-'0') && varied(d)
}

func hungarianTax(d []byte) bool {
	return d[0] == '8' && weighed(d, 1, 2, 3, 4, 5, 6, 7, 8, 9)%11 == int(d[9]-'0') && varied(d)
}

// romanian is a CNP: kind of person, day of birth, county, serial.
func romanian(d []byte) bool {
	check := weighed(d, 2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9) % 11
	return d[0] != '0' && day(d[5:7], d[3:5]) && (check == int(d[12]-'0') || check == 10 && d[12] == '1')
}

// bulgarian is an EGN: months of the century before last have 20 added, those of this one 40.
func bulgarian(d []byte) bool {
	month := number(d[2:4]) % 20
	return number(d[2:4]) <= 52 && month >= 1 && month <= 12 && number(d[4:6]) >= 1 && number(d[4:6]) <= 31 &&
		restIs(weighed(d, 2, 4, 8, 5, 10, 9, 7, 3, 6), d[9])
}

// baltic is a number of Estonia or of Lithuania: two rows of weights, the second where the first gives ten.
func baltic(d []byte) bool {
	sum := weighed(d, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1)
	if sum%11 == 10 {
		sum = weighed(d, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3)
	}
	return d[0] >= '1' && d[0] <= '8' && day(d[5:7], d[3:5]) && restIs(sum, d[10])
}

// latvian is a personal code; those that begin with 32 say no day of birth and have no check digit.
func latvian(d []byte) bool {
	return d[0] == '3' && d[1] == '2' && varied(d[2:]) ||
		day(d[:2], d[2:4]) && (1101-weighed(d, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2))%11 == int(d[10]-'0')
}

func amka(d []byte) bool { return day(d[:2], d[2:4]) && luhn(d) }

func afm(d []byte) bool { return restIs(weighed(d, 256, 128, 64, 32, 16, 8, 4, 2), d[8]) && varied(d) }

// jmbg is the number of the states that were Yugoslavia.
func jmbg(d []byte) bool {
	return day(d[:2], d[2:4]) && (d[4] == '9' || d[4] == '0') && eleven(weighed(d, 7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) == int(d[12]-'0')
}

// rfc is the Mexican tax number of a person: letters of the name, day of birth, two characters, check digit.
func rfc(d []byte) bool {
	const values = "0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ"
	sum := 0
	for i, c := range d[:12] {
		sum += strings.IndexByte(values, c) * (13 - i)
	}
	return day(d[8:10], d[6:8]) && "0123456789A"[eleven(sum)] == d[12]
}

func icelandic(d []byte) bool {
	return day(d[:2], d[2:4]) && eleven(weighed(d, 3, 2, 7, 6, 5, 4, 3, 2)) == int(d[8]-'0') && (d[9] == '9' || d[9] == '0' || d[9] == '8')
}

// luxembourgish is the day of birth, a serial, and two check digits over it.
func luxembourgish(d []byte) bool {
	return number(d[:2]) >= 18 && number(d[:2]) <= 20 && day(d[6:8], d[4:6]) && luhn(d[:12]) &&
		verhoeff(append(append([]byte{}, d[:11]...), d[12]))
}

func maltese(d []byte) bool { return strings.IndexByte("MGAPLHBZ", d[7]) >= 0 }

// cypriot is a tax number: digits at odd places count by a table.
func cypriot(d []byte) bool {
	const table = "\x01\x00\x05\x07\x09\x0d\x0f\x11\x13\x15"
	sum := 0
	for i, c := range d[:8] {
		if i%2 == 0 {
			sum += int(table[c-'0'])
		} else {
			sum += int(c - '0')
		}
	}
	return byte('A'+sum%26) == d[8]
}

func utr(d []byte) bool {
	return "21987654321"[weighed(d[1:], 6, 7, 8, 9, 10, 5, 4, 3, 2)%11] == d[0] && varied(d)
}

// taiwanese begins with the letter of a place, which stands for two digits.
func taiwanese(d []byte) bool {
	const letters = "ABCDEFGHJKLMNPQRSTUVXYWZIO" // of 10, 11 and so on
	place := strings.IndexByte(letters, d[0]) + 10
	return (d[1] == '1' || d[1] == '2' || d[1] == '8' || d[1] == '9') &&
		(place/10+place%10*9+weighed(d[1:], 8, 7, 6, 5, 4, 3, 2, 1, 1))%10 == 0
}

func hongkongese(d []byte) bool {
	return "0123456789A"[eleven(36*9+int(d[0]-'A'+10)*8+weighed(d[1:], 7, 6, 5, 4, 3, 2))] == d[7]
}

// malaysian is a day of birth, a place and a serial.
func malaysian(d []byte) bool {
	return day(d[4:6], d[2:4]) && number(d[6:8]) >= 1 && number(d[6:8]) <= 93 && varied(d[8:])
}

// indonesian is a place, a day of birth to which women add 40, and a serial.
func indonesian(d []byte) bool {
	days := number(d[6:8]) % 40
	return d[0] >= '1' && d[0] <= '9' && days >= 1 && days <= 31 && number(d[8:10]) >= 1 && number(d[8:10]) <= 12 && number(d[12:]) > 0
}

func pakistani(d []byte) bool { return d[0] >= '1' && d[0] <= '7' && varied(d[5:]) }

func emirati(d []byte) bool { return number(d[:3]) == 784 && luhn(d) }

func ukrainian(d []byte) bool {
	return restIs(weighed(d, -1, 5, 7, 9, 4, 6, 10, 5, 7)+1100, d[9]) && varied(d)
}

func polishCard(d []byte) bool {
	letters := 7*int(d[0]-'A'+10) + 3*int(d[1]-'A'+10) + int(d[2]-'A'+10)
	return (letters+weighed(d[3:], 9, 7, 3, 1, 7, 3))%10 == 0
}

// nip, cnpj and siret are numbers of firms of Poland, Brazil and France.
func nip(d []byte) bool {
	return weighed(d, 6, 5, 7, 2, 3, 4, 5, 6, 7)%11 == int(d[9]-'0') && varied(d)
}

func cnpj(d []byte) bool {
	return eleven(weighed(d, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2))%10 == int(d[12]-'0') &&
		eleven(weighed(d, 6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2))%10 == int(d[13]-'0') && varied(d)
}

func siret(d []byte) bool { return luhn(d[:9]) && luhn(d) && varied(d) }
