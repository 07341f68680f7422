package impact

import (
	"strconv"
	"strings"

	"interlock"
)

// hugeFile is more than what is left on most disks.
const hugeFile = 256 << 30

// endless reports whether a path is a device that can be read for ever, or a pattern that one may fit.
func (r *shellRun) endless(f field) bool {
	text := f.text
	if len(text) < 5 || f.lead {
		return false
	}
	clean := r.s.place(text).Path
	for _, device := range [...]string{"/dev/zero", "/dev/random", "/dev/urandom", "/dev/full", "/dev/arandom"} {
		if clean == device || text[0] == '/' && f.glob && matchGlob(clean, device) {
			return true
		}
	}
	return false
}

// fills records that a command writes to a disk until nothing is left: a copy of what has no end, or a file as big as that.
func (r *shellRun) fills(u *use, own []interlock.Impact, io streams) {
	size, bounded, makes := 1.0, false, false
	source := io.in.endless && (u.spec.prints == "stored" || u.spec.limits)
	for _, g := range u.flags {
		if g.option.size || g.option.makes {
			size *= bytesOf(g.value)
			bounded = bounded || !g.option.unit
			makes = makes || g.option.makes
		}
		for _, e := range g.option.impacts {
			source = source || e.kind == interlock.ImpactRead && e.target == "value" && r.endless(g.value)
		}
	}
	if copies := u.spec.copies || u.spec.prints == "stored"; !copies && !makes && !(u.spec.limits && bounded) {
		return
	}
	if len(u.operands) > 0 && u.spec.prints != "stored" {
		source = source || r.endless(u.operands[0])
	}
	if !makes && (!source || bounded && size < hugeFile) || makes && size < hugeFile {
		return
	}
	for _, name := range io.out {
		r.filling(name, u.via)
	}
	for i := range own {
		if own[i].Kind == interlock.ImpactWrite {
			r.filling(own[i].Target, u.via)
		}
	}
}

// filling records that a file grows until the disk is full.
func (r *shellRun) filling(name, via string) {
	if name != "" && !strings.HasPrefix(name, "/dev/") {
		r.s.add(interlock.Impact{Kind: interlock.ImpactSpawn, Target: name, Reach: interlock.ReachWorkspace, Via: via,
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{TraitFilling}})
	}
}

// bytesOf reads a size with its suffix: 10G, 1MiB, +512k. What is no size counts as one.
func bytesOf(f field) float64 {
	text := strings.TrimLeft(strings.ToLower(f.text), "+<>%/")
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
