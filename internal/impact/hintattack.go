package impact

import (
	"strings"

	"interlock"
)

// homeDotfiles are names of files that, named alone, are those of a home directory.
var homeDotfiles = set([]string{".bashrc", ".zshrc", ".profile", ".bash_profile", ".ssh", ".aws", ".netrc", ".git-credentials", ".bash_history", ".kube", ".gnupg"})

// attacks are things nobody makes for a harmless end, as the words that name them, and the trait that fits.
var attacks = []struct {
	words string
	trait string
}{
	{"reverse shell", TraitReverseShell}, {"backdoor", TraitReverseShell}, {"bind shell", TraitReverseShell}, {"execute commands from", TraitReverseShell},
	{"executes commands from", TraitReverseShell}, {"execute commands received", TraitReverseShell}, {"executes commands received", TraitReverseShell},
	{"interactive shell session", TraitReverseShell}, {"spawns an interactive shell", TraitReverseShell}, {"listens for commands", TraitReverseShell}, {"client shell session", TraitReverseShell}, {"arbitrary commands sent from", TraitReverseShell},
	{"fork bomb", TraitBomb}, {"zip bomb", TraitBomb}, {"keylogger", TraitMalice}, {"ransomware", TraitMalice}, {"rootkit", TraitMalice},
	{"malware", TraitMalice}, {"spyware", TraitMalice}, {"trojan", TraitMalice}, {"botnet", TraitMalice}, {"phishing", TraitMalice},
	{"sandbox escape", TraitMalice}, {"escape a sandbox", TraitMalice}, {"escape the sandbox", TraitMalice}, {"container escape", TraitMalice},
	{"privilege escalation", TraitMalice}, {"shellcode", TraitMalice}, {"credential harvesting", TraitMalice}, {"data exfiltration", TraitMalice},
	{"cryptominer", TraitMalice}, {"crypto miner", TraitMalice}, {"persistence technique", TraitMalice}, {"persistence mechanism", TraitMalice}, {"exploit that", TraitMalice},
	{"exploiting a", TraitMalice}, {"exploits a vulnerability", TraitMalice}, {"exploits vulnerabilities", TraitMalice}, {"exploiting vulnerabilities", TraitMalice},
	{"denial of service", TraitMalice}, {"ddos", TraitMalice}, {"spear phishing", TraitMalice}, {"worm that", TraitMalice}, {"computer virus", TraitMalice},
	{"adware", TraitMalice}, {"apt-style attack", TraitMalice}, {"c2 technique", TraitMalice}, {"c2 techniques", TraitMalice}, {"command and control", TraitMalice},
	{"compromised system", TraitMalice}, {"infected system", TraitMalice}, {"malicious script", TraitMalice}, {"malicious binary", TraitMalice},
	{"malicious payload", TraitMalice}, {"malicious executable", TraitMalice}, {"malicious file", TraitMalice}, {"covert channel", TraitMalice},
}

// lone are the attacks that somebody who tells his next step can't mean otherwise. Of exploits and payloads those speak,
// too, who repair what they find.
var lone = set([]string{"keylogger", "ransomware", "rootkit", "spyware", "trojan", "botnet", "phishing", "spear phishing", "credential harvesting", "data exfiltration", "cryptominer", "crypto miner",
	"denial of service", "denial of service attack", "ddos", "container escape", "escape the sandbox"})

// guardWords say that a sentence is about finding or stopping an attack; evadeWords before them turn that round.
var (
	guardWords = set([]string{"detect", "detects", "detecting", "detection", "prevent", "prevents", "preventing", "prevention", "block", "blocks", "blocking", "protect",
		"protects", "protecting", "defend", "mitigate", "mitigating", "monitor", "monitors", "monitoring", "scan", "scanning", "identify", "identifies", "alerting",
		"associated", "known", "quarantine", "remove", "response", "responding", "analysis", "analyze", "analyzing", "analyzes", "awareness", "training", "filter", "defense", "against"})
	evadeWords = set([]string{"evade", "evades", "evading", "avoid", "avoids", "avoiding", "bypass", "bypasses", "bypassing", "without", "undetected", "resilient", "circumvent",
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
	makes := has(p.low, "write", "create", "build", "develop", "implement", "execute", "generate", "code", "demonstrate", "demonstrates", "simulate", "simulates",
		"simulating", "install", "launch", "deploy", "run", "make", "inject", "provide", "establish", "script", "want", "crafts", "performs", "perform", "automates",
		"open", "start", "set", "spawn", "plant", "leave", "add", "put", "send", "use")
	if !makes {
		return
	}
	for _, attack := range attacks {
		at := p.phrase(attack.words)
		if at < 0 || p.steps && attack.trait == TraitMalice && !lone[attack.words] || p.guards(at) || deniedAt(p.low, at) {
			continue
		}
		s.add(interlock.Impact{Kind: interlock.ImpactExecute, Target: attack.words, Reach: interlock.ReachSystem,
			Reversibility: interlock.Irreversible, Via: "hint", Confidence: interlock.Inferred, Traits: []string{attack.trait, TraitMalice}})
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
		s.add(interlock.Impact{Kind: interlock.ImpactWrite, Reach: interlock.ReachExternal, Reversibility: interlock.Irreversible, Via: "hint force push",
			Confidence: interlock.Inferred, Traits: []string{TraitForce, TraitHistory}})
	}
}

// saysThousands reports whether prose speaks of a number of a thousand or more as how often or how much: 10,000 times, 10000*a.
func saysThousands(prose string) bool {
	for i := 0; i < len(prose); {
		if c := prose[i]; c < '1' || c > '9' || i > 0 && (inAddress(prose[i-1]) || prose[i-1] == '.') {
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
	if p.steps && has(p.low, "flood", "flooding", "overwhelm") && has(p.low, "server", "host", "site", "network", "target", "service") && !deniedAt(p.low, len(p.low)) ||
		has(p.low, "udp", "datagram", "datagrams", "packets") && has(p.low, "send", "sends", "sending", "sent", "transmits", "floods", "flood") && !deniedAt(p.low, len(p.low)) {
		s.add(interlock.Impact{Kind: interlock.ImpactNetwork, Reach: interlock.ReachExternal, Reversibility: interlock.Irreversible, Via: "hint send",
			Confidence: interlock.Inferred, Traits: []string{TraitRepeated, TraitUpload}})
	}
}
