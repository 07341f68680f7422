package impact

import (
	"strconv"
	"strings"

	"interlock"
)

// flows notes calls that matter together: sockets, redirection, endless forks.
func (r *codeRun) flows(name, last string, arguments [][]codeToken) bool {
	switch name {
	case "os.dup2":
		r.redirects = true
	case "os.fork":
		if r.loops {
			r.s.add(interlock.Impact{Kind: interlock.ImpactSpawn, Reach: interlock.ReachSystem, Via: name, Reversibility: interlock.Irreversible, Traits: []string{TraitBomb}})
			return true
		}
	case "os.environ.items", "os.environ.copy", "dict":
		if strings.HasPrefix(name, "os.environ") || len(arguments) == 1 && len(arguments[0]) == 3 && arguments[0][2].text == "environ" {
			r.secretIn = true
		}
	}
	switch last {
	case "walk", "rglob", "readdirSync", "readdir":
		r.walks = true
	case "encrypt", "encrypt_and_digest", "createCipheriv", "encryptor":
		r.encrypts = r.encrypts || r.importsAny([]string{"cryptography", "Crypto", "Cryptodome", "nacl", "pyaes", "crypto"})
	case "connect":
		r.inMemory = r.inMemory || name == "sqlite3.connect" && r.argument(arguments, 0, "database").text() == ":memory:"
	}
	if r.imports["socket"] || r.imports["net"] {
		switch last {
		case "recv", "accept", "recvfrom":
			r.received = true
		case "socket", "connect", "create_connection", "createConnection", "Socket":
			r.network = true
		case "sendto":
			r.datagrams = name
		}
	}
	return false
}

// conclude records what follows from calls together.
func (r *codeRun) conclude() {
	if (r.network || r.received) && (r.redirects || r.received && r.dynamic) {
		r.s.add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachExternal, Via: string(r.kind) + " socket",
			Reversibility: interlock.Irreversible, Confidence: interlock.Inferred, Traits: []string{TraitReverseShell}})
	}
	for _, i := range r.sent {
		i.Kind, i.Reversibility, i.Confidence = interlock.ImpactNetwork, interlock.Irreversible, interlock.Inferred
		switch {
		case r.secretIn && (i.Reach != interlock.ReachWorkspace || !strings.Contains(i.Target, "://")):
			i.Traits = []string{TraitSecretSend, TraitUpload}
		case r.outside:
			i.Traits = []string{TraitOutside, TraitUpload}
		default:
			continue
		}
		r.s.add(i)
	}
	if r.datagrams != "" && (r.loops || r.multiplies()) {
		r.s.add(interlock.Impact{Kind: interlock.ImpactNetwork, Reach: interlock.ReachExternal, Via: r.datagrams, Reversibility: interlock.Irreversible,
			Confidence: interlock.Inferred, Traits: []string{TraitRepeated, TraitUpload}})
	}
	if r.walks && r.encrypts && r.rewrites { // whoever has the key has the files
		r.s.add(interlock.Impact{Kind: interlock.ImpactDelete, Reach: interlock.ReachHome, Via: string(r.kind) + " encryption", Reversibility: interlock.Irreversible,
			Confidence: interlock.Inferred, Traits: []string{TraitBulk, TraitOverwrite, TraitMalice}})
	}
	if via := r.endless(); via != "" {
		r.s.add(interlock.Impact{Kind: interlock.ImpactSpawn, Reach: interlock.ReachSystem, Via: via, Reversibility: interlock.Irreversible,
			Confidence: interlock.Inferred, Traits: []string{TraitBomb}})
	}
}

// multiplies reports whether the program repeats something a thousand times or more.
func (r *codeRun) multiplies() bool {
	for i := 0; i+1 < len(r.tokens); i++ {
		if n := r.tokens[i+1]; n.kind == codeNumber && (r.tokens[i].is("*") || r.tokens[i].is("(") && i > 0 && (r.tokens[i-1].text == "range" || r.tokens[i-1].text == "repeat")) {
			if count, err := strconv.ParseFloat(strings.ReplaceAll(n.text, "_", ""), 64); err == nil && count >= 1000 {
				return true
			}
		}
	}
	return false
}

