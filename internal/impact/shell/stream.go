package shell

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
	"interlock/internal/lex"

	"mvdan.cc/sh/v3/syntax"
)

// redirects evaluates a statement's redirections: files read and written, here-documents, network devices.
func (r *shellRun) redirects(st *syntax.Stmt, in flow.Flow) flow.Streams {
	io := flow.Streams{In: in, Silent: flow.PrintsNothing(st.Cmd)}
	keep := keepsOpen(st.Cmd)
	for _, rd := range st.Redirs {
		switch rd.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			body := r.document(rd)
			io.In = flow.Flow{Text: body.Text, Known: !body.Dynamic && len(body.Text) <= lex.MaxText, Piped: true}
			if body.Dynamic && rd.Hdoc != nil {
				io.In.Text, io.In.Known = body.Text, len(body.Text) <= lex.MaxText
			}
			io.In.Taint(body.Flow)
			if numbered(rd) {
				r.hold(rd.N.Value, flow.Streams{In: io.In})
			}
			continue
		case syntax.WordHdoc:
			f := r.word(rd.Word)
			io.In = flow.Flow{Text: f.Text + "\n", Known: !f.Dynamic, Piped: true}
			io.In.Taint(f.Flow)
			if numbered(rd) {
				r.hold(rd.N.Value, flow.Streams{In: io.In})
			}
			continue
		}
		f := r.word(rd.Word)
		sinks := r.drained(0)
		if keep && rd.N != nil {
			r.keep(rd, f, sinks)
			continue
		}
		io.Sinks = append(io.Sinks, sinks...)
		r.redirect(&io, rd, f)
	}
	return io
}

func (r *shellRun) redirect(io *flow.Streams, rd *syntax.Redirect, f flow.Field) {
	if r.duplicated(io, rd, f) {
		return
	}
	if peer, ok := flow.NetworkDevice(f.Text); ok {
		r.connects(io, peer)
		return
	}
	write := interlock.Impact{Kind: interlock.ImpactWrite, Via: rd.Op.String()}
	switch rd.Op {
	case syntax.RdrIn:
		if len(f.Flow.Source) > 0 || f.Flow.Network || f.Flow.Known { // < <(command)
			io.In = f.Flow
			io.In.Piped = true
			if numbered(rd) {
				r.hold(rd.N.Value, flow.Streams{In: io.In})
			}
			return
		}
		if numbered(rd) {
			other := flow.Streams{}
			r.readFrom(&other, f)
			r.hold(rd.N.Value, other)
			return
		}
		r.readFrom(io, f)
		return
	case syntax.DplIn:
		return
	case syntax.DplOut:
		if f.Text == "" || f.Text == "-" || strings.Trim(f.Text, "0123456789-") == "" {
			return
		}
		write.Traits = []string{fact.TraitOverwrite}
	case syntax.AppOut, syntax.AppAll:
		write.Traits = []string{fact.TraitAppend}
	default:
		write.Traits = []string{fact.TraitOverwrite}
	}
	isOut := rd.N == nil || rd.N.Value == "1"
	io.Quiet = io.Quiet || isOut
	p := r.PlaceOf(f, true)
	if place.QuietDevice(p.Path) {
		return
	}
	if io.Silent && isOut && slices.Contains(write.Traits, fact.TraitOverwrite) && slices.Contains(p.Traits, fact.TraitSecret) {
		write.Reversibility = interlock.Irreversible // no history keeps what such files hold
	}
	r.S.TouchPlace(p, write)
	if write.Target, write.Reach = p.Path, p.Reach; io.Silent && isOut && slices.Contains(write.Traits, fact.TraitOverwrite) {
		r.S.Empties(write)
	}
	if isOut {
		io.Out = append(io.Out, p.Path)
		if rd.Op == syntax.AppOut || rd.Op == syntax.AppAll {
			r.appended(p)
		}
	}
}

// duplicated gives a command the streams that an earlier redirection opened under a number: <&3, >&3.
func (r *shellRun) duplicated(io *flow.Streams, rd *syntax.Redirect, f flow.Field) bool {
	if rd.Op != syntax.DplIn && rd.Op != syntax.DplOut {
		return false
	}
	held, ok := r.held[strings.Trim(f.Text, "-")]
	switch {
	case !ok:
		return false
	case rd.Op == syntax.DplIn:
		io.In, io.Socket = held.In, held.Socket
	default:
		io.Out, io.Quiet, io.Socket = append(io.Out, held.Out...), true, held.Socket
		io.Sinks = append(io.Sinks, held.Sinks...)
	}
	return true
}

