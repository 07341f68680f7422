package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"interlock/embedded"
	"interlock/internal/meter"
)

// threeLimits count every decision that is measured, by an agent, by who answers for it, and for all.
const threeLimits = `limits:
  - {id: bench.actions, per: agent, measure: actions, most: 1000000000, within: 1h}
  - {id: bench.records, per: principal, measure: records, most: 1000000000, unknown: 1, within: 24h, match: {kind: [read]}}
  - {id: bench.total, per: everything, measure: actions, most: 1000000000}
`

// limitRounds is how often decisions without and with limits are measured, in turns.
const limitRounds = 4

// limited measures what three limits on every decision cost: the same decisions in process, without and with them by turns.
func limited(b *bench) error {
	fmt.Fprintf(b.out, "\n## Limits\n\nThree limits on every decision, all of one agent, against the same "+
		"decisions without any, %d times in turns. Each is looked up, "+
		"reserved in the writer's transaction and recorded with the decision. Budget: at 16 callers at least 0.85 of the rate without; "+
		"at most 1 µs of arithmetic for each.\n\n", limitRounds)
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.NumCPU() + 2))
	var backends []*embedded.Backend
	for _, rules := range []string{"", threeLimits} {
		home, err := b.home(fmt.Sprint("limits-", len(backends)))
		if err != nil {
			return err
		}
		where := filepath.Join(home, "rules")
		if err := os.MkdirAll(where, 0o700); err != nil {
			return err
		}
		if rules != "" {
			if err := os.WriteFile(filepath.Join(where, "limits.yaml"), []byte(rules), 0o600); err != nil {
				return err
			}
		}
		backend, err := embedded.Open(b.ctx, embedded.Config{Home: home})
		if err != nil {
			return err
		}
		defer backend.Close()
		backends = append(backends, backend)
	}
	fmt.Fprintf(b.out, "| callers | without /s | with three /s | of it | CPU µs without | with |\n|---:|---:|---:|---:|---:|---:|\n")
	for _, callers := range []int{1, 16} {
		var rate, cpu [2]float64
		for range limitRounds {
			for n, backend := range backends {
				m, err := b.measure(callers, func(caller int) error {
					if answer := backend.Propose(b.ctx, proposal(b, caller)); !answer.Answer.Allowed() || len(answer.Uses) != 3*n {
						return fmt.Errorf("the decision was %v, of %d limits: %+v", answer.Answer, len(answer.Uses), answer.Findings)
					}
					return nil
				})
				if err != nil {
					return err
				}
				rate[n], cpu[n] = rate[n]+m.rate/limitRounds, cpu[n]+m.cpu/limitRounds
			}
		}
		fmt.Fprintf(b.out, "| %d | %.0f | %.0f | %.2f | %.1f | %.1f |\n", callers, rate[0], rate[1], rate[1]/rate[0], cpu[0], cpu[1])
	}
	fmt.Fprintf(b.out, "\nThe arithmetic of one limit, of a row with a thousand uses: %.2f µs.\n", arithmetic())
	return nil
}

// arithmetic is how long one use takes of a row in the middle of its window, in microseconds.
func arithmetic() float64 {
	const times = 20_000
	bound := meter.Bound{Most: math.MaxInt64, Window: time.Hour}
	count, at := meter.Count{}, time.Now()
	for n := range meter.ExactUses - 1 {
		count, _ = count.Take(1, bound, at.Add(time.Duration(n)*time.Second))
	}
	at = at.Add(meter.ExactUses * time.Second)
	begun := time.Now()
	for range times {
		_, _ = count.Take(1, bound, at)
	}
	return float64(time.Since(begun).Nanoseconds()) / times / 1000
}
