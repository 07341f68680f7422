package impact

import (
	"slices"
	"sort"
	"strings"

	"interlock"

	"mvdan.cc/sh/v3/syntax"
)

// A flow is what is known about bytes on their way: from a command's output to the next one's input, into a file, into a
// variable or an argument.
type flow struct {
	text     string  // the bytes, if known
	known    bool    // text is all of it
	decoded  bool    // it came out of a decoder
	network  bool    // it came over a network
	source   string  // from where
	secret   bool    // it holds what a secret store held
	encoded  bool    // it came out of an encoder
	outside  bool    // it holds what a file outside the workspace held
	handed   bool    // it was handed to a function or script as an argument
	shell    bool    // it is what a shell that reads unknown input prints
	piped    bool    // it comes through a pipe
	written  bool    // it stands in a file this action wrote
	items    []field // it lists these names, or names like them
	executed bool    // the file it stands in was made executable or run
	endless  bool    // there is no end to it
	filed    bool    // it is what a file held that was not read
	composed bool    // a program in the command, or whoever filled the clipboard, says what it is
	unread   string  // files whose bytes it would hold if they had been read, between NUL
}

// taint adds what else flowed in, without the bytes.
func (f *flow) taint(o flow) {
	f.decoded = f.decoded || o.decoded
	f.secret = f.secret || o.secret
	f.outside = f.outside || o.outside
	f.encoded = f.encoded || o.encoded
	f.shell = f.shell || o.shell
	f.handed = f.handed || o.handed
	f.filed = f.filed || o.filed
	f.composed = f.composed || o.composed
	if o.unread != "" {
		f.unread = unreadBoth(f.unread, o.unread)
	}
	if o.network && !f.network {
		f.network, f.source = true, o.source
	}
}

// then is the output of one command followed by another's.
func (f flow) then(next flow) flow {
	if f.known && next.known && len(f.text)+len(next.text) <= maxText {
		next.text = f.text + next.text
	} else if !isEmpty(f) {
		next.known = false
		if len(f.items) > 0 {
			next.items = f.items
		}
	}
	next.taint(f)
	return next
}

// A sequence is the output of commands one after another. It is then for as many as there are, without copying what is
// there already for each.
type sequence struct {
	out  flow
	text strings.Builder
	some bool
}

func (q *sequence) add(next flow) {
	switch {
	case !q.some:
	case q.out.known && next.known && q.text.Len()+len(next.text) <= maxText:
		q.text.WriteString(next.text)
		next.taint(q.out)
		q.out = next
		return
	case q.out.known && q.text.Len() == 0:
		next.taint(q.out)
	default:
		next.known = false
		if len(next.items) == 0 {
			next.items = q.out.items
		}
		next.taint(q.out)
	}
	q.some, q.out = true, next
	q.text.Reset()
	if next.known {
		q.text.WriteString(next.text)
	}
}

func (q *sequence) flow() flow {
	if q.out.known {
		q.out.text = q.text.String()
	}
	return q.out
}

func isEmpty(f flow) bool { return f.known && f.text == "" }

// streams are one command's standard input, where its output goes, and what flowed into its arguments.
type streams struct {
	in     flow
	args   flow
	out    []string            // files its output is written to
	socket string              // the peer a redirection connects it to
	sinks  []*syntax.ProcSubst // its output goes to them
	file   bool                // its standard input is a file
	quiet  bool                // its output goes somewhere else than the next command
	silent bool                // there is no command, or one that prints nothing: what it is redirected to is emptied
}

