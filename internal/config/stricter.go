package config

import (
	"cmp"
	"reflect"
	"slices"
	"time"
)

// What the stricter of two values of a setting is, by how they compare.

func either(base, want bool) bool { return base || want }
func both(base, want bool) bool   { return base && want }

func lesser[T cmp.Ordered](base, want T) T { return min(base, want) }

// ordered is for what has no stricter and weaker: what was ordered stays.
func ordered[T any](base, want T) T {
	if same(base, want) {
		return want
	}
	return base
}

// same compares what a missing list and an empty one say alike.
func same[T any](a, b T) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	return x.Kind() == reflect.Slice && x.Len() == 0 && y.Len() == 0
}

// all are those of both lists.
func all[T comparable](base, want []T) []T {
	joined := want
	for _, one := range base {
		if !slices.Contains(want, one) {
			joined = append(slices.Clip(joined), one)
		}
	}
	return joined
}

// common are those that both lists have.
func common[T any](base, want []T) []T {
	left := []T(nil)
	for _, one := range want {
		if slices.ContainsFunc(base, func(b T) bool { return reflect.DeepEqual(b, one) }) {
			left = append(left, one)
		}
	}
	if len(left) == len(want) {
		return want
	}
	return left
}

// shortest is the shorter of two times, where none means a default.
func shortest(unset time.Duration) func(base, want Duration) Duration {
	return func(base, want Duration) Duration {
		if cmp.Or(base, Duration(unset)) < cmp.Or(want, Duration(unset)) {
			return base
		}
		return want
	}
}

// longest is the longer of two times, where none means for ever.
func longest(base, want Duration) Duration {
	if base == 0 || want == 0 {
		return 0
	}
	return max(base, want)
}

// stricterProfiles are, for each profile, those that ask or deny wherever it does. The others are neither stricter nor weaker.
func stricterProfiles() map[string][]string {
	return map[string][]string{"guard": {"managed", "supervised"}}
}

func joinProfile(base, want string) string {
	if slices.Contains(stricterProfiles()[base], want) {
		return want
	}
	return base
}

// joinRules keeps the directory that was ordered, if it is there.
func joinRules(base, want string) string {
	if base == want || !there(base) && !there(base+".promoted") {
		return want
	}
	return base
}

// whole are the profiles that are set, each complete; nil where none is.
func (s Sandbox) whole() map[string]SandboxProfile {
	if len(s.Profiles) == 0 {
		return nil
	}
	all := map[string]SandboxProfile{}
	for name := range s.Profiles { // order-independent: fills a map
		if p, err := s.Named(name); err == nil {
			all[name] = p
		}
	}
	return all
}

// strictProfiles are the profiles of want, each giving no more than base gives under its name or, if base has none, by default.
func strictProfiles(base, want Sandbox) map[string]SandboxProfile {
	joined := map[string]SandboxProfile{}
	narrowed := false
	for _, name := range append(base.Names(), want.Names()...) {
		wanted, err := want.Named(name)
		if err != nil { // it is base's alone
			wanted, err = base.Named(name)
		}
		granted, unknown := base.Named(name)
		if unknown != nil {
			granted, unknown = base.Named("default")
		}
		if err != nil || unknown != nil {
			continue
		}
		joined[name] = granted.narrow(wanted)
		narrowed = narrowed || !reflect.DeepEqual(joined[name], wanted)
	}
	if !narrowed {
		return want.Profiles
	}
	return joined
}

// narrow is a profile that gives what both give.
func (p SandboxProfile) narrow(want SandboxProfile) SandboxProfile {
	want.Time = min(p.Time, want.Time)
	want.Memory, want.Disk, want.Output = min(p.Memory, want.Memory), min(p.Disk, want.Disk), min(p.Output, want.Output)
	want.Processes, want.Files = min(p.Processes, want.Processes), min(p.Files, want.Files)
	want.Overlay, want.Sockets = p.Overlay || want.Overlay, p.Sockets && want.Sockets
	want.Hosts, want.Read = common(p.Hosts, want.Hosts), common(p.Read, want.Read)
	want.Path, want.Env = common(p.Path, want.Path), common(p.Env, want.Env)
	switch { // nil are the patterns of the manual, [] none
	case p.Startup != nil && len(p.Startup) == 0, reflect.DeepEqual(p.Startup, want.Startup):
	case p.Startup == nil, want.Startup == nil:
		want.Startup = p.Startup
	default:
		want.Startup = all(p.Startup, want.Startup)
	}
	return want
}
