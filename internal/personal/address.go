package personal

import (
	"strings"
	"unicode/utf8"
)

// Postal addresses: the number of a house, and the name of a street with a word for it before, behind or in it, by the languages
// that write it so. Words that mean much else besides need a postal code behind.

// streetWords end the name of a street.
const streetWords = " street st ave avenue road rd boulevard blvd lane ln drive dr court ct place pl square sq terrace highway hwy " +
	"parkway pkwy crescent close grove gardens trail way alley row quay mews "

// street finds "221b Baker Street, London": a number, one to four words with capitals, and a word for a street.
func (f *finder) street(start, end int) bool {
	if end-start > 5 || f.goesOn(start) || start > 0 && f.text[start-1] == ':' {
		return false
	}
	at := end
	if at < len(f.text) && letter(f.text[at]) {
		at++
	}
	for n := range 5 {
		if at >= len(f.text) || f.text[at] != ' ' {
			return false
		}
		from := at + 1
		at = from
		for at < len(f.text) && (letter(f.text[at]) || f.text[at] == '\'' || f.text[at] >= 0x80) {
			at++
		}
		if at == from || f.text[from] >= 'a' && f.text[from] <= 'z' {
			return false
		}
		if n > 0 && strings.Contains(streetWords, " "+strings.ToLower(f.text[from:at])+" ") {
			f.guess(Span{start, f.addressEnd(at), "postal-address", Medium})
			return true
		}
		if at < len(f.text) && f.text[at] == '.' {
			at++
		}
	}
	return false
}

// addressEnd takes in what follows a street: a flat, a town in capitals, a postal code.
func (f *finder) addressEnd(end int) int {
	at, parts := end, 0
	for parts < 6 && at < len(f.text) {
		from := at
		for from < len(f.text) && from-at < 3 && (f.text[from] == ' ' || f.text[from] == ',' || f.text[from] == '.' || f.text[from] == '\n') {
			from++
		}
		to := wordEnd(f.text, from)
		if from == at || to == from || !(digit(f.text[from]) && to-from == 5 || f.text[from] >= 'A' && f.text[from] <= 'Z') ||
			strings.Contains(f.text[at:from], ". ") {
			return end
		}
		end, at, parts = to, to, parts+1
		if digit(f.text[from]) {
			return end
		}
	}
	return end
}

// What a word says of the words and numbers beside it.
const (
	opensStreet  = 1 + iota // the name of a street follows, then the number of a house
	frenchStreet            // the same; or the number comes first
	mayOpen                 // it is a word for much else: a postal code has to follow
)

// opening says what a word in small letters is before the name of a street.
func opening(word []byte) int {
	switch string(word) {
	case "via", "viale", "piazza", "piazzale", "calle", "avda", "av", "avenida", "paseo", "rua", "travessa", "praça", "praca", "ulica", "ul", "aleja":
		return opensStreet
	case "rue", "avenue", "boulevard", "bd", "chemin", "quai":
		return frenchStreet
	case "corso", "largo", "vicolo", "strada", "plaza", "plac", "pl", "al", "os", "place", "allee", "allée", "allées", "route", "cours", "square",
		"passage", "impasse", "estrada":
		return mayOpen
	}
	return 0
}

// openingAt is opening for the word that lies between two places.
func (f *finder) openingAt(start, end int) int {
	var low [12]byte
	if end-start < 2 || end-start > len(low) {
		return 0
	}
	for i := range end - start {
		low[i] = lower(f.text[start+i])
	}
	return opening(low[:end-start])
}

// streetFirst finds "Via Roma 10" and "Hauptstraße 5": a word for a street, its name and the number of a house, or a name that ends
// in one and the number.
func (f *finder) streetFirst(start, end int) bool {
	if start > 0 && (f.text[start-1] >= 0x80 || f.text[start-1] == '-' || f.text[start-1] == '/' || f.text[start-1] == '.') {
		return false
	}
	for end < len(f.text) && end-start <= 40 &&
		(letter(f.text[end]) || f.text[end] >= 0x80 || f.text[end] == '-' && end+1 < len(f.text) && letter(f.text[end+1])) {
		end++
	}
	stop := end
	if stop < len(f.text) && f.text[stop] == '.' {
		stop++
	}
	if stop+1 >= len(f.text) || f.text[stop] != ' ' {
		return false
	}
	if digit(f.text[stop+1]) {
		return f.text[start] < 'a' && f.compound(start, end, stop)
	}
	opens := f.openingAt(start, end)
	if opens == 0 || f.text[start] == 'v' { // "via" is English as well
		return false
	}
	name, named := f.streetName(stop)
	number := f.houseNumber(name)
	if !named || number == 0 {
		return false
	}
	town, code := f.town(number)
	if opens == mayOpen && !code {
		return false
	}
	f.guess(Span{start, town, "postal-address", Medium})
	return true
}

