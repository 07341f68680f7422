package core_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/test/wait"
)

// takes starts waiting for a turn and returns when it has begun to wait or has one.
type taken struct {
	done func(int)
	err  error
}

func take(ctx context.Context, turns *core.Turns, agent string, bytes int) chan taken {
	out := make(chan taken, 1)
	go func() {
		done, err := turns.Take(ctx, agent, bytes)
		out <- taken{done, err}
	}()
	return out
}

const long = 100 << 10

func mustTake(t *testing.T, turns *core.Turns, agent string, bytes int) func(int) {
	t.Helper()
	select {
	case got := <-take(t.Context(), turns, agent, bytes):
		if got.err != nil {
			t.Fatal(got.err)
		}
		return got.done
	case <-time.After(time.Minute):
		t.Fatal("it is never its turn")
	}
	return nil
}

// waits waits until so many inputs of an agent wait.
func waits(t *testing.T, turns *core.Turns, agent string, n int) {
	t.Helper()
	wait.Until(t, fmt.Sprintf("%d inputs of %s to wait", n, agent), func() bool { return turns.Waiting(agent) == n })
}

// TestTurnsAreAnAgentsOwn: while one agent's inputs hold its share and many more of them wait, another's has its turn at once.
func TestTurnsAreAnAgentsOwn(t *testing.T) {
	turns := core.NewTurns(1)
	first := mustTake(t, turns, "hostile", long)
	var waiting []chan taken
	for n := range 64 {
		waiting = append(waiting, take(t.Context(), turns, "hostile", long))
		waits(t, turns, "hostile", n+1)
	}
	if _, err := turns.Take(t.Context(), "hostile", long); interlockCode(err) != interlock.CodeLimited {
		t.Errorf("one too many: %v", err)
	}
	mustTake(t, turns, "other", long)(1)
	mustTake(t, turns, "other", 2)(1)
	first(1)
	for n, w := range waiting { // in the order in which they came
		got := <-w
		if got.err != nil {
			t.Fatal(n, got.err)
		}
		got.done(1)
	}
	if turns.Agents() != 0 {
		t.Errorf("%d agents are remembered", turns.Agents())
	}
}

// TestAShortInputWaitsForACostlyAgent: what is short takes a turn as long as its agent's inputs are costly to read, and none when
// they have become cheap.
func TestAShortInputWaitsForACostlyAgent(t *testing.T) {
	turns := core.NewTurns(1)
	mustTake(t, turns, "a", 10)(400_000)
	held := mustTake(t, turns, "a", 10)
	waiting := take(t.Context(), turns, "a", 10)
	waits(t, turns, "a", 1)
	held(10)
	(<-waiting).done(10)
	for range 20 {
		mustTake(t, turns, "a", 10)(10)
	}
	mustTake(t, turns, "a", 10) // held, and keeps nobody waiting
	mustTake(t, turns, "a", 10)
}

// TestWaitingEndsWithTheContext: what nobody waits for any more leaves its place, and a turn given at that moment is not lost.
func TestWaitingEndsWithTheContext(t *testing.T) {
	turns := core.NewTurns(1)
	held := mustTake(t, turns, "a", long)
	ctx, cancel := context.WithCancel(t.Context())
	gone, stays := take(ctx, turns, "a", long), make(chan taken)
	waits(t, turns, "a", 1)
	cancel()
	if got := <-gone; !errors.Is(got.err, context.Canceled) {
		t.Errorf("%v", got.err)
	}
	waits(t, turns, "a", 0)
	stays = take(t.Context(), turns, "a", long)
	waits(t, turns, "a", 1)
	held(1)
	(<-stays).done(1)
	mustTake(t, turns, "a", long)(1)

	var all sync.WaitGroup
	for n := range 32 { // turns are given and given up at once
		all.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			go cancel()
			if done, err := turns.Take(ctx, "b", long+n); err == nil {
				done(1)
			}
		})
	}
	all.Wait()
	mustTake(t, turns, "b", long)(1)
	if turns.Agents() != 0 {
		t.Errorf("%d agents are remembered", turns.Agents())
	}
}

// TestAgentsAreForgotten: agents that went away are no more than so many.
func TestAgentsAreForgotten(t *testing.T) {
	turns := core.NewTurns(1)
	for n := range 10_000 {
		mustTake(t, turns, fmt.Sprint(n), 10)(400_000)
	}
	if n := turns.Agents(); n > 4096 {
		t.Errorf("%d agents are remembered", n)
	}
}

func interlockCode(err error) interlock.Code {
	var e *interlock.Error
	errors.As(err, &e)
	if e == nil {
		return ""
	}
	return e.Code
}
