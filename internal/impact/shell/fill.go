package shell

import (
	"strconv"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
)

// hugeFile is more than what is left on most disks.
const hugeFile = 64 << 30

// endless reports whether a path is a device that can be read for ever, or a pattern that one may fit.
func (r *shellRun) endless(f flow.Field) bool {
	text := f.Text
	if len(text) < 5 || f.Lead {
		return false
	}
	clean := r.S.Place(text).Path
	for _, device := range [...]string{"/dev/zero", "/dev/random", "/dev/urandom", "/dev/full", "/dev/arandom"} {
		if clean == device || text[0] == '/' && f.Glob && know.MatchGlob(clean, device) {
			return true
		}
	}
	return false
}

// fills records that a command writes to a disk until nothing is left: a copy of what has no end, or a file as big as that.
func (r *shellRun) fills(u *flow.Use, own []interlock.Impact, io flow.Streams) {
	size, bounded, makes := 1.0, false, false
	source := io.In.Endless && (u.Spec.Prints == "stored" || u.Spec.Limits)
	for _, g := range u.Flags {
		if g.Option.Size || g.Option.Makes {
			size *= bytesOf(g.Value)
			bounded = bounded || !g.Option.Unit
			makes = makes || g.Option.Makes
		}
		for _, e := range g.Option.Impacts {
			source = source || e.Kind == interlock.ImpactRead && e.Target == "value" && r.endless(g.Value)
		}
	}
	if copies := u.Spec.Copies || u.Spec.Prints == "stored" || u.Spec.Prints == "filtered" && r.anyEndless(u.Operands); !copies &&
		!makes && !(u.Spec.Limits && bounded) {
		return
	}
	if len(u.Operands) > 0 && u.Spec.Prints != "stored" {
		source = source || r.endless(u.Operands[0]) || u.Spec.Prints == "filtered" && r.anyEndless(u.Operands)
	}
	if !makes && (!source || bounded && size < hugeFile) || makes && size < hugeFile {
		return
	}
	for _, name := range io.Out {
		r.filling(name, u.Via)
	}
	for i := range own {
		if own[i].Kind == interlock.ImpactWrite {
			r.filling(own[i].Target, u.Via)
		}
	}
}

// anyEndless reports whether one of the files that a command is given has no end.
func (r *shellRun) anyEndless(operands []flow.Field) bool {
	for _, f := range operands {
		if r.endless(f) {
			return true
		}
	}
	return false
}

// gathers records that a command holds all of an input that has no end, which takes what memory there is.
func (r *shellRun) gathers(via string) {
	r.S.Add(interlock.Impact{Kind: interlock.ImpactSpawn, Target: "memory", Reach: interlock.ReachSystem, Via: via,
		Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{fact.TraitFilling}})
}

// filling records that a file grows until the disk is full.
func (r *shellRun) filling(name, via string) {
	if name != "" && !strings.HasPrefix(name, "/dev/") {
		r.S.Add(interlock.Impact{Kind: interlock.ImpactSpawn, Target: name, Reach: interlock.ReachWorkspace, Via: via,
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{fact.TraitFilling}})
	}
}

// bytesOf reads a size with its suffix: 10G, 1MiB, +512k. What is no size counts as one.
func bytesOf(f flow.Field) float64 {
	text := strings.TrimLeft(strings.ToLower(f.Text), "+<>%/")
	end := len(text)
	for end > 0 && text[end-1]|0x20 >= 'a' && text[end-1]|0x20 <= 'z' {
		end--
	}
	n, err := strconv.ParseFloat(text[:end], 64)
	if err != nil || n < 0 {
		return 1
	}
	switch at := end; {
	case at == len(text):
	case text[at] == 'c' || text[at] == 'w':
	default:
		for range strings.IndexByte("bkmgtpezy", text[at]) {
			n *= 1024
		}
	}
	return n
}
