package classify

import (
	"strings"
	"sync"
)

// A request for harm is a sentence that asks for something to be made, done or explained, and names what nobody is helped
// with: a verb, and behind it what it is done to. Who asks how something is prevented, detected or treated is not meant, nor
// anyone who speaks of it without asking. The tables are short on purpose: what they do not name passes, and what they name in a
// sentence of this form is hardly ever harmless.

// An aim is one kind of harm: one of the verbs, and behind it, not far, one of the objects.
type aim struct {
	kind    string
	verbs   string // between blanks
	objects string
	unless  string // words that make it harmless anywhere in the sentence
	reach   int    // words between them at most
}

var aims = [...]aim{
	{"children", "write create generate draw describe make show give send find download share produce",
		"child children minor minors underage toddler preteen schoolgirl schoolboy kid kids girl boy",
		"adult", 14},
	{"weapons", "make build construct assemble create synthesize synthesise produce manufacture cultivate prepare weaponize detonate " +
		"plant develop craft making building", "bomb bombs explosive explosives ied ieds dynamite tatp petn nitroglycerin molotov " +
		"sarin ricin anthrax novichok bioweapon bioweapons grenade grenades napalm", "bath logic zip fork seed photo glitter email " +
		"cherry fusion calorie shelter squad game minecraft costume cake", 8},
	{"drugs", "make cook synthesize synthesise produce manufacture extract sell smuggle making cooking traffic", "methamphetamine meth " +
		"heroin cocaine fentanyl mdma ghb carfentanil", "quit rehab test tests documentary", 8},
	{"violence", "kill murder assassinate poison kidnap abduct strangle torture dismember killing murdering poisoning kidnapping",
		"someone somebody person people neighbor neighbour wife husband boss child children kid girlfriend boyfriend ex " +
			"coworker colleague teacher president politician crowd family parents mother father roommate woman man women him her",
		"process game character dragon novel boss's movie film book series story sims chess", 5},
	{"violence", "hire find contact contract", "hitman assassin", "game movie film novel", 5},
	{"trafficking", "sell traffic smuggle buy kidnap trafficking", "organs humans slaves", "", 6},
	{"malware", "write create make build code develop generate program design deploy spread release writing creating", "ransomware " +
		"malware keylogger trojan spyware rootkit botnet infostealer cryptolocker",
		"policy plan rule rules signature yara report essay article presentation training awareness scanner analysis sample samples " +
			"classifier dataset story novel talk document documentation summary guide lab sandbox", 8},
	{"intrusion", "hack break crack hijack hacking breaking", "someone's somebody's neighbor's neighbour's ex's girlfriend's " +
		"boyfriend's wife's husband's victim's person's people's stranger's coworker's colleague's friend's",
		"game bike door nose heart leg", 5},
	{"fraud", "make print produce forge create launder clone manufacture making printing obtain", "counterfeit", "game board novel", 6},
	{"fraud", "launder laundering", "money cash", "report", 4},
	{"fraud", "forge clone", "passport passports id ids card cards cheque cheques check checks banknotes identity", "git repo repository", 5},
	{"fraud", "steal stealing", "identity identities", "", 4},
}

// asking are words: a sentence that asks for something has one of them; a sentence that begins with a verb asks as well.
const asking = " how give tell show explain teach help want need instructions instruction steps step guide recipe tutorial ways way " +
	"provide write create generate describe make plan method methods can could would please let's where "

// protecting are words of those who ask for the opposite.
const protecting = " prevent protect detect avoid defend stop against prevention protection detection defense defence disposal " +
	"treat recognize recognise report removal remove antidote banned illegal history survive rescue combat fight law laws why " +
	"effects symptoms ethics safety addiction not never don't without_harm evacuate counter investigate "

var harmWords = sync.OnceValue(harmTable)

// harmTable has, for every object, the aims that are about it.
func harmTable() map[string]uint32 {
	out := map[string]uint32{}
	for n, a := range aims {
		for _, word := range strings.Fields(a.objects) {
			out[word] |= 1 << n
		}
	}
	return out
}