// connects records a redirection to a device that is a connection.
func (r *shellRun) connects(io *flow.Streams, peer string) {
	io.Socket = peer
	reach, traits := r.S.Host(peer)
	if r.Many {
		traits = append(traits[:len(traits):len(traits)], fact.TraitRepeated)
	}
	r.S.Add(interlock.Impact{Kind: interlock.ImpactNetwork, Target: place.HostOf(peer), Reach: reach,
		Reversibility: interlock.Window, Via: "/dev/tcp", Traits: traits})
}

// readFrom takes a file for standard input.
func (r *shellRun) readFrom(io *flow.Streams, f flow.Field) {
	p := r.PlaceOf(f, true)
	if !place.QuietDevice(p.Path) {
		r.S.TouchPlace(p, interlock.Impact{Kind: interlock.ImpactRead, Via: "<"})
	}
	io.In = r.Stored(f, p)
	io.In.Endless = r.endless(f)
	io.File = !place.QuietDevice(p.Path)
}

// Stored is what reading a file gives: what this action wrote there, or something a secret place holds.
func (r *shellRun) Stored(f flow.Field, p know.Place) flow.Flow {
	out, ok := r.files[p.Path]
	if !ok {
		out = r.readOf(p)
		out.Taint(r.treeAt(p.Path))
		out.Filed = !out.Known && !place.QuietDevice(p.Path)
	}
	for _, trait := range p.Traits {
		out.Secret = out.Secret || trait == fact.TraitSecret || trait == fact.TraitEnvironment
	}
	out.Outside = out.Outside || !ok && r.S.Foreign(p)
	out.Taint(f.Flow)
	if place.OwnProgram(p.Path) {
		out.Own = p.Path
	}
	return out
}

// Deliver sends a command's output to the files it is redirected to, or on.
func (r *shellRun) Deliver(io flow.Streams, out flow.Flow) flow.Flow {
	for _, name := range io.Out {
		if out.Endless {
			r.filling(name, ">")
		}
		if out.Own != "" {
			r.S.OwnCopy(out.Own, name, ">")
		}
		stored := out
		stored.Written, stored.Items, stored.Piped = true, nil, false
		if old, ok := r.files[name]; ok {
			stored.Taint(old)
			if old.Known && stored.Known && old.Written && !flow.IsEmpty(old) {
				r.S.Spend(len(old.Text) / 64)
				stored.Text = old.Text + stored.Text
			}
		}
		r.files[name] = stored
		if out.Known && strings.TrimSpace(out.Text) != "" {
			flow.Spelled(&r.S.World.Collector, name)
		}
	}
	r.pour(io.Sinks, out)
	if io.Quiet {
		return flow.Flow{Known: true, Shell: out.Shell && io.Socket != ""}
	}
	return out
}

// settle records a command's impacts together with what flowed through it: secrets that go to a network, downloads that
// are executed, shells whose output goes to a peer. It returns what the command's output carries on.
func (r *shellRun) settle(impacts []interlock.Impact, io flow.Streams) flow.Flow {
	var out flow.Flow
	out.Taint(io.In)
	out.Taint(io.Args)
	out.Outside = out.Outside || r.outside
	out.Filed = out.Filed || r.reads
	r.outside, r.reads = false, false
	impacts, held := r.gathered(impacts, &out)
	if len(impacts) > 0 && len(held.Files) > 0 && makesProgram(impacts[0].Via) {
		out.Taint(r.treeAt(r.S.Dir)) // it is made of what lies there
		out.Outside = false          // and is no copy of it
	}
	given := out.Network
	for i := range impacts {
		one := &impacts[i]
		if one.Kind == interlock.ImpactNetwork && !one.Has(fact.TraitListen) {
			r.carries(one, &out, held.Secret, io)
		}
		if one.Kind == interlock.ImpactExecute && one.Target != "" {
			r.ranFile(one)
		}
		r.ranFetched(one)
		r.redirected(one)
		r.unpacked(one, out)
		r.S.Add(*one)
	}
	if out.Network && !given {
		r.changesHere(impacts)
	}
	out.Secret, out.Named = held.Secret, "" // a command that passes on what it is given says so
	for _, name := range held.Files {
		stored := flow.Flow{Written: true, Network: out.Network, Fetched: out.Fetched, Source: out.Source, Secret: out.Secret,
			Outside: out.Outside}
		if old, ok := r.files[name]; ok && old.Known && !held.ToFile {
			stored.Text, stored.Known = old.Text, false
		}
		if stored.Network || stored.Secret || stored.Outside || r.files[name].Written {
			stored.Taint(r.files[name])
			stored.Fetched = stored.Fetched || r.files[fetchedTree+name].Network
			r.files[name] = stored
			r.grown(name, stored, impacts)
		}
	}
	if held.ToFile && len(held.Files) > 0 {
		out.Network = io.In.Network || io.Args.Network
	}
	return out
}

