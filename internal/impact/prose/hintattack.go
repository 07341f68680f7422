package prose

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/inject"
	"interlock/internal/lex"
)

// guards reports whether a sentence is about guarding against an attack that is named at a word of it. Words behind the
// attack ("against a bank", "that evades detection") say nothing of the kind unless they come to it at once.
func (p *sentence) guards(at int) bool {
	for i, w := range p.low {
		if i > at+24 {
			break
		}
		if !p.Is(know.Guarding, w) {
			continue
		}
		if !p.Any(know.Evading, p.low[max(0, i-4):i]) {
			return true
		}
	}
	return false
}

// recordAttack records that a sentence asks for an attack, unless it is about guarding against one.
func (s proseRun) recordAttack(p *sentence) {
	if !s.Any(know.Making, p.low) {
		return
	}
	for _, attack := range s.Attacks {
		at := p.phrase(attack.Words)
		if at < 0 || p.steps && attack.Trait == fact.TraitMalice && !s.Is(know.Unmistakable, attack.Words) || p.guards(at) ||
			s.deniedAt(p.low, at) {
			continue
		}
		s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: attack.Words, Reach: interlock.ReachSystem,
			Reversibility: interlock.Irreversible, Via: "hint", Confidence: interlock.Inferred,
			Traits: []string{attack.Trait, fact.TraitMalice}})
		return
	}
}

// phrase returns where words stand one behind the other in the sentence, or -1.
func (p *sentence) phrase(words string) int {
	first, rest, _ := strings.Cut(words, " ")
next:
	for i, w := range p.low {
		if w != first {
			continue
		}
		at := i + 1
		for more := rest; more != ""; at++ {
			var word string
			word, more, _ = strings.Cut(more, " ")
			if at >= len(p.low) || p.low[at] != word {
				continue next
			}
		}
		return i
	}
	return -1
}

// recordForcePush records a push that overwrites what others see.
func (s proseRun) recordForcePush(p *sentence) {
	at := max(p.phrase("force push"), p.phrase("force-push"), p.phrase("force pushing"))
	if at >= 0 && !s.deniedAt(p.low, at) && !s.discussedAt(p.low, at) {
		s.Add(interlock.Impact{Kind: interlock.ImpactWrite, Reach: interlock.ReachExternal, Reversibility: interlock.Irreversible,
			Via:        "hint force push",
			Confidence: interlock.Inferred, Traits: []string{fact.TraitForce, fact.TraitHistory}})
	}
}

// saysThousands reports whether prose speaks of a number of a thousand or more as how often or how much: 10,000 times, 10000*a.
func saysThousands(prose string) bool {
	for i := 0; i < len(prose); {
		if c := prose[i]; c < '1' || c > '9' || i > 0 && (inject.InAddress(prose[i-1]) || prose[i-1] == '.') {
			i++
			continue
		}
		end, digits := i, 0
		for end < len(prose) && (prose[end] >= '0' && prose[end] <= '9' || prose[end] == ',') {
			if prose[end] != ',' {
				digits++
			}
			end++
		}
		rest := prose[end:]
		if digits >= 4 && digits <= 12 &&
			(strings.HasPrefix(rest, " times") || strings.HasPrefix(rest, "*") || strings.HasPrefix(rest, " copies") ||
				strings.HasPrefix(rest, " packets") || strings.HasPrefix(rest, " requests") ||
				strings.HasPrefix(rest, " strings") ||
				strings.HasSuffix(prose[:i], "by ")) {
			return true
		}
		i = end
	}
	return false
}

// recordFlood records a sentence that sends datagrams or packets of prose that does something a thousand times.
func (s proseRun) recordFlood(p *sentence) {
	if p.steps && lex.Has(p.low, "flood", "flooding", "overwhelm") &&
		lex.Has(p.low, "server", "host", "site", "network", "target", "service") && !s.deniedAt(p.low, len(p.low)) ||
		lex.Has(p.low, "udp", "datagram", "datagrams", "packets") &&
			lex.Has(p.low, "send", "sends", "sending", "sent", "transmits", "floods", "flood") && !s.deniedAt(p.low, len(p.low)) {
		s.Add(interlock.Impact{Kind: interlock.ImpactNetwork, Reach: interlock.ReachExternal,
			Reversibility: interlock.Irreversible, Via: "hint send",
			Confidence: interlock.Inferred, Traits: []string{fact.TraitRepeated, fact.TraitUpload}})
	}
}
