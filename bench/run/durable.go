package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/ledger"
)

var callerCounts = []int{1, 16, 128}

// durable measures decisions that are on disk before they are answered, in process, beside two limits on the same disk: the
// same callers appending to one file with one fsync per group, and the same callers deciding and then appending, which is
// what no log could better.
func durable(b *bench) error {
	fmt.Fprintf(b.out, "\n## Durable decisions in process\n\nEach decision is analysed, decided, canonically encoded, hashed into the tree, covered by a signed head and synced before it is answered. Beside it: the same callers append 1 KB records to a file, one fsync per group; and the same callers decide and then append, unencoded, unhashed and unsigned. Collector and threads are set as `interlock up` sets them (GOGC=400, two threads more than CPUs, for those that wait for the disk). Budget: at least 0.7 of raw append and fsync; recording at most 15 µs of CPU.\n\n")
	fmt.Fprintf(b.out, "| callers | raw append+fsync /s | decide, then raw append /s | decisions /s | of raw | of "+
		"decide+raw | p50 ms | p99 ms | CPU µs/decision | beyond decide+raw "+
		"|\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // what `interlock up` sets
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.NumCPU() + 2))
	home, err := b.home("durable")
	if err != nil {
		return err
	}
	backend, err := embedded.Open(b.ctx, embedded.Config{Home: home})
	if err != nil {
		return err
	}
	defer backend.Close()
	evaluator, err := embedded.NewEvaluator(config.Defaults())
	if err != nil {
		return err
	}
	raw, err := newRawLog(filepath.Join(b.scratch, "raw.log"))
	if err != nil {
		return err
	}
	defer raw.file.Close()
	record := make([]byte, 1024)
	for _, callers := range callerCounts {
		limit, err := b.measure(callers, func(int) error { return raw.append(record) })
		if err != nil {
			return err
		}
		deciding, err := b.measure(callers, func(caller int) error {
			admission.Evaluate(evaluator, admission.Case{Proposal: proposal(b, caller)}, ledger.Standing{}, time.Now())
			return raw.append(record)
		})
		if err != nil {
			return err
		}
		ours, err := b.measure(callers, func(caller int) error {
			if answer := backend.Propose(b.ctx, proposal(b, caller)); !answer.Answer.Allowed() {
				return fmt.Errorf("the decision was %v, not an allow: %+v", answer.Answer, answer.Findings)
			}
			return nil
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(b.out, "| %d | %.0f | %.0f | %.0f | %.2f | %.2f | %s | %s | %.1f | %.1f |\n", callers, limit.rate,
			deciding.rate, ours.rate,
			ours.rate/limit.rate, ours.rate/deciding.rate, millis(quantile(ours.times, 0.5)), millis(quantile(ours.times, 0.99)),
			ours.cpu, ours.cpu-deciding.cpu)
	}
	return nil
}

// A measurement is what so many callers did in one step of the benchmark.
type measurement struct {
	rate  float64 // per second
	times []time.Duration
	cpu   float64 // microseconds of this process per call
}

func (b *bench) measure(callers int, step func(caller int) error) (m measurement, err error) {
	cpu := cpuTime()
	m.rate, m.times, err = load(callers, b.step, step)
	if err != nil {
		return m, err
	}
	m.cpu = float64((cpuTime() - cpu).Microseconds()) / float64(len(m.times))
	return m, nil
}

func proposal(b *bench, caller int) interlock.Proposal {
	n := b.sequence.Add(1)
	return interlock.Proposal{
		Action: interlock.Action{Kind: interlock.KindShell,
			Input: fmt.Sprintf("git diff HEAD~%d -- src/main.go | head -50", n), Dir: "/repo"},
		Requester: interlock.Requester{Principal: "bench", Agent: "bench", Run: fmt.Sprintf("run-%d", caller)},
		View:      interlock.View{Home: "/home/dev", Workspace: "/repo"},
	}
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
