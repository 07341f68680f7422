// Command generator makes a site of the documentation: plain files that a browser reads without a server, with an index that is searched
// there. It says every link that leads nowhere and then fails.
//
//	go run ./docs/generator -root . -out site
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", ".", "the repository")
	out := flag.String("out", "site", "directory to make the site in; what was there goes")
	flag.Parse()
	pages, problems, err := build(os.DirFS(*root), *out)
	for _, problem := range problems {
		fmt.Fprintln(os.Stderr, problem)
	}
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("%d links lead nowhere", len(problems))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generator:", err)
		os.Exit(1)
	}
	fmt.Printf("%d pages: open %s/index.html\n", pages, *out)
}
