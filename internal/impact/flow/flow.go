package flow

import (
	"sort"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
	"interlock/internal/lex"

	"mvdan.cc/sh/v3/syntax"
)

// A Flow is what is known about bytes on their way: from a command's output to the next one's input, into a file, into a
// variable or an argument.
type Flow struct {
	Text     string  // the bytes, if known
	Known    bool    // text is all of it
	Decoded  bool    // it came out of a decoder
	Network  bool    // it came over a network
	Source   string  // from where
	Fetched  bool    // it came with a whole tree, or before this action, so that there was time to look at it
	Secret   bool    // it holds what a secret store held
	Encoded  bool    // it came out of an encoder
	Outside  bool    // it holds what a file outside the workspace held
	Handed   bool    // it was handed to a function or script as an argument
	Shell    bool    // it is what a shell that reads unknown input prints
	Piped    bool    // it comes through a pipe
	Written  bool    // it is in a file this action wrote
	Items    []Field // it lists these names, or names like them
	executed bool    // the file it is in was made executable or run
	Endless  bool    // there is no end to it
	Filed    bool    // it is what a file held that was not read
	Composed bool    // a program in the command, or the one who filled the clipboard, says what it is
	Everyone bool    // it lists the numbers of all processes, or all of a user's
	Ours     bool    // it lists the numbers of Interlock's own processes
	Token    *Token  // it is a password that a program fetched for one kind of host, and nothing else
	Own      string  // the program of Interlock's that it holds
	Named    string  // a variable it shows the value of, whose name says that this is a secret
	Unread   string  // files whose bytes it would hold if they had been read, between NUL
}

// A Token is a password that a cloud's own program prints, good for the registries of that cloud.
type Token struct {
	Via   string // the command that prints it
	Hosts string // patterns of the hosts it is for, between bars
}

// Taint adds what else flowed in, without the bytes.
func (f *Flow) Taint(o Flow) {
	f.Decoded = f.Decoded || o.Decoded
	f.Secret = f.Secret || o.Secret
	f.Outside = f.Outside || o.Outside
	f.Encoded = f.Encoded || o.Encoded
	f.Shell = f.Shell || o.Shell
	f.Everyone = f.Everyone || o.Everyone
	f.Ours = f.Ours || o.Ours
	f.Handed = f.Handed || o.Handed
	f.Filed = f.Filed || o.Filed
	f.Composed = f.Composed || o.Composed
	if f.Named == "" {
		f.Named = o.Named
	}
	if o.Unread != "" {
		f.Unread = place.UnreadBoth(f.Unread, o.Unread)
	}
	if o.Network && !f.Network {
		f.Network, f.Source, f.Fetched = true, o.Source, o.Fetched
	} else if o.Network {
		f.Fetched = f.Fetched && o.Fetched
	}
}

// RunTrait says of code that came over a network how it was come by.
func (f Flow) RunTrait() string {
	if f.Fetched {
		return fact.TraitFetchedRun
	}
	return fact.TraitDownloadRun
}

// Then is the output of one command followed by another's.
func (f Flow) Then(next Flow) Flow {
	if f.Known && next.Known && len(f.Text)+len(next.Text) <= lex.MaxText {
		next.Text = f.Text + next.Text
	} else if !IsEmpty(f) {
		next.Known = false
		if len(f.Items) > 0 {
			next.Items = f.Items
		}
	}
	next.Taint(f)
	return next
}

// A Sequence is the output of commands one after another. It is then for as many as there are, without copying what is
// there already for each.
type Sequence struct {
	out  Flow
	text strings.Builder
	some bool
}

func (q *Sequence) Add(next Flow) {
	switch {
	case !q.some:
	case q.out.Known && next.Known && q.text.Len()+len(next.Text) <= lex.MaxText:
		q.text.WriteString(next.Text)
		next.Taint(q.out)
		q.out = next
		return
	case q.out.Known && q.text.Len() == 0:
		next.Taint(q.out)
	default:
		next.Known = false
		if len(next.Items) == 0 {
			next.Items = q.out.Items
		}
		next.Taint(q.out)
	}
	q.some, q.out = true, next
	q.text.Reset()
	if next.Known {
		q.text.WriteString(next.Text)
	}
}

func (q *Sequence) Flow() Flow {
	if q.out.Known {
		q.out.Text = q.text.String()
	}
	return q.out
}

func IsEmpty(f Flow) bool { return f.Known && f.Text == "" }

// Streams are one command's standard input, where its output goes, and what flowed into its arguments.
type Streams struct {
	In     Flow
	Args   Flow
	Out    []string            // files its output is written to
	Socket string              // the peer a redirection connects it to
	Sinks  []*syntax.ProcSubst // its output goes to them
	File   bool                // its standard input is a file
	Quiet  bool                // its output goes somewhere else than the next command
	Silent bool                // there is no command, or one that prints nothing: what it is redirected to is emptied
}

// PrintsNothing reports whether a statement has no command, or one whose output is known to be empty.
func PrintsNothing(cmd syntax.Command) bool {
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

// NetworkDevice reads bash's /dev/tcp/host/port.
func NetworkDevice(name string) (peer string, ok bool) {
	for _, prefix := range []string{"/dev/tcp/", "/dev/udp/"} {
		if rest, found := strings.CutPrefix(name, prefix); found {
			host, port, _ := strings.Cut(rest, "/")
			return host + ":" + port, true
		}
	}
	return "", false
}

// Spelled marks the last writing to a file as one whose content is given in the action. It matters for what the system keeps.
func Spelled(c *fact.Collector, name string) {
	for i := len(c.Impacts) - 1; i >= 0; i-- {
		if one := &c.Impacts[i]; one.Target == name &&
			(one.Kind == interlock.ImpactWrite || one.Kind == interlock.ImpactPersist) {
			if one.Reach == interlock.ReachSystem && !one.Has(fact.TraitContent) {
				one.Traits = append(one.Traits[:len(one.Traits):len(one.Traits)], fact.TraitContent)
				sort.Strings(one.Traits)
			}
			return
		}
	}
}

// Capture runs f and returns the impacts it adds without keeping them.
func (s *Scan) Capture(f func()) []interlock.Impact {
	saved := s.Impacts
	s.Impacts = s.Room.impacts.Room(3)
	f()
	got := s.Impacts
	s.Impacts = saved
	return got
}

// Modified runs f and adds words to every impact it causes.
func (s *Scan) Modified(w know.Words, f func()) {
	if w.Empty() {
		f()
		return
	}
	for _, i := range s.Capture(f) {
		w.Apply(&i)
		s.Add(i)
	}
}

// A Holding is what a command's impacts bring together: whether it holds a secret, which files it writes, and whether what
// it fetches goes into them.
type Holding struct {
	Secret, ToFile bool
	Files          []string
}

func TaintOnly(f Flow) Flow {
	var out Flow
	out.Taint(f)
	return out
}
