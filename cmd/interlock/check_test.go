package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestCheckStreamsInConstantMemory judges a hundred thousand lines in one stream: every line is answered, in order, and the
// live heap at the end is what it was near the beginning.
func TestCheckStreamsInConstantMemory(t *testing.T) {
	const lines, early = 100_000, 20_000
	in, feed := io.Pipe()
	answers, out := io.Pipe()
	go func() {
		w := bufio.NewWriter(feed)
		for n := range lines {
			fmt.Fprintf(w, "{\"id\":%d,\"kind\":\"shell\",\"input\":\"grep -n word%d file%d.txt | head\"}\n", n, n, n)
		}
		w.Flush()
		feed.Close()
	}()
	status := make(chan int, 1)
	go func() {
		getenv := func(name string) string { return map[string]string{"INTERLOCK_HOME": t.TempDir()}[name] }
		status <- run(context.Background(), []string{"check", "--jsonl"}, getenv, in, out, os.Stderr)
		out.Close()
	}()
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var before int64
	scanner := bufio.NewScanner(answers)
	scanner.Buffer(nil, 1<<20)
	n := 0
	for ; scanner.Scan(); n++ {
		if want := fmt.Sprintf(`{"id":%d,"verdict":"allow"`, n); !strings.HasPrefix(scanner.Text(), want) {
			t.Fatalf("line %d: %.200s, want it to begin %s", n, scanner.Text(), want)
		}
		if n == early {
			before = heap()
		}
	}
	if n != lines {
		t.Fatalf("%d answers for %d lines", n, lines)
	}
	if code := <-status; code != 0 {
		t.Fatalf("exit status %d, want 0", code)
	}
	if grown := heap() - before; grown > 4<<20 {
		t.Errorf("the live heap grew by %d bytes over %d lines", grown, lines-early)
	}
}
