package admission_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"interlock/internal/admission/core"
	"interlock/internal/ledger"
)

// A bell is a watcher that tells when the test rings it.
type bell chan struct{}

func (b bell) Watch(ctx context.Context, _ ledger.Watch) (<-chan struct{}, error) {
	return b, ctx.Err()
}

// Whoever follows looks at once, then as soon as he is told, no more often than he asked for, and sees what came while he looked; he
// ends with his context, with the store and with an error of his own.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var looks []time.Duration
		ctx, cancel := context.WithCancel(t.Context())
		ring := make(bell, 1)
		done := make(chan error)
		go func() {
			done <- core.Follow(ctx, ring, ledger.Watch{Within: time.Second}, func(context.Context) error {
				looks = append(looks, time.Since(began))
				return nil
			})
		}()
		synctest.Wait()
		time.Sleep(5 * time.Second)
		ring <- struct{}{} // at 5 s, after a rest
		synctest.Wait()
		ring <- struct{}{} // at once again
		synctest.Wait()
		time.Sleep(300 * time.Millisecond)
		ring <- struct{}{} // and while that one waits
		time.Sleep(9700 * time.Millisecond)
		synctest.Wait()
		want := []time.Duration{0, 5 * time.Second, 6 * time.Second, 7 * time.Second}
		if len(looks) != len(want) {
			t.Fatalf("looked at %v, want %v", looks, want)
		}
		for i := range want {
			if looks[i] != want[i] {
				t.Errorf("looked at %v, want %v", looks, want)
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("its context's end is an error: %v", err)
		}
		if err := core.Follow(ctx, ring, ledger.Watch{}, nil); err != nil {
			t.Errorf("a context that has ended is an error: %v", err)
		}
		gone := make(bell)
		close(gone)
		n := 0
		count := func(context.Context) error { n++; return nil }
		if err := core.Follow(t.Context(), gone, ledger.Watch{}, count); err != nil || n != 1 {
			t.Errorf("the store's end: %v after %d looks", err, n)
		}
		failure := errors.New("no")
		if err := core.Follow(t.Context(), ring, ledger.Watch{}, func(context.Context) error { return failure }); !errors.Is(err,
			failure) {
			t.Errorf("look's error came back as %v", err)
		}
	})
}
