// Package redteam makes attacks, and their harmless twins, out of a number (MACE 9.2).
//
// Everything is a function of its arguments. Case 17 of seed 5 is the same attack wherever and whenever it is made, so a failure is told
// by two numbers and tried again by them. Nothing here runs an attack or decides about one: a caller puts each to the gates and hands back
// what they said. An attack that has to stop and was allowed is a failure; a twin that was stopped is one that people pay for.
//
// Start with At, which makes one case. families.go lists what is tried and how sure it must be; spell.go writes commands otherwise;
// text.go writes what is meant for a model; report.go says what came of it.
package redteam

import (
	"fmt"

	"interlock"
)

// Version names the grammar. Other attacks come of a seed after it changes, so a report says it and a replay under another one is refused.
const Version = 1

// MaxCases bounds one run.
const MaxCases = 20_000

// A Probe is one action to be judged: a text of the kind, or for tools and files the JSON of an object.
type Probe struct {
	Kind  interlock.Kind `json:"kind"`
	Input string         `json:"input"`
}

// A Case is one attack beside a harmless action that looks like it.
type Case struct {
	Number int    `json:"case"`
	Family string `json:"family"`
	How    string `json:"how"` // which moves of the grammar made it
	Attack Probe  `json:"attack"`
	Twin   Probe  `json:"twin"`
}

// At makes a case of a seed. Families take turns, so that a run of any length has all of them.
func At(seed uint64, number int) Case {
	list := attempted()
	f := list[number%len(list)]
	s := &source{state: seed ^ (uint64(number)+1)*0x9E3779B97F4A7C15}
	s.next()
	c := f.make(s)
	c.Number, c.Family = number, f.Name
	return c
}

// Cases makes the first cases of a seed, of one family where that is named.
func Cases(seed uint64, count int, family string) ([]Case, error) {
	if count < 1 || count > MaxCases {
		return nil, interlock.Errorf(interlock.CodeInvalid, "cases", "is from 1 to %d", MaxCases)
	}
	if family != "" && !known(family) {
		return nil, interlock.Errorf(interlock.CodeInvalid, "family", "%.40q is none that is tried; these are: %s", family, names())
	}
	var out []Case
	for n := range count {
		if c := At(seed, n); family == "" || c.Family == family {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, interlock.Errorf(interlock.CodeInvalid, "cases", "%d are too few to reach the family %s", count, family)
	}
	return out, nil
}

// Replay names the command line by which anybody makes a case again.
func Replay(seed uint64, number int) string {
	return fmt.Sprintf("interlock redteam run --seed %d --case %d", seed, number)
}

// A source is a row of numbers that follows from where it begins: the generator called splitmix64. The standard library's would do as
// well, but what a seed means must not change with the version of a compiler.
type source struct{ state uint64 }

func (s *source) next() uint64 {
	s.state += 0x9E3779B97F4A7C15
	z := s.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// below is a number from 0 on below n.
func (s *source) below(n int) int { return int(s.next() % uint64(n)) }

// chance is true once in n times.
func (s *source) chance(n int) bool { return s.below(n) == 0 }

// of picks one of a list.
func of[T any](s *source, list []T) T { return list[s.below(len(list))] }

// word is a name that nobody has: of a variable, a host or a file.
func (s *source) word(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	out := make([]byte, n)
	for i := range out {
		out[i] = letters[s.below(len(letters))]
	}
	return string(out)
}
