package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// remember writes down what became of a package's breaks: the counts, and each survivor with its file.
func remember(name string, r result, all []found) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\t%d\t%d\t%d\t%d\t%d\t%d\n", r.pkg, r.percent, r.killed, r.lived, r.late, r.notViable, r.notReached)
	for _, f := range all {
		if f.status == "LIVED" {
			fmt.Fprintf(&b, "%s\t%s\n", f.file, f.row())
		}
	}
	return os.WriteFile(name, []byte(b.String()), 0o600)
}

func recall(name string) (result, []found, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return result{}, nil, err
	}
	r := result{whole: true}
	var survived []found
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		fields := strings.Split(line, "\t")
		switch {
		case i == 0 && len(fields) == 7:
			r.pkg = fields[0]
			for k, n := range []*int{&r.percent, &r.killed, &r.lived, &r.late, &r.notViable, &r.notReached} {
				if *n, err = strconv.Atoi(fields[k+1]); err != nil {
					return result{}, nil, fmt.Errorf("%s: %w", name, err)
				}
			}
		case i > 0 && len(fields) == 6:
			nth, err := strconv.Atoi(fields[5])
			if err != nil {
				return result{}, nil, fmt.Errorf("%s: %w", name, err)
			}
			survived = append(survived, found{mutant{status: "LIVED", file: fields[0]},
				place{fields[1], fields[2], fields[3], fields[4], nth}})
		default:
			return result{}, nil, fmt.Errorf("%s:%d: %d columns", name, i+1, len(fields))
		}
	}
	return r, survived, nil
}
