package prose

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/inject"
	"interlock/internal/lex"
)

// homeDotfiles are names of files that, named alone, are those of a home directory.
var homeDotfiles = lex.Set([]string{".bashrc", ".zshrc", ".profile", ".bash_profile", ".ssh", ".aws", ".netrc", ".git-credentials", ".bash_history", ".kube", ".gnupg"})

// attacks are things nobody makes for a harmless end, as the words that name them, and the trait that fits.
var attacks = []struct {
	words string
	trait string
}{
	{"reverse shell", fact.TraitReverseShell}, {"backdoor", fact.TraitReverseShell}, {"bind shell", fact.TraitReverseShell}, {"execute commands from", fact.TraitReverseShell},
	{"executes commands from", fact.TraitReverseShell}, {"execute commands received", fact.TraitReverseShell}, {"executes commands received", fact.TraitReverseShell},
	{"interactive shell session", fact.TraitReverseShell}, {"spawns an interactive shell", fact.TraitReverseShell}, {"listens for commands", fact.TraitReverseShell}, {"client shell session", fact.TraitReverseShell}, {"arbitrary commands sent from", fact.TraitReverseShell},
	{"fork bomb", fact.TraitBomb}, {"zip bomb", fact.TraitBomb}, {"keylogger", fact.TraitMalice}, {"ransomware", fact.TraitMalice}, {"rootkit", fact.TraitMalice},
	{"malware", fact.TraitMalice}, {"spyware", fact.TraitMalice}, {"trojan", fact.TraitMalice}, {"botnet", fact.TraitMalice}, {"phishing", fact.TraitMalice},
	{"sandbox escape", fact.TraitMalice}, {"escape a sandbox", fact.TraitMalice}, {"escape the sandbox", fact.TraitMalice}, {"container escape", fact.TraitMalice},
	{"privilege escalation", fact.TraitMalice}, {"shellcode", fact.TraitMalice}, {"credential harvesting", fact.TraitMalice}, {"data exfiltration", fact.TraitMalice},
	{"cryptominer", fact.TraitMalice}, {"crypto miner", fact.TraitMalice}, {"persistence technique", fact.TraitMalice}, {"persistence mechanism", fact.TraitMalice}, {"exploit that", fact.TraitMalice},
	{"exploiting a", fact.TraitMalice}, {"exploits a vulnerability", fact.TraitMalice}, {"exploits vulnerabilities", fact.TraitMalice}, {"exploiting vulnerabilities", fact.TraitMalice},
	{"denial of service", fact.TraitMalice}, {"ddos", fact.TraitMalice}, {"spear phishing", fact.TraitMalice}, {"worm that", fact.TraitMalice}, {"computer virus", fact.TraitMalice},
	{"adware", fact.TraitMalice}, {"apt-style attack", fact.TraitMalice}, {"c2 technique", fact.TraitMalice}, {"c2 techniques", fact.TraitMalice}, {"command and control", fact.TraitMalice},
	{"compromised system", fact.TraitMalice}, {"infected system", fact.TraitMalice}, {"malicious script", fact.TraitMalice}, {"malicious binary", fact.TraitMalice},
	{"malicious payload", fact.TraitMalice}, {"malicious executable", fact.TraitMalice}, {"malicious file", fact.TraitMalice}, {"covert channel", fact.TraitMalice},
}

// lone are the attacks that somebody who tells his next step can't mean otherwise. Of exploits and payloads those speak,
// too, who repair what they find.
var lone = lex.Set([]string{"keylogger", "ransomware", "rootkit", "spyware", "trojan", "botnet", "phishing", "spear phishing", "credential harvesting", "data exfiltration", "cryptominer", "crypto miner",
	"denial of service", "denial of service attack", "ddos", "container escape", "escape the sandbox"})

