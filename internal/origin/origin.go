// Package origin remembers where the values of a run come from: who first spoke of an address, an account, a link or a name,
// the user or something a call returned. It keeps salted digests and never a value, and it is a function of its arguments.
//
// Start with Prompt and Result, which add to what a run has heard, and Of, which says of an action whose values it uses.
// What counts as a value is in value.go.
package origin

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sort"
	"strings"
	"time"

	"interlock"
)

// maxText bounds how much of a prompt or a result is read, in bytes. What comes behind it is not remembered, and the memory
// says so.
const maxText = 256 << 10

// Prompt adds what the user said, and the kinds of act it asks for.
func Prompt(h Heard, run, text string, wishes []string, now time.Time) Heard {
	h = current(h, now)
	h.Prompts++
	h.Wishes = append(slices.Clone(h.Wishes), wishes)
	if n := len(h.Wishes) - HeardPrompts; n > 0 {
		h.Wishes = h.Wishes[n:]
	}
	return add(h, run, text, VoiceUser, "")
}

// Returned is what the caller knows of a result.
type Returned struct {
	Inside bool // it is the project's own
	Looks  bool // what returned it only looked at what lies here: nobody else had a say in what came back
	Orders bool // it holds instructions for its reader
}

// Result adds what an action returned. One that holds instructions is nobody's word but its writer's, wherever it is. What
// is in a file that the user named is as good as the user's word only where the action did no more than look at it: a
// request that also names the file returns what its server likes.
func Result(h Heard, run string, action interlock.Action, as Returned, text string,
	now time.Time) Heard {
	h = current(h, now)
	by := VoiceResult
	switch {
	case as.Orders:
		by = VoiceOrdering
		h.Orders++
	case as.Looks && namedFile(h, run, action):
		by = VoiceFile
	case as.Inside:
		return h // the project's own files are nobody's orders, and would crowd out what matters
	}
	return add(h, run, text, by, sourceOf(action))
}

// current is what is still worth knowing, and not shared with the caller's.
func current(h Heard, now time.Time) Heard {
	if now.Sub(h.At) > HeardWindow {
		h = Heard{}
	}
	h.At = now
	h.Values, h.Sources = slices.Clone(h.Values), slices.Clone(h.Sources)
	return h
}

func add(h Heard, run, text string, by Voice, source string) Heard {
	if len(text) > maxText {
		text, h.Over = text[:maxText], h.Over || by != VoiceUser
	}
	at := 0
	if source != "" {
		if at = slices.Index(h.Sources, source) + 1; at == 0 && len(h.Sources) < HeardSources {
			h.Sources = append(h.Sources, source)
			at = len(h.Sources)
		}
	}
	known := make(map[uint64]int, len(h.Values))
	for n, v := range h.Values {
		known[v.Sum] = n
	}
	valuesOf(text, by&(VoiceUser|VoiceOrdering) != 0, func(v value) {
		sum := digest(run, v.text)
		n, have := known[sum]
		switch {
		case !have && len(h.Values) >= HeardValues:
			h.Over = h.Over || by != VoiceUser
			return
		case !have:
			n = len(h.Values)
			known[sum] = n
			h.Values = append(h.Values, Value{Sum: sum})
		}
		one := &h.Values[n]
		if one.Source == 0 || by == VoiceOrdering && one.By&VoiceOrdering == 0 {
			one.Source = at
		}
		one.By |= by
	})
	return h
}

// digest is salted with the run, so that nobody can tell from two memories that they hold the same value.
func digest(run, value string) uint64 {
	sum := sha256.Sum256([]byte(run + "\x00" + value))
	return binary.BigEndian.Uint64(sum[:8])
}

// Named is who first spoke of what is in a text, as far as a run has heard: a text with orders, or what a call returned, and no user.
type Named struct {
	Ordered, Returned bool
	Sources           []string // the tools that returned it
}

