package secret

import (
	"crypto/sha256"
	"sort"
	"strings"
	"sync"
)

// A seed phrase is the key of a wallet as words, by BIP-39: 12 to 24 of a list of 2048, whose last bits are a checksum.
const (
	fewestSeeds  = 12
	mostSeeds    = 24
	shortestSeed = 3
	longestSeed  = 8
)

// seedList are the words of the list, decoded when the first text has enough words in a row.
var seedList = sync.OnceValue(func() []string {
	words := make([]string, 0, 2048)
	all := make([]byte, 0, 13<<10)
	last := ""
	for i := 0; i < len(frontCoded); {
		end := i + 1
		for end < len(frontCoded) && frontCoded[end] >= 'a' {
			end++
		}
		from := len(all)
		all = append(append(all, last[:frontCoded[i]-'0']...), frontCoded[i+1:end]...)
		last = string(all[from:])
		words = append(words, last)
		i = end
	}
	return words
})

// seedNumber is the place of a word in the list; ok is false if it is not there.
func seedNumber(word string) (number int, ok bool) {
	list := seedList()
	number = sort.SearchStrings(list, word)
	return number, number < len(list) && list[number] == word
}

// seedPhrases finds seed phrases: words in a row, with blanks, commas, line ends or their numbers between them.
func seedPhrases(text string) (found []Span) {
	if len(text) < fewestSeeds*(shortestSeed+1) {
		return nil
	}
	for i := 0; i < len(text); {
		if !isLetter(text[i]) {
			i++
			continue
		}
		end, words := seedRow(text, i)
		if words >= fewestSeeds {
			found = append(found, seedsIn(text, i, end)...)
		}
		for i = max(i, end); i < len(text) && isWord(text[i]); i++ { // the word that ended the row
		}
	}
	return found
}

func isLetter(c byte) bool { return members[c]&(lower|upper) != 0 }

// seedRow returns where a row of words ends that could all be of the list by their lengths, and how many they are.
func seedRow(text string, at int) (end, words int) {
	for {
		from := at
		for at < len(text) && isLetter(text[at]) {
			at++
		}
		if n := at - from; n < shortestSeed || n > longestSeed || at < len(text) && (isWord(text[at]) || text[at] >= 0x80) {
			return max(end, from), words
		}
		end, words = at, words+1
		at = seedGap(text, at)
		if at == len(text) || at == end || !isLetter(text[at]) {
			return end, words
		}
	}
}

// seedGap steps over what separates words of a phrase.
func seedGap(text string, at int) int {
	for n := 0; at < len(text) && n < 6; n++ {
		c := text[at]
		if c != ' ' && c != '\n' && c != '\r' && c != '\t' && c != ',' && (n == 0 || c != '.' && c != ')' && members[c]&digit == 0) {
			return at
		}
		at++
	}
	return at
}

// seedsIn finds the phrases in a row of words.
func seedsIn(text string, at, end int) (found []Span) {
	var places [][2]int
	var numbers []int
	flush := func() {
		for i := 0; i+fewestSeeds <= len(numbers); {
			n := min(mostSeeds, len(numbers)-i)
			for n -= n % 3; n >= fewestSeeds && !seedSum(numbers[i:i+n]); n -= 3 {
			}
			if n < fewestSeeds {
				i++
				continue
			}
			found = append(found, Span{places[i][0], places[i+n-1][1], "seed-phrase"})
			i += n
		}
		places, numbers = places[:0], numbers[:0]
	}
	for at < end {
		from := at
		for at < end && isLetter(text[at]) {
			at++
		}
		if number, ok := seedNumber(strings.ToLower(text[from:at])); ok {
			places, numbers = append(places, [2]int{from, at}), append(numbers, number)
		} else {
			flush()
		}
		for at < end && !isLetter(text[at]) {
			at++
		}
	}
	flush()
	return found
}

// seedSum reports whether the checksum of a phrase is right: the beginning of the SHA-256 of what its other bits say.
func seedSum(numbers []int) bool {
	var bits [(mostSeeds*11 + 7) / 8]byte
	for n, number := range numbers {
		for k := range 11 {
			if number>>(10-k)&1 != 0 {
				at := n*11 + k
				bits[at/8] |= 0x80 >> (at % 8)
			}
		}
	}
	check := len(numbers) / 3
	size := check * 4 // bytes of what is checked
	sum := sha256.Sum256(bits[:size])
	return sum[0]>>(8-check) == bits[size]>>(8-check)
}
