package impact

import "testing"

func TestArenaHandsOutDisjointRoom(t *testing.T) {
	know := &Knowledge{}
	room := know.borrow()
	arena := &room.fields
	a := append(arena.room(1), literal("one"))
	b := append(arena.room(2), literal("two"), literal("three"))
	a = append(a, literal("beyond")) // more than was asked for: must not reach b's room
	if b[0].text != "two" || a[1].text != "beyond" {
		t.Errorf("a = %v, b = %v: appending beyond the room of one slice wrote into another", a, b)
	}
	held := map[*field]bool{}
	for i := range (maxPieces + 2) * arenaPiece {
		got := append(arena.room(1), literal("x"))
		if len(got) != 1 || cap(got) != 1 || held[&got[0]] {
			t.Fatalf("room(1) number %d has length %d and capacity %d after one append, or was handed out before", i, len(got), cap(got))
		}
		held[&got[0]] = true
	}
	know.giveBack(room)
	for n, piece := range arena.pieces {
		for i, f := range piece {
			if f.text != "" {
				t.Errorf("field %d of piece %d still holds %q after the room was given back", i, n, f.text)
			}
		}
	}
	if got := arena.room(arenaPiece + 1); len(got) != 0 || cap(got) != arenaPiece+1 {
		t.Errorf("more than a piece has length %d and capacity %d", len(got), cap(got))
	}
}

// TestArraysThatShareElements: two values of one array are added to in turn, and neither sees the other's.
func TestArraysThatShareElements(t *testing.T) {
	var a value
	for _, key := range []string{"0", "1", "k"} {
		a = a.with(key, literal("a"+key))
	}
	b := a.with("3", literal("b"))
	c := a.with("3", literal("c")).with("4", literal("d"))
	for _, want := range []struct {
		v         value
		key, text string
	}{{a, "k", "ak"}, {a, "3", ""}, {b, "3", "b"}, {b, "4", ""}, {c, "3", "c"}, {c, "4", "d"}, {c, "k", "ak"}, {b, "0", "a0"}} {
		if got, _ := want.v.element(want.key); got.text != want.text {
			t.Errorf("element %s is %q, want %q", want.key, got.text, want.text)
		}
	}
}

func TestPlacesAreJudgedAnewAfterALink(t *testing.T) {
	s := &scan{}
	s.places[0] = judgedPlace{name: "x", judged: true}
	r := newShellRun(s)
	r.link(literal("/etc"), literal("x"))
	if got := s.place("x/passwd").Path; got != "/etc/passwd" {
		t.Errorf("after ln -s /etc x, x/passwd is %q", got)
	}
	if got := s.place("x").Path; got != "/etc" {
		t.Errorf("after ln -s /etc x, x is %q: an older judgement was kept", got)
	}
}