// Endings of the names of streets, in German, Dutch, Swedish, Danish and Norwegian; the doubtful ones end other words too.
var (
	streetEndings = [...]string{"straße", "strasse", "str.", "gasse", "weg", "straat", "gracht", "laan", "dijk", "gatan", "vägen", "vagen",
		"vej", "veien"}
	doubtfulEndings = [...]string{"allee", "platz", "damm", "ufer", "ring", "chaussee", "plein", "singel", "steig", "hof", "markt", "kade", "gade"}
)

// compound finds a name from start to end that ends in a word for a street, and the number of a house behind the blank at a place.
func (f *finder) compound(start, end, gap int) bool {
	word := strings.ToLower(f.text[start:gap])
	whole := false
	ends := func(list []string) bool {
		for _, ending := range list {
			whole = len(ending) > 5 && len(word) == len(ending)
			if strings.HasSuffix(word, ending) && (whole || len(word) >= len(ending)+3) {
				return true
			}
		}
		return false
	}
	sure := ends(streetEndings[:])
	if !sure && !ends(doubtfulEndings[:]) {
		return false
	}
	stop := f.houseNumber(gap)
	if stop == 0 {
		return false
	}
	town, code := f.town(stop)
	if !sure && !code {
		return false
	}
	if whole && start > 1 { // "Kurze Straße 5"
		near := max(0, start-24)
		if from := near + strings.LastIndexByte(f.text[near:start-1], ' ') + 1; from < start && f.text[from] >= 'A' && f.text[from] <= 'Z' {
			start = from
		}
	}
	f.guess(Span{start, town, "postal-address", Medium})
	return true
}

// streetBehind finds "12 rue de la Paix": a number, a French word for a street and its name.
func (f *finder) streetBehind(start, end int) bool {
	if end-start > 4 || f.goesOn(start) {
		return false
	}
	from := end
	for _, more := range [...]string{" bis", " ter", ",", " "} {
		if strings.HasPrefix(f.text[from:], more) {
			from += len(more)
		}
	}
	to := from
	for to < len(f.text) && to-from < 12 && f.text[to] > ' ' {
		to++
	}
	opens := f.openingAt(from, to)
	if from == end || opens != frenchStreet && opens != mayOpen {
		return false
	}
	name, named := f.streetName(to)
	if !named {
		return false
	}
	town, code := f.town(name)
	if opens == mayOpen && !code {
		return false
	}
	f.guess(Span{start, town, "postal-address", Medium})
	return true
}

// particles stand in the names of streets and are written small.
const particles = " de de' du des del della delle dei degli di da do das dos d la le les los las el van von der den św "

// streetName returns where the name ends that begins at a blank: one to five words, at least one of them in capitals.
func (f *finder) streetName(at int) (end int, named bool) {
	for range 6 {
		if at >= len(f.text) || f.text[at] != ' ' {
			return at, named
		}
		from := at + 1
		to := from
		for to < len(f.text) && (letter(f.text[to]) || f.text[to] >= 0x80 || f.text[to] == '\'' || f.text[to] == '-') {
			to++
		}
		if to == from {
			return at, named
		}
		word := f.text[from:to]
		if cut := strings.LastIndexByte(word, '\''); cut == 1 || cut == 4 { // l'Opéra, dell'Orso
			word = word[cut+1:]
		}
		switch {
		case word != "" && (word[0] < 'a' || word[0] >= 0xc3 && word[0] < 0xe0 && len(word) > 2):
			named = true
		case !strings.Contains(particles, " "+word+" "):
			return at, named
		}
		if at = to; at+1 < len(f.text) && f.text[at] == '.' && f.text[at+1] == ' ' && to-from <= 3 {
			at++
		}
	}
	return at, named
}