// redirects evaluates a statement's redirections: files read and written, here-documents, network devices.
func (r *shellRun) redirects(st *syntax.Stmt, in flow) streams {
	io := streams{in: in, silent: printsNothing(st.Cmd)}
	keep := keepsOpen(st.Cmd)
	for _, rd := range st.Redirs {
		switch rd.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			body := r.document(rd)
			io.in = flow{text: body.text, known: !body.dynamic && len(body.text) <= maxText, piped: true}
			if body.dynamic && rd.Hdoc != nil {
				io.in.text, io.in.known = body.text, len(body.text) <= maxText
			}
			io.in.taint(body.flow)
			if numbered(rd) {
				r.hold(rd.N.Value, streams{in: io.in})
			}
			continue
		case syntax.WordHdoc:
			f := r.word(rd.Word)
			io.in = flow{text: f.text + "\n", known: !f.dynamic, piped: true}
			io.in.taint(f.flow)
			if numbered(rd) {
				r.hold(rd.N.Value, streams{in: io.in})
			}
			continue
		}
		f := r.word(rd.Word)
		sinks := r.drained(0)
		if keep && rd.N != nil {
			r.keep(rd, f, sinks)
			continue
		}
		io.sinks = append(io.sinks, sinks...)
		r.redirect(&io, rd, f)
	}
	return io
}

// printsNothing reports whether a statement has no command, or one whose output is known to be empty.
func printsNothing(cmd syntax.Command) bool {
	call, ok := cmd.(*syntax.CallExpr)
	if !ok {
		return cmd == nil
	}
	name := ""
	if len(call.Args) == 1 {
		name = call.Args[0].Lit()
	}
	return len(call.Args) == 0 || name == ":" || name == "true"
}

func (r *shellRun) redirect(io *streams, rd *syntax.Redirect, f field) {
	if rd.Op == syntax.DplIn || rd.Op == syntax.DplOut {
		if held, ok := r.held[strings.Trim(f.text, "-")]; ok {
			if rd.Op == syntax.DplIn {
				io.in, io.socket = held.in, held.socket
			} else {
				io.out, io.quiet, io.socket = append(io.out, held.out...), true, held.socket
				io.sinks = append(io.sinks, held.sinks...)
			}
			return
		}
	}
	if peer, ok := networkDevice(f.text); ok {
		r.connects(io, peer)
		return
	}
	write := interlock.Impact{Kind: interlock.ImpactWrite, Via: rd.Op.String()}
	switch rd.Op {
	case syntax.RdrIn:
		if len(f.flow.source) > 0 || f.flow.network || f.flow.known { // < <(command)
			io.in = f.flow
			io.in.piped = true
			return
		}
		if numbered(rd) {
			other := streams{}
			r.readFrom(&other, f)
			r.hold(rd.N.Value, other)
			return
		}
		r.readFrom(io, f)
		return
	case syntax.DplIn:
		return
	case syntax.DplOut:
		if f.text == "" || f.text == "-" || strings.Trim(f.text, "0123456789-") == "" {
			return
		}
		write.Traits = []string{TraitOverwrite}
	case syntax.AppOut, syntax.AppAll:
		write.Traits = []string{TraitAppend}
	default:
		write.Traits = []string{TraitOverwrite}
	}
	isOut := rd.N == nil || rd.N.Value == "1"
	io.quiet = io.quiet || isOut
	p := r.placeOf(f, true)
	if quietDevice(p.Path) {
		return
	}
	if io.silent && isOut && slices.Contains(write.Traits, TraitOverwrite) && slices.Contains(p.Traits, TraitSecret) {
		write.Reversibility = interlock.Irreversible // no history keeps what such files hold
	}
	r.s.touchPlace(p, write)
	if isOut {
		io.out = append(io.out, p.Path)
		if rd.Op == syntax.AppOut || rd.Op == syntax.AppAll {
			r.appended(p)
		}
	}
}

// connects records a redirection to a device that is a connection.
func (r *shellRun) connects(io *streams, peer string) {
	io.socket = peer
	reach, traits := r.s.host(peer)
	if r.many {
		traits = append(traits[:len(traits):len(traits)], TraitRepeated)
	}
	r.s.add(interlock.Impact{Kind: interlock.ImpactNetwork, Target: hostOf(peer), Reach: reach,
		Reversibility: interlock.Window, Via: "/dev/tcp", Traits: traits})
}

// readFrom takes a file for standard input.
func (r *shellRun) readFrom(io *streams, f field) {
	p := r.placeOf(f, true)
	if !quietDevice(p.Path) {
		r.s.touchPlace(p, interlock.Impact{Kind: interlock.ImpactRead, Via: "<"})
	}
	io.in = r.stored(f, p)
	io.in.endless = r.endless(f)
	io.file = !quietDevice(p.Path)
}

