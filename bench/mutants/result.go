package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A result is what became of a package's breaks.
type result struct {
	pkg                                        string
	percent                                    int
	killed, lived, late, notViable, notReached int
	whole                                      bool // nothing was left out for want of time
}

func resultOf(t target, all []found, whole bool) result {
	r := result{pkg: t.dir, percent: t.percent, whole: whole}
	for _, f := range all {
		switch f.status {
		case "KILLED":
			r.killed++
		case "LIVED":
			r.lived++
		case "TIMED OUT":
			r.late++
		case "NOT VIABLE":
			r.notViable++
		case "NOT COVERED":
			r.notReached++
		}
	}
	return r
}

// with is the result of a whole run after what survived it was tried again, and what else is on the same lines. That was noticed
// the first time and is counted already.
func (r result) with(survived, again []found, whole bool) result {
	now := make(map[place]string)
	for _, f := range again {
		now[f.place] = f.status
	}
	r.whole = whole
	for _, f := range survived {
		switch now[f.place] {
		case "LIVED":
			delete(now, f.place)
			continue
		case "KILLED":
			r.killed++
		}
		r.lived-- // also what is not there any more
	}
	for _, status := range now {
		if status == "LIVED" { // it came with a change of the code
			r.lived++
		}
	}
	return r
}

// effective is the percentage of breaks that the tests noticed, of those they reached and came to an end with.
func (r result) effective() float64 {
	if r.killed+r.lived == 0 {
		return 0
	}
	return 100 * float64(r.killed) / float64(r.killed+r.lived)
}

// say prints a package's result and returns what is wrong with it.
func say(w io.Writer, r result, all []found, known []survivor, verbose bool) []string {
	why := make(map[place]string)
	for _, s := range known {
		why[s.place] = s.why
	}
	fmt.Fprintf(w, "%s: %.1f%% effective: %d noticed, %d survived; %d ran out of time, %d do not compile or end, %d are reached by no test"+
		" of the package; %d%% of its lines\n", r.pkg, r.effective(), r.killed, r.lived, r.late, r.notViable, r.notReached, r.percent)
	unknown := 0
	for _, f := range all {
		at := fmt.Sprintf("%s/%s:%d", r.pkg, f.file, f.line)
		switch sentence, listed := why[f.place]; {
		case f.status == "LIVED" && listed:
			fmt.Fprintf(w, "  survived  %s %s: %s\n", at, f.text, sentence)
		case f.status == "LIVED":
			unknown++
			fmt.Fprintf(w, "  SURVIVED  %s\n%s\n", at, f.row())
		case f.status == "KILLED" && listed:
			fmt.Fprintf(w, "  noticed by now, take it from survivors.tsv: %s %s\n", at, f.text)
		case verbose && (f.status == "NOT COVERED" || f.status == "TIMED OUT"):
			fmt.Fprintf(w, "  %s  %s %s %s\n", strings.ToLower(f.status), at, f.place.kind, f.text)
		}
	}
	var wrong []string
	if r.effective() < least {
		wrong = append(wrong, fmt.Sprintf("%s is %.1f%% effective and should be %.0f%%", r.pkg, r.effective(), least))
	}
	if unknown > 0 {
		wrong = append(wrong, fmt.Sprintf("%s has %d survivors without a sentence in %s/survivors.tsv", r.pkg, unknown, folder))
	}
	if !r.whole {
		wrong = append(wrong, r.pkg+" was stopped before the end")
	}
	return wrong
}

// The table in README.md is between these lines.
const (
	tableBegins = "<!-- results -->\n"
	tableEnds   = "<!-- end of results -->"
)

// keep writes a package's row of the table again.
func keep(dir string, r result) error {
	name := filepath.Join(dir, "README.md")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	page, err := withRow(string(text), r)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name, []byte(page), 0o600)
}

func withRow(page string, r result) (string, error) {
	before, rest, begins := strings.Cut(page, tableBegins)
	table, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		return "", fmt.Errorf("the marks of the table are missing")
	}
	rows := make(map[string]string)
	for line := range strings.SplitSeq(strings.TrimSpace(table), "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 2 && strings.Contains(cells[1], "`") {
			rows[strings.Trim(cells[1], " `")] = line
		}
	}
	rows[r.pkg] = r.row()
	var b strings.Builder
	b.WriteString("| package | its lines, % | effective, % | noticed | survived | out of time | do not compile or end | not reached |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|\n")
	for _, t := range targets() {
		if row, ok := rows[t.dir]; ok {
			b.WriteString(row + "\n")
		}
	}
	return before + tableBegins + b.String() + tableEnds + after, nil
}

func (r result) row() string {
	cells := []string{"`" + r.pkg + "`", strconv.Itoa(r.percent), fmt.Sprintf("%.1f", r.effective())}
	for _, n := range []int{r.killed, r.lived, r.late, r.notViable, r.notReached} {
		cells = append(cells, strconv.Itoa(n))
	}
	return "| " + strings.Join(cells, " | ") + " |"
}
