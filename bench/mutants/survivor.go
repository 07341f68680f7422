package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A survivor is a break that stays although no test notices it, and the sentence that says why.
type survivor struct {
	place
	why string
}

// readSurvivors reads survivors.tsv: package, function, kind, line with its operator between « and », which of several such
// lines, and why it stays. Lines that begin with # are for people.
func readSurvivors(name string) ([]survivor, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var all []survivor
	seen := make(map[place]bool)
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 6 {
			return nil, fmt.Errorf("%s:%d: %d columns instead of 6", name, i+1, len(fields))
		}
		nth, err := strconv.Atoi(fields[4])
		if err != nil || nth < 1 {
			return nil, fmt.Errorf("%s:%d: %q is no count", name, i+1, fields[4])
		}
		s := survivor{place{fields[0], fields[1], fields[2], fields[3], nth}, strings.TrimSpace(fields[5])}
		if s.why == "" || !strings.HasSuffix(s.why, ".") {
			return nil, fmt.Errorf("%s:%d: a survivor needs a sentence that says why it stays", name, i+1)
		}
		if seen[s.place] {
			return nil, fmt.Errorf("%s:%d: this survivor is listed twice", name, i+1)
		}
		seen[s.place] = true
		all = append(all, s)
	}
	return all, nil
}

// row is a place as survivors.tsv wants it, without the sentence.
func (p place) row() string {
	return strings.Join([]string{p.pkg, p.function, p.kind, p.text, strconv.Itoa(p.nth)}, "\t")
}