// gathered notes what a command reads and writes, and adds that a file which holds a secret since earlier in this action
// reveals it.
func (r *shellRun) gathered(impacts []interlock.Impact, out *flow.Flow) ([]interlock.Impact, flow.Holding) {
	held, fetched := flow.Holding{Secret: out.Secret}, false
	for i := range impacts {
		one := &impacts[i]
		switch one.Kind {
		case interlock.ImpactRead, interlock.ImpactCredential:
			held.Secret = held.Secret || one.Has(fact.TraitSecret) || one.Has(fact.TraitEnvironment)
			file, ok := r.files[one.Target]
			if !ok {
				out.Taint(r.treeAt(one.Target))
				continue
			}
			held.Secret = held.Secret || file.Secret
			out.Taint(file)
			if file.Secret && !one.Has(fact.TraitSecret) {
				one.Traits = append(one.Traits, fact.TraitSecret)
				revealed := *one
				revealed.Kind, revealed.Traits = interlock.ImpactCredential, append([]string(nil), one.Traits...)
				impacts = append(impacts, revealed)
			}
		case interlock.ImpactWrite:
			if !one.Has(fact.TraitMoved) { // what is moved away goes on being what it was, somewhere else
				held.Files = append(held.Files, one.Target)
			}
			if file, ok := r.files[one.Target]; ok {
				out.Taint(file)
				held.Secret = held.Secret || file.Secret
			}
			held.ToFile = held.ToFile || one.Has(fact.TraitDownload)
		case interlock.ImpactNetwork:
			fetched = fetched || one.Has(fact.TraitDownload)
		}
	}
	held.ToFile = held.ToFile || fetched && len(held.Files) > 0
	return impacts, held
}

// carries says of a connection what goes out over it, and of the output that it came in over it.
func (r *shellRun) carries(one *interlock.Impact, out *flow.Flow, secret bool, io flow.Streams) {
	if secret && one.Reach != interlock.ReachWorkspace && (one.Has(fact.TraitUpload) || io.In.Secret || io.Args.Secret) {
		one.Traits = append(one.Traits, fact.TraitSecretSend)
		one.Reversibility = interlock.Irreversible
	}
	if out.Outside && !one.Has(fact.TraitSecretSend) && (one.Has(fact.TraitUpload) || io.In.Outside || io.Args.Outside) {
		one.Traits = append(one.Traits, fact.TraitOutside)
	}
	if r.Many && (one.Has(fact.TraitUpload) || io.In.Piped) {
		one.Traits = append(one.Traits, fact.TraitRepeated)
	}
	if io.In.Shell {
		one.Traits = append(one.Traits, fact.TraitReverseShell)
	}
	if !one.Has(fact.TraitScan) && (one.Has(fact.TraitDownload) || !one.Has(fact.TraitUpload)) {
		out.Network, out.Source = true, one.Target
	}
}

// ranFile marks an execution of a file this action made.
func (r *shellRun) ranFile(i *interlock.Impact) {
	f, ok := r.files[i.Target]
	switch {
	case !ok:
	case f.Network:
		i.Traits = append(i.Traits, f.RunTrait())
	case f.Written:
		i.Traits = append(i.Traits, fact.TraitWrittenRun)
		if f.Known && !strings.HasPrefix(f.Text, "#!") {
			r.mentionsShell(f.Text)
		}
		if f.Decoded && !f.Known {
			i.Traits = append(i.Traits, fact.TraitDecoded, fact.TraitObfuscated)
		}
	}
}