// houseNumber returns where the number of a house ends behind a place; 0 is none. "5", "5a", "10/5", ", 12", " n. 3".
func (f *finder) houseNumber(at int) int {
	from := at
	for _, sign := range [...]string{",", " n.", " n°", " nº", " nr", " nr.", " no.", " num."} {
		if strings.HasPrefix(f.text[from:], sign) {
			from += len(sign)
		}
	}
	for from < len(f.text) && from-at < 10 && f.text[from] == ' ' {
		from++
	}
	end := from
	for end < len(f.text) && digit(f.text[end]) {
		end++
	}
	if n := end - from; n == 0 || n > 4 || from == at {
		return 0
	}
	if end < len(f.text) && lower(f.text[end]) >= 'a' && lower(f.text[end]) <= 'h' {
		end++
	}
	if end+1 < len(f.text) && (f.text[end] == '/' || f.text[end] == '-') && digit(f.text[end+1]) {
		for end++; end < len(f.text) && digit(f.text[end]); end++ {
		}
	}
	if end < len(f.text) && (alnum(f.text[end]) || f.text[end] == '%' || f.text[end] == ':' && end+1 < len(f.text) && digit(f.text[end+1])) {
		return 0
	}
	return end
}

// town takes in the postal code and the town behind a street, and says whether there is a code.
func (f *finder) town(end int) (stop int, code bool) {
	at := end
	for at < len(f.text) && at-end < 4 && strings.IndexByte(" ,\n\r", f.text[at]) >= 0 {
		at++
	}
	if at == end {
		return end, false
	}
	from := at
	for at < len(f.text) && at-from < 9 && (digit(f.text[at]) || f.text[at] == '-' && at > from && at+1 < len(f.text) && digit(f.text[at+1])) {
		at++
	}
	switch n := at - from; {
	case n >= 4 && n <= 8 && (at == len(f.text) || !alnum(f.text[at])):
		code, end, from = true, at, at
		if rest := f.text[at:]; len(rest) > 2 && rest[0] == ' ' && upper(rest[1]) && upper(rest[2]) && (len(rest) == 3 || !letter(rest[3])) {
			end, from = at+3, at+3 // 1012 AB
		}
	case f.text[end] != ',':
		return end, false
	default:
		from--
	}
	if name, named := f.streetName(from); named {
		end = name
	}
	return end, code
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }

// streetBefore finds a number behind the name of a street in other alphabets: "улица Ленина, д. 5" and "建国路88号".
func (f *finder) streetBefore(start, end int) bool {
	if start < 6 || end-start > 5 || alnum(f.text[start-1]) {
		return false
	}
	before := f.text[max(0, start-96):start]
	if f.text[start-1] >= 0x80 && end < len(f.text) && (f.text[end] >= 0xe3 || f.text[end] == '-') {
		return f.eastern(start, end)
	}
	if !otherLetters(before[max(0, len(before)-12):]) {
		return false
	}
	best := -1
	for _, word := range [...]string{"улица ", "Улица ", "ул.", "Ул.", "проспект ", "пр-т ", "переулок ", "шоссе ", "бульвар ", "набережная ",
		"شارع ", "طريق ", "मार्ग", "सड़क", "οδός "} {
		if at := strings.LastIndex(before, word); at == 0 || at > 0 && (before[at-1] <= ' ' || before[at-1] == ',') {
			best = max(best, at)
		}
	}
	if best < 0 || strings.ContainsAny(before[best:], "0123456789\n;") {
		return false
	}
	f.guess(Span{start - len(before) + best, end, "postal-address", Medium})
	return true
}

// otherLetters reports a letter of an alphabet that is not Latin.
func otherLetters(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] >= 0xce {
			return true
		}
	}
	return false
}

// eastern finds a Chinese or Japanese address: a district, a road or a block, and a number that is called one of a house.
func (f *finder) eastern(start, end int) bool {
	from := start
	for from > 0 && start-from < 96 && f.text[from-1] >= 0x80 {
		from--
	}
	for from < start && !utf8.RuneStart(f.text[from]) {
		from++
	}
	places, last := 0, rune(0)
	for _, last = range f.text[from:start] {
		if strings.ContainsRune("省市区區县縣州都道府県町村路街里", last) {
			places++
		}
	}
	if places < 2 && !strings.ContainsRune("路街道巷弄里", last) {
		return false
	}
	house := false
	for more := true; more; { // 1丁目2番3号, 1-2-3
		more = false
		for _, sign := range [...]string{"号", "號", "番地", "番", "丁目", "弄", "-"} {
			if strings.HasPrefix(f.text[end:], sign) && (sign != "-" || places >= 2 && end+1 < len(f.text) && digit(f.text[end+1])) {
				end += len(sign)
				house, more = true, end-start < 40
			}
		}
		for end < len(f.text) && house && digit(f.text[end]) {
			end++
		}
	}
	if !house {
		return false
	}
	f.guess(Span{from, end, "postal-address", Medium})
	return true
}