// harmful returns the sentences that ask for harm.
func (r *Ruleset) harmful(text string) []found {
	v := view{text: text}
	if !ascii(text) {
		v = folded(text)
	}
	var out []found
	for start := 0; start < len(v.text); {
		end := sentenceEnd(v.text, start)
		if kind := asksForHarm(v.text[start:end]); kind != "" {
			from, to := start, end
			if v.places != nil {
				from, to = v.place(start), v.place(end)
			}
			if rule := r.rule("harm", kind, ""); rule >= 0 {
				out = append(out, found{from, to, kind, "", rule})
			}
		}
		start = end
	}
	return out
}

// maxHarmWords bounds the words of a sentence that are looked at.
const maxHarmWords = 120

// asksForHarm returns the kind of harm that a sentence asks for, or nothing.
func asksForHarm(sentence string) string {
	var words [maxHarmWords]string
	var about uint32
	n := 0
	for i := 0; i < len(sentence) && n < maxHarmWords; {
		if !inHarmWord(sentence[i]) {
			i++
			continue
		}
		start := i
		for i < len(sentence) && inHarmWord(sentence[i]) {
			i++
		}
		if i-start > 20 {
			continue
		}
		var low [20]byte
		word := plainWord(low[:0], sentence[start:i])
		if of := harmWords()[string(word)]; of != 0 {
			about |= of
		}
		words[n] = sentence[start:i]
		n++
	}
	if about == 0 {
		return ""
	}
	var plain [maxHarmWords]string
	for i, w := range words[:n] {
		plain[i] = string(plainWord(nil, w))
	}
	if !isAsking(plain[:n]) {
		return ""
	}
	for i := range aims {
		if about&(1<<i) != 0 && aims[i].fits(plain[:n]) {
			return aims[i].kind
		}
	}
	return ""
}

func inHarmWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '\'' || c == '@' || c == '$'
}

// plainWord writes a word in small letters, with letters where digits stand for them; a number stays one.
func plainWord(out []byte, word string) []byte {
	letters := false
	for i := 0; i < len(word); i++ {
		letters = letters || word[i] >= 'a' && word[i] <= 'z' || word[i] >= 'A' && word[i] <= 'Z'
	}
	for i := 0; i < len(word); i++ {
		c := word[i]
		switch {
		case c >= 'A' && c <= 'Z':
			c |= 0x20
		case letters && c == '0':
			c = 'o'
		case letters && c == '1':
			c = 'i'
		case letters && c == '3':
			c = 'e'
		case letters && (c == '4' || c == '@'):
			c = 'a'
		case letters && (c == '5' || c == '$'):
			c = 's'
		case letters && c == '7':
			c = 't'
		}
		out = append(out, c)
	}
	return out
}

func isAsking(words []string) bool {
	asks := false
	for _, w := range words {
		if strings.Contains(protecting, " "+w+" ") {
			return false
		}
		asks = asks || strings.Contains(asking, " "+w+" ")
	}
	return asks
}

// fits reports whether one of the verbs comes before one of the objects, and nothing says that it is harmless.
func (a *aim) fits(words []string) bool {
	within := func(list, word string) bool { return word != "" && strings.Contains(" "+list+" ", " "+word+" ") }
	for _, w := range words {
		if within(a.unless, w) {
			return false
		}
	}
	for i, verb := range words {
		if !within(a.verbs, verb) {
			continue
		}
		for k := i + 1; k < len(words) && k <= i+1+a.reach; k++ {
			if within(a.objects, words[k]) && (a.kind != "children" || sexual(words)) {
				return true
			}
		}
	}
	return false
}

// sexual reports words for what is sexual.
func sexual(words []string) bool {
	for _, w := range words {
		switch w {
		case "sexual", "sex", "erotic", "erotica", "nude", "nudes", "naked", "porn", "pornographic", "pornography", "sexually", "explicit":
			return true
		}
	}
	return false
}
