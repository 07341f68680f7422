package program

import (
	"sort"
	"strconv"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
)

func sorted(list []string) []string {
	sort.Strings(list)
	return list
}

// flows notes calls that matter together: sockets, redirection, walking and encrypting.
func (r *codeRun) flows(c *codeCall) {
	switch c.name {
	case "os.dup2":
		r.redirects = true
	case "sys.path.insert", "sys.path.append":
		for _, v := range c.positional() {
			r.searched("sys.path", v)
		}
	case "Buffer.alloc", "Buffer.allocUnsafe", "Array", "mmap.mmap", "numpy.zeros", "numpy.ones", "numpy.empty",
		"Uint8Array", "ArrayBuffer":
		for _, v := range c.positional() {
			r.allocated(c.name, sizeOf(v))
		}
	}
	switch c.last {
	case "walk", "rglob", "readdirSync", "readdir":
		r.walks = true
	case "encrypt", "encrypt_and_digest", "createCipheriv", "encryptor":
		r.encrypts = r.encrypts || r.importsAny([]string{"cryptography", "Crypto", "Cryptodome", "nacl", "pyaes", "crypto"})
	case "connect":
		r.inMemory = r.inMemory || c.name == "sqlite3.connect" && c.argument(0, "database").text() == ":memory:"
	case "write", "writelines":
		if len(c.receiver.opened()) > 0 {
			r.keep(codeValue{texts: c.receiver.opened()}, c.argument(0))
		}
	case "repeat":
		r.repeats = r.repeats || c.argument(0).amount() >= 1000
		r.allocated(c.last, c.argument(0).amount())
	}
	r.carried(c)
	if !r.imports["socket"] && !r.imports["net"] && !r.imports["tls"] && !r.imports["dgram"] && !r.imports["websocket"] &&
		!r.imports["ws"] && !r.imports["socketserver"] {
		return
	}
	r.throughSocket(c)
}

// carried notes what a call on something connected hears, and what goes out with it.
func (r *codeRun) carried(c *codeCall) {
	switch c.last {
	case "on", "addEventListener":
		if text := c.argument(0).text(); r.network && (text == "data" || text == "message") {
			r.received = true
		}
	case "gethostbyname", "getaddrinfo", "resolve", "lookup", "query":
		if marks := c.marks(); marks&(markSecret|markEnviron|markOutside|markPrivate) != 0 {
			r.send(interlock.Impact{Reach: interlock.ReachExternal, Via: c.name}, marks, false)
		}
	case "write", "end", "send", "request":
		if over := r.calls[c.receiver.is]; over.What == "request" || over.What == "host" && over.Kind == interlock.ImpactNetwork {
			if marks := c.marks(); marks != 0 {
				r.send(interlock.Impact{Reach: interlock.ReachExternal, Via: c.name}, marks, false)
			}
		}
	}
}

// throughSocket notes what a program that works with sockets does with them.
func (r *codeRun) throughSocket(c *codeCall) {
	switch c.last {
	case "recv", "accept", "recvfrom":
		r.received = true
	case "socket", "connect", "create_connection", "createConnection", "Socket":
		r.network = true
	case "sendto":
		r.datagrams = c.name
	case "on":
		r.received = r.received || c.argument(0).text() == "data"
	case "pipe":
		if strings.Contains(c.receiver.is+c.argument(0).is, "std") &&
			(strings.Contains(c.receiver.is, "child_process") || strings.Contains(c.argument(0).is, "child_process")) {
			r.redirects = true
		}
	case "send", "sendall", "write", "sendfile", "end":
		if marks := c.marks(); marks&(markSecret|markEnviron|markOutside|markPrivate) != 0 && len(c.receiver.opened()) == 0 {
			r.send(interlock.Impact{Reach: interlock.ReachExternal, Via: c.name}, marks, false)
		}
	}
}

// forks reports whether a call makes processes without end, and records it.
func (r *codeRun) forks(c *codeCall) bool {
	if c.name != "os.fork" {
		return false
	}
	if len(r.frames) > 0 {
		r.frames[len(r.frames)-1].grows = c.name
	}
	grows := false
	for _, loop := range r.loops {
		if loop.many {
			r.s.Add(interlock.Impact{Kind: interlock.ImpactSpawn, Reach: interlock.ReachSystem, Via: c.name,
				Reversibility: interlock.Irreversible, Traits: []string{fact.TraitBomb}})
			return true
		}
		if loop.endless {
			loop.grows, grows = c.name, true
		}
	}
	return grows
}