// In says of a text that is about to be kept who named what is in it. heard is false where nothing is known of the run.
func In(h Heard, run, text string, now time.Time) (named Named, heard bool) {
	if h.At.IsZero() || now.Sub(h.At) > HeardWindow {
		return named, false
	}
	by := voices(h)
	valuesOf(head(text), true, func(v value) {
		known, found := by[digest(run, v.text)]
		switch {
		case !found:
			named.Returned = named.Returned || h.Over && v.shape != shapeWord // there was more than could be remembered
			return
		case known.By&(VoiceUser|VoiceFile) != 0:
			return
		}
		named.Ordered = named.Ordered || known.By&VoiceOrdering != 0
		named.Returned = named.Returned || known.By&VoiceResult != 0
		if known.Source > 0 && known.Source <= len(h.Sources) && !slices.Contains(named.Sources, h.Sources[known.Source-1]) {
			named.Sources = append(named.Sources, h.Sources[known.Source-1])
		}
	})
	return named, true
}

func sourceOf(action interlock.Action) string {
	name := action.Tool
	if name == "" {
		name = string(action.Kind)
	}
	if len(name) > 64 {
		name = name[:64]
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
}

// namedFile reports whether the user named a file that the action names, or a directory it is in.
func namedFile(h Heard, run string, action interlock.Action) bool {
	if h.Prompts == 0 {
		return false
	}
	by := voices(h)
	named, _ := uses(action)
	for _, use := range named {
		if !use.path() {
			continue
		}
		for name := use.text; len(name) > 1; {
			if by[digest(run, name)].By&VoiceUser != 0 {
				return true
			}
			cut := strings.LastIndexByte(name, '/')
			if cut <= 0 {
				break
			}
			name = name[:cut]
		}
	}
	return false
}

func voices(h Heard) map[uint64]Value {
	by := make(map[uint64]Value, len(h.Values))
	for _, v := range h.Values {
		by[v.Sum] = v
	}
	return by
}

// Of says where the values of an action come from. It is nil where nothing was heard.
func Of(h Heard, run string, action interlock.Action, now time.Time) *interlock.Origin {
	if h.At.IsZero() || now.Sub(h.At) > HeardWindow {
		return nil
	}
	o := &interlock.Origin{Prompted: h.Prompts > 0, Orders: h.Orders > 0}
	for _, wishes := range h.Wishes {
		for _, wish := range wishes {
			if !slices.Contains(o.Asked, wish) {
				o.Asked = append(o.Asked, wish)
			}
		}
	}
	sort.Strings(o.Asked)
	by := voices(h)
	used, all := uses(action)
	if !all {
		o.Unheard++ // what was not looked at may go anywhere
	}
	for _, use := range used {
		count(o, h, use, by, run)
	}
	return o
}

// count adds one value of the action to what is known of its values.
func count(o *interlock.Origin, h Heard, use use, by map[uint64]Value, run string) {
	var heard Value
	found := false
	for _, name := range use.names() { // an address is as well known as the host it is on
		if v, ok := by[digest(run, name)]; ok {
			found = true
			heard.By |= v.By
			if heard.Source == 0 {
				heard.Source = v.Source
			}
		}
	}
	if !found {
		if !h.Over || !use.target() {
			if use.goes() && !use.prose {
				o.Unheard++
			}
			return
		}
		heard.By = VoiceResult // there was more than could be remembered
	}
	const own = VoiceUser | VoiceFile
	ordered := heard.By&VoiceOrdering != 0
	switch {
	case ordered && heard.By&own != 0:
		o.Disputed++
		return
	case heard.By&own != 0:
		if use.target() {
			o.Named++
			if by[digest(run, use.text)].By&own != 0 {
				o.Whole++
			}
		}
		return
	case ordered:
		o.Ordered++
		if use.network() {
			o.Linked++
		}
	case !use.target():
		return // that a text repeats what was read is what texts are for
	default:
		o.Returned++
		if use.goes() {
			o.Sent++
		}
	}
	if o.Source == "" && heard.Source > 0 && heard.Source <= len(h.Sources) {
		o.Source = h.Sources[heard.Source-1]
	}
}
