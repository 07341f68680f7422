// Command screens makes the pictures of the console that the documents show: it plays a day of a small team's agents into a
// store, starts the real server over it, and has Chromium load every page, wide and on a phone, in light and in dark. It writes
// only the pictures that a document shows. It needs Chromium; `make pictures` calls it. A page that does not fit a phone and
// anything that the browser complains of are reported at the end and fail it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func main() {
	documents := flag.String("documents", "docs", "directory of the documents; its pictures go below it")
	only := flag.String("only", "", "make the pictures of one page only, by its name")
	flag.Parse()
	if err := run(context.Background(), *documents, *only); err != nil {
		fmt.Fprintln(os.Stderr, "screens:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, documents, only string) error {
	wanted, err := shown(documents)
	if err != nil {
		return err
	}
	into := filepath.Join(documents, "pictures")
	dir, err := os.MkdirTemp("", "interlock-screens-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	played, err := playDay(ctx, filepath.Join(dir, "home"))
	if err != nil {
		return fmt.Errorf("playing a day: %w", err)
	}
	fmt.Printf("a day of %d decisions in %v\n", played.decisions, time.Since(began).Round(time.Second))
	server, err := startServer(dir)
	if err != nil {
		return err
	}
	defer server.stop()
	if err := server.decideSome(ctx, played.token); err != nil {
		return err
	}
	browser, err := startBrowser(ctx)
	if err != nil {
		return err
	}
	defer browser.Close()
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	var wrong []error
	for _, p := range pages(played) {
		if only != "" && p.name != only && p.name != "login" && p.name != "enrol" { // which let the browser in
			continue
		}
		found, err := browser.photograph(ctx, server.origin, p, into, wanted)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		wrong = append(wrong, found...)
	}
	fmt.Printf("all in %v\n", time.Since(began).Round(time.Second))
	return errors.Join(wrong...)
}