// conclude records what follows from calls together.
func (r *codeRun) conclude() {
	if (r.network || r.received) && (r.redirects || r.received && r.dynamic) {
		r.s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachExternal, Via: string(r.kind) + " socket",
			Reversibility: interlock.Irreversible, Confidence: interlock.Inferred, Traits: []string{fact.TraitReverseShell}})
	}
	for _, sent := range r.sent {
		i := sent.impact
		i.Kind, i.Reversibility, i.Confidence = interlock.ImpactNetwork, interlock.Irreversible, interlock.Inferred
		home := i.Reach == interlock.ReachWorkspace && strings.Contains(i.Target, "://")
		switch {
		case (sent.marks&(markSecret|markEnviron) != 0 || sent.coarse && r.secretIn) && !home:
			i.Traits = []string{fact.TraitSecretSend, fact.TraitUpload}
		case sent.marks&(markOutside|markPrivate|markSecret) != 0 || sent.coarse && r.outside:
			i.Traits = []string{fact.TraitOutside, fact.TraitUpload}
		default:
			continue
		}
		r.s.Add(i)
	}
	if r.datagrams != "" && r.repeats {
		r.s.Add(interlock.Impact{Kind: interlock.ImpactNetwork, Reach: interlock.ReachExternal, Via: r.datagrams,
			Reversibility: interlock.Irreversible,
			Confidence:    interlock.Inferred, Traits: []string{fact.TraitRepeated, fact.TraitUpload}})
	}
	if r.walks && r.encrypts && r.rewrites { // the holder of the key has the files
		r.s.Add(interlock.Impact{Kind: interlock.ImpactDelete, Reach: interlock.ReachHome, Via: string(r.kind) + " encryption",
			Reversibility: interlock.Irreversible,
			Confidence:    interlock.Inferred, Traits: []string{fact.TraitBulk, fact.TraitOverwrite, fact.TraitMalice}})
	}
}

// allocated notes a piece of memory larger than machines have to spare.
func (r *codeRun) allocated(via string, bytes float64) {
	if bytes >= 32e9 {
		r.s.Add(interlock.Impact{Kind: interlock.ImpactSpawn, Reach: interlock.ReachSystem, Via: via,
			Reversibility: interlock.Irreversible,
			Confidence:    interlock.Inferred, Traits: []string{fact.TraitBomb}})
	}
}

// grown notes, within a loop, a call that makes something more, and one that takes its time.
func (r *codeRun) grown(c *codeCall) {
	if len(r.loops) == 0 {
		return
	}
	name := c.callee.is
	if name == "child_process.fork" {
		name = "child_process.spawn"
	}
	if r.calls[name].What == "request" {
		return
	}
	switch last := name[strings.LastIndexByte(name, '.')+1:]; last {
	case "sleep", "wait", "input", "recv", "accept", "recvfrom", "read", "readline", "get", "join", "exit", "quit", "_exit",
		"poll", "select", "mainloop", "update",
		"tick", "next", "delay", "acquire", "communicate", "run", "call", "check_call", "check_output", "system", "execSync",
		"spawnSync", "question", "recv_json", "receive", "waitpid":
		r.waits()
	case "write", "writelines":
		if len(c.receiver.opened()) == 0 && !strings.HasPrefix(c.receiver.is, "fs.") {
			return
		}
		r.growing(last)
	case "append", "extend", "Popen", "Thread", "Process", "push", "appendFileSync", "spawn", "start_new_thread",
		"Worker", "exec":
		r.growing(last)
	}
}

// sending notes in every loop around that it asks something of others.
func (r *codeRun) sending(via string) {
	for _, loop := range r.loops {
		loop.sends = via
	}
}

// growing notes in every endless loop around that something grows.
func (r *codeRun) growing(via string) {
	for _, loop := range r.loops {
		if loop.endless && loop.grows == "" {
			loop.grows = via
		}
	}
}

