package impact

import "testing"

func TestFieldArenaHandsOutDisjointRoom(t *testing.T) {
	know := &Knowledge{}
	var arena fieldArena
	arena.borrow(know)
	a := append(arena.room(1), literal("one"))
	b := append(arena.room(2), literal("two"), literal("three"))
	a = append(a, literal("beyond")) // more than was asked for: must not reach b's room
	if b[0].text != "two" || a[1].text != "beyond" {
		t.Errorf("a = %v, b = %v: appending beyond the room of one slice wrote into another", a, b)
	}
	for i := range 3 * arenaFields {
		if got := append(arena.room(1), literal("x")); len(got) != 1 || cap(got) != 1 {
			t.Fatalf("room(1) number %d has length %d and capacity %d after one append", i, len(got), cap(got))
		}
	}
	arena.giveBack(know)
	arena.borrow(know)
	for i, f := range arena.first {
		if f.text != "" {
			t.Errorf("field %d of a borrowed piece still holds %q from the analysis before", i, f.text)
		}
	}
}

func TestPlacesAreJudgedAnewAfterALink(t *testing.T) {
	s := &scan{}
	s.places[0] = judgedPlace{name: "x", judged: true}
	r := &shellRun{s: s, files: map[string]flow{}}
	r.link(literal("/etc"), literal("x"))
	if got := s.place("x/passwd").Path; got != "/etc/passwd" {
		t.Errorf("after ln -s /etc x, x/passwd is %q", got)
	}
	if got := s.place("x").Path; got != "/etc" {
		t.Errorf("after ln -s /etc x, x is %q: an older judgement was kept", got)
	}
}
