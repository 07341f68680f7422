package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"interlock"
	"interlock/embedded"
)

var callerCounts = []int{1, 16, 128}

// durable measures decisions that are on disk before they are answered, in process, beside the same number of callers
// appending to one file with one fsync per group.
func durable(b *bench) error {
	fmt.Fprintf(b.out, "\n## Durable decisions in process\n\nEach decision is analysed, decided, canonically encoded, hashed into the tree, covered by a signed head and synced before it is answered. Beside it: the same callers append 1 KB records to a file, one fsync per group. The collector is set as `interlock up` sets it (GOGC=400). Budget: ratio >= 0.7, CPU <= 15 µs per decision.\n\n")
	fmt.Fprintf(b.out, "| callers | raw append+fsync /s | decisions /s | ratio | p50 ms | p99 ms | CPU µs/decision |\n|---:|---:|---:|---:|---:|---:|---:|\n")
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // what `interlock up` sets
	home, err := b.home("durable")
	if err != nil {
		return err
	}
	backend, err := embedded.Open(b.ctx, embedded.Config{Home: home})
	if err != nil {
		return err
	}
	defer backend.Close()
	raw, err := newRawLog(filepath.Join(b.scratch, "raw.log"))
	if err != nil {
		return err
	}
	defer raw.file.Close()
	record := make([]byte, 1024)
	for _, callers := range callerCounts {
		rawRate, _, err := load(callers, b.step, func(int) error { return raw.append(record) })
		if err != nil {
			return err
		}
		cpu := cpuTime()
		rate, times, err := load(callers, b.step, func(caller int) error {
			return propose(b, backend, caller)
		})
		if err != nil {
			return err
		}
		used := float64((cpuTime() - cpu).Microseconds()) / float64(len(times))
		fmt.Fprintf(b.out, "| %d | %.0f | %.0f | %.2f | %s | %s | %.1f |\n", callers, rawRate, rate, rate/rawRate,
			millis(quantile(times, 0.5)), millis(quantile(times, 0.99)), used)
	}
	return nil
}

func propose(b *bench, backend *embedded.Backend, caller int) error {
	n := b.sequence.Add(1)
	answer := backend.Propose(b.ctx, interlock.Proposal{
		Action:    interlock.Action{Kind: interlock.KindShell, Input: fmt.Sprintf("git diff HEAD~%d -- src/main.go | head -50", n), Dir: "/repo"},
		Requester: interlock.Requester{Principal: "bench", Agent: "bench", Run: fmt.Sprintf("run-%d", caller)},
		View:      interlock.View{Home: "/home/dev", Workspace: "/repo"},
	})
	if !answer.Answer.Allowed() {
		return fmt.Errorf("the decision was %v, not an allow: %+v", answer.Answer, answer.Findings)
	}
	return nil
}

// load has callers repeat a step for a while and returns steps per second and each step's time.
func load(callers int, length time.Duration, step func(caller int) error) (rate float64, times []time.Duration, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := time.Now()
	deadline := start.Add(length)
	for caller := range callers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var own []time.Duration
			var failed error
			for failed == nil {
				at := time.Now()
				if at.After(deadline) {
					break
				}
				failed = step(caller)
				own = append(own, time.Since(at))
			}
			mu.Lock()
			defer mu.Unlock()
			times = append(times, own...)
			if failed != nil && err == nil {
				err = failed
			}
		}()
	}
	wg.Wait()
	return float64(len(times)) / time.Since(start).Seconds(), times, err
}

// A rawLog appends records to a file; everybody who waits at the same time shares one write and one fsync. It is the
// physical limit that a log on this disk has.
type rawLog struct {
	file    *os.File
	mu      sync.Mutex
	waiting []chan error
	pending []byte
	syncing bool
}

func newRawLog(path string) (*rawLog, error) {
	file, err := os.Create(path)
	return &rawLog{file: file}, err
}

func (l *rawLog) append(record []byte) error {
	done := make(chan error, 1)
	l.mu.Lock()
	l.pending = append(l.pending, record...)
	l.waiting = append(l.waiting, done)
	lead := !l.syncing
	l.syncing = true
	l.mu.Unlock()
	if lead {
		go l.flush()
	}
	return <-done
}

func (l *rawLog) flush() {
	w := bufio.NewWriterSize(l.file, 1<<20)
	for {
		l.mu.Lock()
		batch, waiting := l.pending, l.waiting
		l.pending, l.waiting = nil, nil
		if len(waiting) == 0 {
			l.syncing = false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		_, err := w.Write(batch)
		if err == nil {
			err = w.Flush()
		}
		if err == nil {
			err = l.file.Sync()
		}
		for _, done := range waiting {
			done <- err
		}
	}
}