// endless returns the call that grows without bound: it stands behind an endless loop that nothing ends, slows down or
// waits in. The end of a loop's body is not known here, so everything behind its head counts, on both sides.
func (r *codeRun) endless() string {
	if !r.loops {
		return ""
	}
	head, grows := -1, ""
	for i := range r.tokens {
		t := &r.tokens[i]
		if t.kind != codeName {
			continue
		}
		if t.text == "while" && i+1 < len(r.tokens) && (r.tokens[i+1].text == "True" || r.tokens[i+1].text == "1" || i+2 < len(r.tokens) && r.tokens[i+2].text == "true") {
			head, grows = i, ""
			continue
		}
		if head < 0 {
			continue
		}
		called := i+1 < len(r.tokens) && r.tokens[i+1].is("(")
		switch t.text {
		case "break", "return", "raise", "throw", "yield", "await", "sleep", "wait", "input", "recv", "accept", "recvfrom", "read", "readline", "get", "join",
			"exit", "quit", "_exit", "poll", "select", "mainloop", "update", "tick", "next", "delay", "acquire", "communicate", "assert", "for", "if", "except":
			return ""
		case "append", "write", "writelines", "extend", "Popen", "Thread", "Process", "push", "appendFileSync", "spawn", "start_new_thread":
			if called && grows == "" {
				grows = t.text
			}
		}
	}
	return grows
}

// unpickled notes a deserialiser that runs what it is given, where that was hidden or came over a network.
func (r *codeRun) unpickled(name string, arguments [][]codeToken) bool {
	switch name {
	case "pickle.loads", "_pickle.loads", "cPickle.loads", "dill.loads", "cloudpickle.loads", "jsonpickle.decode", "yaml.load", "yaml.unsafe_load", "yaml.full_load",
		"pickle.Unpickler", "node-serialize.unserialize":
	default:
		return false
	}
	target := r.argument(arguments, 0, "data", "s", "stream")
	i := interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Via: name, Reversibility: interlock.Window, Confidence: interlock.Inferred}
	for _, text := range target.texts {
		if strings.Contains(text, "\nR") || strings.Contains(text, "tR.") || strings.Contains(text, "!!python/") || strings.Contains(text, "_$$ND_FUNC$$_") {
			i.Traits = []string{TraitDecoded, TraitInline, TraitObfuscated} // it spells out a call
		}
	}
	if i.Traits == nil && (r.hidden(arguments) || target.decoded) && !strings.HasPrefix(name, "yaml.") {
		i.Traits = []string{TraitDecoded, TraitDynamic, TraitObfuscated}
	}
	if r.fetched(arguments) {
		i.Traits = append(i.Traits, TraitDownloadRun)
	}
	if i.Traits == nil {
		return false
	}
	r.s.executes(r.kind, name+"("+visible(target.text())+")")
	r.s.add(i)
	return true
}

// hidden reports whether arguments go through a decoder.
func (r *codeRun) hidden(arguments [][]codeToken) bool {
	return anyToken(arguments, "b64decode", "decompress", "unhexlify", "fromhex", "atob", "marshal", "b32decode", "b85decode", "a85decode", "decode")
}

// fetched reports whether arguments come straight from a network.
func (r *codeRun) fetched(arguments [][]codeToken) bool {
	return anyToken(arguments, "requests", "urlopen", "fetch", "axios", "urllib", "recv")
}

func anyToken(arguments [][]codeToken, names ...string) bool {
	for _, a := range arguments {
		for k := range a {
			if a[k].kind == codeName && hasTrait(names, a[k].text) {
				return true
			}
		}
	}
	return false
}

// modes gives the rules on chmod the command that a call amounts to.
func (r *codeRun) modes(name string, target codeValue, arguments [][]codeToken) {
	if name != "os.chmod" && name != "fs.chmod" && name != "fs.chmodSync" || len(arguments) < 2 || len(arguments[1]) != 1 || arguments[1][0].kind != codeNumber {
		return
	}
	mode, err := strconv.ParseUint(arguments[1][0].text, 0, 16)
	if err != nil {
		return
	}
	for _, path := range pathsOf(target) {
		r.s.executes(interlock.KindShell, "chmod "+strconv.FormatUint(mode, 8)+" "+path)
	}
}

// killed gives the rules on kill the command that a call amounts to.
func (r *codeRun) killed(name string, arguments [][]codeToken) {
	if name != "os.kill" && name != "process.kill" || len(arguments) == 0 {
		return
	}
	number := ""
	for _, t := range arguments[0] {
		number += t.text
	}
	if _, err := strconv.Atoi(number); err == nil {
		r.s.executes(interlock.KindShell, "kill -9 "+number)
	}
}

// climbs reports whether an absolute path leaves the directory that it names first.
func climbs(path string) bool {
	if !strings.HasPrefix(path, "/") || !strings.Contains(path, "/..") {
		return false
	}
	depth := 0
	for _, part := range strings.Split(path, "/") {
		switch part {
		case "", ".":
		case "..":
			if depth--; depth <= 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}
