// Command screens makes the pictures of the console that stand in the documents: it plays a day of a small team's agents into a store,
// starts the real server over it, and has Chromium look at every page, wide and on a phone, in light and in dark. It needs Chromium;
// `make pictures` calls it. What does not fit a phone, or what the browser complains of, is told at the end and fails it.
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
	into := flag.String("into", "docs/pictures", "directory for the pictures")
	only := flag.String("only", "", "make the pictures of one page only, by its name")
	flag.Parse()
	if err := run(context.Background(), *into, *only); err != nil {
		fmt.Fprintln(os.Stderr, "screens:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, into, only string) error {
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
	if err := writeList(filepath.Join(filepath.Dir(filepath.Clean(into)), "console.md"), pages(played)); err != nil {
		return err
	}
	var wrong []error
	for _, p := range pages(played) {
		if only != "" && p.name != only && p.name != "login" && p.name != "enrol" { // which let the browser in
			continue
		}
		found, err := browser.photograph(ctx, server.origin, p, into)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		wrong = append(wrong, found...)
	}
	fmt.Printf("all in %v\n", time.Since(began).Round(time.Second))
	return errors.Join(wrong...)
}