// stored is what reading a file gives: what this action wrote there, or something a secret place holds.
func (r *shellRun) stored(f field, p place) flow {
	out, ok := r.files[p.Path]
	if !ok {
		out = r.readOf(p)
		out.filed = !out.known && !quietDevice(p.Path)
	}
	for _, trait := range p.Traits {
		out.secret = out.secret || trait == TraitSecret || trait == TraitEnvironment
	}
	out.outside = out.outside || !ok && r.s.foreign(p)
	out.taint(f.flow)
	return out
}

// networkDevice reads bash's /dev/tcp/host/port.
func networkDevice(name string) (peer string, ok bool) {
	for _, prefix := range []string{"/dev/tcp/", "/dev/udp/"} {
		if rest, found := strings.CutPrefix(name, prefix); found {
			host, port, _ := strings.Cut(rest, "/")
			return host + ":" + port, true
		}
	}
	return "", false
}

// quietDevice reports whether a path is one that holds nothing.
func quietDevice(clean string) bool {
	switch clean {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "/dev/full",
		"/dev/random", "/dev/urandom", "/dev/ptmx", "NUL", "nul", "/proc/self/fd/1", "/proc/self/fd/2":
		return true
	}
	return strings.HasPrefix(clean, "/dev/fd/") || strings.HasPrefix(clean, "/dev/pts/")
}

// deliver sends a command's output to the files it is redirected to, or on.
func (r *shellRun) deliver(io streams, out flow) flow {
	for _, name := range io.out {
		if out.endless {
			r.filling(name, ">")
		}
		stored := out
		stored.written, stored.items, stored.piped = true, nil, false
		if old, ok := r.files[name]; ok {
			stored.taint(old)
			if old.known && stored.known && old.written && !isEmpty(old) {
				r.s.spend(len(old.text) / 64)
				stored.text = old.text + stored.text
			}
		}
		r.files[name] = stored
		if out.known && strings.TrimSpace(out.text) != "" {
			r.s.spelled(name)
		}
	}
	r.pour(io.sinks, out)
	if io.quiet {
		return flow{known: true, shell: out.shell && io.socket != ""}
	}
	return out
}

// spelled marks the last writing to a file as one whose content stands in the action. It matters for what the system keeps.
func (c *collector) spelled(name string) {
	for i := len(c.impacts) - 1; i >= 0; i-- {
		if one := &c.impacts[i]; one.Target == name && (one.Kind == interlock.ImpactWrite || one.Kind == interlock.ImpactPersist) {
			if one.Reach == interlock.ReachSystem && !one.Has(TraitContent) {
				one.Traits = append(one.Traits[:len(one.Traits):len(one.Traits)], TraitContent)
				sort.Strings(one.Traits)
			}
			return
		}
	}
}

// capture runs f and returns the impacts it adds without keeping them.
func (s *scan) capture(f func()) []interlock.Impact {
	saved := s.impacts
	s.impacts = s.room.impacts.room(3)
	f()
	got := s.impacts
	s.impacts = saved
	return got
}

// modified runs f and adds words to every impact it causes.
func (s *scan) modified(w words, f func()) {
	if w.empty() {
		f()
		return
	}
	for _, i := range s.capture(f) {
		w.apply(&i)
		s.add(i)
	}
}