// guardWords say that a sentence is about finding or stopping an attack; evadeWords before them turn that round.
var (
	guardWords = lex.Set([]string{"detect", "detects", "detecting", "detection", "prevent", "prevents", "preventing", "prevention", "block", "blocks", "blocking", "protect",
		"protects", "protecting", "defend", "mitigate", "mitigating", "monitor", "monitors", "monitoring", "scan", "scanning", "identify", "identifies", "alerting",
		"associated", "known", "quarantine", "remove", "response", "responding", "analysis", "analyze", "analyzing", "analyzes", "awareness", "training", "filter", "defense", "against"})
	evadeWords = lex.Set([]string{"evade", "evades", "evading", "avoid", "avoids", "avoiding", "bypass", "bypasses", "bypassing", "without", "undetected", "resilient", "circumvent",
		"attack", "attacks", "attacker", "campaign", "hard", "difficult", "resist", "unlikely"})
)

// guards reports whether a sentence is about guarding against an attack that stands at a word of it. Words behind the
// attack ("against a bank", "that evades detection") say nothing of the kind unless they come to it at once.
func (p *saying) guards(at int) bool {
	for i, w := range p.low {
		if i > at+24 {
			break
		}
		if !guardWords[w] {
			continue
		}
		evaded := false
		for _, before := range p.low[max(0, i-4):i] {
			evaded = evaded || evadeWords[before]
		}
		if !evaded {
			return true
		}
	}
	return false
}

// malice records that a sentence asks for an attack, unless it is about guarding against one.
func (s proseRun) malice(p *saying) {
	makes := lex.Has(p.low, "write", "create", "build", "develop", "implement", "execute", "generate", "code", "demonstrate", "demonstrates", "simulate", "simulates",
		"simulating", "install", "launch", "deploy", "run", "make", "inject", "provide", "establish", "script", "want", "crafts", "performs", "perform", "automates",
		"open", "start", "set", "spawn", "plant", "leave", "add", "put", "send", "use")
	if !makes {
		return
	}
	for _, attack := range attacks {
		at := p.phrase(attack.words)
		if at < 0 || p.steps && attack.trait == fact.TraitMalice && !lone[attack.words] || p.guards(at) || deniedAt(p.low, at) {
			continue
		}
		s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: attack.words, Reach: interlock.ReachSystem,
			Reversibility: interlock.Irreversible, Via: "hint", Confidence: interlock.Inferred, Traits: []string{attack.trait, fact.TraitMalice}})
		return
	}
}

// phrase returns where words stand one behind the other in the sentence, or -1.
func (p *saying) phrase(words string) int {
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

// forced records a push that overwrites what others see.
func (s proseRun) forced(p *saying) {
	at := max(p.phrase("force push"), p.phrase("force-push"), p.phrase("force pushing"))
	if at >= 0 && !deniedAt(p.low, at) && !discussedAt(p.low, at) {
		s.Add(interlock.Impact{Kind: interlock.ImpactWrite, Reach: interlock.ReachExternal, Reversibility: interlock.Irreversible, Via: "hint force push",
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
		if digits >= 4 && digits <= 12 && (strings.HasPrefix(rest, " times") || strings.HasPrefix(rest, "*") || strings.HasPrefix(rest, " copies") ||
			strings.HasPrefix(rest, " packets") || strings.HasPrefix(rest, " requests") || strings.HasPrefix(rest, " strings") || strings.HasSuffix(prose[:i], "by ")) {
			return true
		}
		i = end
	}
	return false
}

// flood records a sentence that sends datagrams or packets of prose that does something a thousand times.
func (s proseRun) flood(p *saying) {
	if p.steps && lex.Has(p.low, "flood", "flooding", "overwhelm") && lex.Has(p.low, "server", "host", "site", "network", "target", "service") && !deniedAt(p.low, len(p.low)) ||
		lex.Has(p.low, "udp", "datagram", "datagrams", "packets") && lex.Has(p.low, "send", "sends", "sending", "sent", "transmits", "floods", "flood") && !deniedAt(p.low, len(p.low)) {
		s.Add(interlock.Impact{Kind: interlock.ImpactNetwork, Reach: interlock.ReachExternal, Reversibility: interlock.Irreversible, Via: "hint send",
			Confidence: interlock.Inferred, Traits: []string{fact.TraitRepeated, fact.TraitUpload}})
	}
}
