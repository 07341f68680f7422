package shell

import (
	"testing"

	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
)

func TestArenaHandsOutDisjointRoom(t *testing.T) {
	know := &know.Knowledge{}
	room := flow.Borrow(know)
	arena := &room.Fields
	a := append(arena.Room(1), flow.Literal("one"))
	b := append(arena.Room(2), flow.Literal("two"), flow.Literal("three"))
	a = append(a, flow.Literal("beyond")) // more than was asked for: must not reach b's room
	if b[0].Text != "two" || a[1].Text != "beyond" {
		t.Errorf("a = %v, b = %v: appending beyond the room of one slice wrote into another", a, b)
	}
	held := map[*flow.Field]bool{}
	for i := range (flow.MaxPieces + 2) * flow.ArenaPiece {
		got := append(arena.Room(1), flow.Literal("x"))
		if len(got) != 1 || cap(got) != 1 || held[&got[0]] {
			t.Fatalf("room(1) number %d has length %d and capacity %d after one append, or was handed out before", i, len(got), cap(got))
		}
		held[&got[0]] = true
	}
	flow.GiveBack(know, room)
	for n, piece := range arena.Pieces {
		for i, f := range piece {
			if f.Text != "" {
				t.Errorf("field %d of piece %d still holds %q after the room was given back", i, n, f.Text)
			}
		}
	}
	if got := arena.Room(flow.ArenaPiece + 1); len(got) != 0 || cap(got) != flow.ArenaPiece+1 {
		t.Errorf("more than a piece has length %d and capacity %d", len(got), cap(got))
	}
}

// TestArraysThatShareElements: two values of one array are added to in turn, and neither sees the other's.
func TestArraysThatShareElements(t *testing.T) {
	var a flow.Value
	for _, key := range []string{"0", "1", "k"} {
		a = with(a, key, flow.Literal("a"+key))
	}
	b := with(a, "3", flow.Literal("b"))
	c := with(with(a, "3", flow.Literal("c")), "4", flow.Literal("d"))
	for _, want := range []struct {
		v         flow.Value
		key, text string
	}{{a, "k", "ak"}, {a, "3", ""}, {b, "3", "b"}, {b, "4", ""}, {c, "3", "c"}, {c, "4", "d"}, {c, "k", "ak"}, {b, "0", "a0"}} {
		if got, _ := element(want.v, want.key); got.Text != want.text {
			t.Errorf("element %s is %q, want %q", want.key, got.Text, want.text)
		}
	}
}

func TestPlacesAreJudgedAnewAfterALink(t *testing.T) {
	s := &flow.Scan{}
	r := newShellRun(s)
	if got := s.Place("x").Path; got != "x" {
		t.Errorf("before it is a link, x is %q", got)
	}
	r.link(flow.Literal("/etc"), flow.Literal("x"))
	if got := s.Place("x/passwd").Path; got != "/etc/passwd" {
		t.Errorf("after ln -s /etc x, x/passwd is %q", got)
	}
	if got := s.Place("x").Path; got != "/etc" {
		t.Errorf("after ln -s /etc x, x is %q: an older judgement was kept", got)
	}
}