// unpickled notes a deserialiser that runs what it is given, where that was hidden or came over a network.
func (r *codeRun) unpickled(c *codeCall) bool {
	switch c.name {
	case "pickle.loads", "dill.loads", "cloudpickle.loads", "jsonpickle.decode", "yaml.load", "yaml.unsafe_load",
		"yaml.full_load", "joblib.load",
		"pickle.Unpickler", "pickle.load", "node-serialize.unserialize", "shelve.open", "yaml.load_all", "yaml.unsafe_load_all",
		"marshal.loads", "marshal.load", "torch.load":
	default:
		return false
	}
	target := c.argument(0, "data", "s", "stream")
	i := interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Via: c.name,
		Reversibility: interlock.Window, Confidence: interlock.Inferred}
	for _, text := range target.texts {
		if strings.Contains(text, "\nR") || strings.Contains(text, "tR.") || strings.Contains(text, "!!python/") ||
			strings.Contains(text, "_$$ND_FUNC$$_") || strings.Contains(text, "py/reduce") {
			i.Traits = []string{fact.TraitDecoded, fact.TraitInline, fact.TraitObfuscated} // it spells out a call
		}
	}
	code := !strings.HasPrefix(c.name, "yaml.") && c.name != "marshal.loads"
	if i.Traits == nil && code && (r.hidden(c) || target.decoded()) {
		i.Traits = []string{fact.TraitDecoded, fact.TraitDynamic, fact.TraitObfuscated}
	}
	if safe, ok := c.option("Loader"); ok && strings.Contains(safe.is, "Safe") {
		return false
	}
	if target.marks&markNetwork != 0 || r.fetched(c) {
		i.Traits = append(i.Traits, r.ranFetched())
	}
	if i.Traits == nil {
		return false
	}
	r.say(r.kind, c.name+"("+visible(target.text())+")")
	r.s.Add(i)
	return true
}

// reduced reads what an object says it is made again by: a function and its arguments, which a deserialiser calls.
func (r *codeRun) reduced(v codeValue) {
	if len(v.items) < 2 || !r.actsOn(v.items[0]) {
		return
	}
	before := len(r.s.Impacts)
	inner := &codeCall{callee: v.items[0]}
	inner.spread(nil, v.items[1])
	r.again(inner)
	r.s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Via: "__reduce__",
		Reversibility: interlock.Window, Confidence: interlock.Inferred,
		Traits: []string{fact.TraitDynamic}})
	r.hide(before)
}

// hidden reports whether arguments go through a decoder.
func (r *codeRun) hidden(c *codeCall) bool {
	return c.mentions("b64decode", "decompress", "unhexlify", "fromhex", "atob", "marshal", "b32decode", "b85decode",
		"a85decode", "decode")
}

// fetched reports whether arguments come straight from a network.
func (r *codeRun) fetched(c *codeCall) bool {
	return c.mentions("requests", "urlopen", "fetch", "axios", "urllib", "recv")
}

// mentions reports whether one of the names is in the arguments.
func (c *codeCall) mentions(names ...string) bool {
	left := 256
	for i := range c.arguments {
		if c.arguments[i].node != nil && mentioned(c.arguments[i].node, names, &left) {
			return true
		}
	}
	return false
}

func mentioned(n *codeNode, names []string, left *int) bool {
	if *left--; *left < 0 {
		return false
	}
	if (n.kind == nodeName || n.kind == nodeAttr) && fact.HasTrait(names, n.text) {
		return true
	}
	for _, child := range n.of {
		if mentioned(child, names, left) {
			return true
		}
	}
	return false
}

// modes gives the rules on chmod the command that a call amounts to.
func (r *codeRun) modes(c *codeCall, target codeValue) {
	if c.name != "os.chmod" && c.name != "fs.chmod" && c.name != "fs.chmodSync" && c.name != "fs.promises.chmod" {
		return
	}
	mode, ok := c.argument(1, "mode").whole()
	if !ok || mode < 0 || mode > 0o7777 {
		return
	}
	for _, path := range pathsOf(target) {
		r.say(interlock.KindShell, "chmod "+strconv.FormatInt(int64(mode), 8)+" "+path)
	}
}

// killed gives the rules on kill the command that a call amounts to, and reports whether it ends only what the program
// itself is or has started.
func (r *codeRun) killed(c *codeCall) bool {
	if c.name != "os.kill" && c.name != "process.kill" && c.name != "os.killpg" {
		return false
	}
	target := c.argument(0, "pid")
	if pid, ok := target.whole(); ok {
		r.say(interlock.KindShell, "kill -9 "+strconv.Itoa(pid))
		return false
	}
	switch {
	case target.is == "os.getpid", target.is == "process.pid", strings.HasPrefix(target.is, "subprocess.Popen."),
		strings.HasPrefix(target.is, "child_process."),
		strings.HasPrefix(target.is, "multiprocessing."), target.is == "os.fork", c.argument(1).number &&
			c.argument(1).text() == "0":
		return true
	}
	return false
}

// Climbs reports whether an absolute path leaves the directory that it names first.
func Climbs(path string) bool {
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