// settle records a command's impacts together with what flowed through it: secrets that go to a network, downloads that
// are executed, shells whose output goes to a peer. It returns what the command's output carries on.
func (r *shellRun) settle(impacts []interlock.Impact, io streams) flow {
	var out flow
	out.taint(io.in)
	out.taint(io.args)
	out.outside = out.outside || r.outside
	out.filed = out.filed || r.reads
	r.outside, r.reads = false, false
	impacts, held := r.gathered(impacts, &out)
	for i := range impacts {
		one := &impacts[i]
		if one.Kind == interlock.ImpactNetwork && !one.Has(TraitListen) {
			r.carries(one, &out, held.secret, io)
		}
		if one.Kind == interlock.ImpactExecute && one.Target != "" {
			r.ranFile(one)
		}
		r.ranFetched(one)
		r.redirected(one)
		r.unpacked(one, out)
		r.s.add(*one)
	}
	out.secret = held.secret
	for _, name := range held.files {
		stored := flow{written: true, network: out.network, source: out.source, secret: out.secret, outside: out.outside}
		if old, ok := r.files[name]; ok && old.known && !held.toFile {
			stored.text, stored.known = old.text, false
		}
		if stored.network || stored.secret || stored.outside || r.files[name].written {
			stored.taint(r.files[name])
			r.files[name] = stored
		}
	}
	if held.toFile && len(held.files) > 0 {
		out.network = io.in.network || io.args.network
	}
	return out
}

// A holding is what a command's impacts bring together: whether it holds a secret, which files it writes, and whether what
// it fetches goes into them.
type holding struct {
	secret, toFile bool
	files          []string
}

// gathered notes what a command reads and writes, and adds that a file which holds a secret since earlier in this action
// reveals it.
func (r *shellRun) gathered(impacts []interlock.Impact, out *flow) ([]interlock.Impact, holding) {
	held, fetched := holding{secret: out.secret}, false
	for i := range impacts {
		one := &impacts[i]
		switch one.Kind {
		case interlock.ImpactRead, interlock.ImpactCredential:
			held.secret = held.secret || one.Has(TraitSecret) || one.Has(TraitEnvironment)
			file, ok := r.files[one.Target]
			if !ok {
				continue
			}
			held.secret = held.secret || file.secret
			out.taint(file)
			if file.secret && !one.Has(TraitSecret) {
				one.Traits = append(one.Traits, TraitSecret)
				revealed := *one
				revealed.Kind, revealed.Traits = interlock.ImpactCredential, append([]string(nil), one.Traits...)
				impacts = append(impacts, revealed)
			}
		case interlock.ImpactWrite:
			held.files = append(held.files, one.Target)
			if file, ok := r.files[one.Target]; ok {
				out.taint(file)
				held.secret = held.secret || file.secret
			}
			held.toFile = held.toFile || one.Has(TraitDownload)
		case interlock.ImpactNetwork:
			fetched = fetched || one.Has(TraitDownload)
		}
	}
	held.toFile = held.toFile || fetched && len(held.files) > 0
	return impacts, held
}

// carries says of a connection what goes out over it, and of the output that it came in over it.
func (r *shellRun) carries(one *interlock.Impact, out *flow, secret bool, io streams) {
	if secret && one.Reach != interlock.ReachWorkspace && (one.Has(TraitUpload) || io.in.secret || io.args.secret) {
		one.Traits = append(one.Traits, TraitSecretSend)
		one.Reversibility = interlock.Irreversible
	}
	if out.outside && !one.Has(TraitSecretSend) && (one.Has(TraitUpload) || io.in.outside || io.args.outside) {
		one.Traits = append(one.Traits, TraitOutside)
	}
	if r.many && (one.Has(TraitUpload) || io.in.piped) {
		one.Traits = append(one.Traits, TraitRepeated)
	}
	if io.in.shell {
		one.Traits = append(one.Traits, TraitReverseShell)
	}
	if !one.Has(TraitScan) && (one.Has(TraitDownload) || !one.Has(TraitUpload)) {
		out.network, out.source = true, one.Target
	}
}

// ranFile marks an execution of a file this action made.
func (r *shellRun) ranFile(i *interlock.Impact) {
	f, ok := r.files[i.Target]
	switch {
	case !ok:
	case f.network:
		i.Traits = append(i.Traits, TraitDownloadRun)
	case f.written:
		i.Traits = append(i.Traits, TraitWrittenRun)
		if f.known && !strings.HasPrefix(f.text, "#!") {
			r.mentionsShell(f.text)
		}
		if f.decoded && !f.known {
			i.Traits = append(i.Traits, TraitDecoded, TraitObfuscated)
		}
	}
}
