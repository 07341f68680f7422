//go:build unix

package embedded_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"interlock"
	"interlock/embedded"
)

// BenchmarkJudged measures what a judge costs one caller beside the time it takes itself, in turns with the same decisions without one
// and with the exchange alone, so that whatever else the machine does strikes all of them alike. `make bench` has the numbers of a
// whole run.
func BenchmarkJudged(b *testing.B) {
	judge := httptest.NewServer(http.HandlerFunc(instantly))
	defer judge.Close()
	settings := "judge:\n  when: %s\n  judges: [{name: main, wire: openai-chat, url: \"" + judge.URL + "/v1\", model: bench-1}]\n"
	open := func(text string) *embedded.Backend {
		home := b.TempDir()
		if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		backend, err := embedded.Open(b.Context(), embedded.Config{Home: home})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { backend.Close() })
		return backend
	}
	none, judged, due := open(""), open(fmt.Sprintf(settings, "all")), open(fmt.Sprintf(settings, "changes"))
	n := 0
	propose := func(backend *embedded.Backend, fresh bool) func() {
		return func() {
			input := "git status"
			if fresh {
				n++
				input = fmt.Sprintf("git diff HEAD~%d -- src/main.go | head -50", n)
			}
			answer := backend.Propose(b.Context(), interlock.Proposal{
				Action:    interlock.Action{Kind: interlock.KindShell, Dir: "/repo", Input: input},
				Requester: interlock.Requester{Principal: "bench", Agent: "bench", Run: "run"},
				View:      interlock.View{Home: "/home/dev", Workspace: "/repo"}})
			if !answer.Answer.Allowed() {
				b.Fatalf("answer %v: %+v", answer.Answer, answer.Findings)
			}
		}
	}
	question := bytes.Repeat([]byte("x"), 8<<10)
	exchange := func() {
		response, err := judge.Client().Post(judge.URL+"/v1/chat/completions", "application/json", bytes.NewReader(question))
		if err != nil {
			b.Fatal(err)
		}
		defer response.Body.Close()
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			b.Fatal(err)
		}
	}
	steps := []struct {
		name string
		step func()
	}{{"none", propose(none, true)}, {"not-due", propose(due, true)}, {"none-same", propose(none, false)}, {"remembered", propose(judged, false)},
		{"asked", propose(judged, true)}, {"exchange", exchange}}
	if only := os.Getenv("BENCH_JUDGED"); only != "" {
		for n := range steps {
			if steps[n].name == only {
				steps = steps[n : n+1]
				break
			}
		}
	}
	times, cpu := make([][]time.Duration, len(steps)), make([]time.Duration, len(steps))
	for b.Loop() {
		for s := range steps {
			for range 8 {
				used, at := cpuTime(), time.Now()
				steps[s].step()
				times[s] = append(times[s], time.Since(at))
				cpu[s] += cpuTime() - used
			}
		}
	}
	for s := range steps {
		slices.Sort(times[s])
		b.ReportMetric(float64(times[s][len(times[s])/2].Nanoseconds())/1e3, steps[s].name+"-p50-µs")
		b.ReportMetric(float64(cpu[s].Nanoseconds())/1e3/float64(len(times[s])), steps[s].name+"-cpu-µs")
	}
}

// instantly is a judge that denies its canary, and allows everything else.
func instantly(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	says := `{\"decision\":\"ALLOW\",\"layer\":null,\"rule_id\":null,\"reason\":\"fine\",\"confidence\":1}`
	if bytes.Contains(body, []byte("attacker.example")) {
		says = `{\"decision\":\"DENY\",\"layer\":1,\"rule_id\":\"L1.integrity\",\"reason\":\"bad\",\"confidence\":1}`
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"id":"x","object":"chat.completion","model":"bench-1","choices":[{"index":0,"finish_reason":"stop","message":{"role":`+
		`"assistant","content":"%s"}}],"usage":{"prompt_tokens":900,"completion_tokens":30}}`, says)
}

// BenchmarkOpenJudged measures what a judge in the settings adds to opening a home, in turns with one without.
func BenchmarkOpenJudged(b *testing.B) {
	judge := httptest.NewServer(http.HandlerFunc(instantly))
	defer judge.Close()
	settings := "judge:\n  judges: [{name: main, wire: openai-chat, url: \"" + judge.URL + "/v1\", model: bench-1}]\n"
	var homes [2]string
	for n, text := range []string{"", settings} {
		homes[n] = b.TempDir()
		if err := os.WriteFile(filepath.Join(homes[n], "interlock.yaml"), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	var times [2][]time.Duration
	for b.Loop() {
		for n, home := range homes {
			at := time.Now()
			backend, err := embedded.Open(b.Context(), embedded.Config{Home: home})
			if err != nil {
				b.Fatal(err)
			}
			times[n] = append(times[n], time.Since(at))
			backend.Close()
		}
	}
	for n, name := range []string{"without", "with"} {
		slices.Sort(times[n])
		b.ReportMetric(float64(times[n][len(times[n])/10].Nanoseconds())/1e6, name+"-fastest-tenth-ms")
		b.ReportMetric(float64(times[n][len(times[n])/2].Nanoseconds())/1e6, name+"-p50-ms")
	}
}
