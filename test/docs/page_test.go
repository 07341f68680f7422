package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A block is one fenced block of a page, with what its markings say.
type block struct {
	line   int    // of its opening fence
	info   string // the fence's first word
	text   string
	before string // what a hidden comment above it has done first
	exits  int    // the exit status that its last command ends with
	types  string // what its person answers to each question
	notRun string // why nobody runs it here
	shown  bool   // what the block before it prints
}

// A page is one Markdown file with its blocks.
type page struct {
	name   string // from the repository's root
	blocks []block
}

const root = "../.."

// commandPages are all pages of the repository, but those that are generated from what is run elsewhere or belong to others.
func commandPages(t *testing.T) []page {
	t.Helper()
	var pages []page
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, file)
		name = filepath.ToSlash(name)
		if entry.IsDir() {
			switch {
			case slices.Contains([]string{"node_modules", "testdata", ".git"}, entry.Name()),
				slices.Contains([]string{"bin", "dist", "site", "var", "bench/peer"}, name):
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".md" {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		p, problems := parsePage(name, string(text))
		for _, problem := range problems {
			t.Error(problem)
		}
		pages = append(pages, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

var (
	opening = regexp.MustCompile("^( *)```+([a-z]*)(.*)$")
	marking = regexp.MustCompile(`^ +(exits|types)=(\S+)`)
	// programs are what a line of commands begins with: a block that has one says that it is for a shell.
	programs = regexp.MustCompile(`^(\$ )?(sudo +)?(\./)?(interlock|interlock-hook|make|curl|ssh-keygen|ssh-add|` +
		`npm|npx|pip|python3?|go|git|sqlite3|cp|mv|` +
		`rm|chmod|mkdir|cd|export|claude|docker|podman|kubectl|helm|brew|systemctl|launchctl|tar|dpkg|apt-get|sha256sum)( |$)`)
)

// parsePage reads a page's blocks, and what is wrong with how they are marked.
func parsePage(name, text string) (page, []string) {
	p := page{name: name}
	var problems []string
	say := func(line int, format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%s:%d: ", name, line)+fmt.Sprintf(format, args...))
	}
	lines := strings.Split(text, "\n")
	before, beforeLine := "", 0
	for i := 0; i < len(lines); i++ {
		if rest, ok := strings.CutPrefix(lines[i], "<!-- before:"); ok {
			beforeLine = i + 1
			for !strings.Contains(rest, "-->") && i+1 < len(lines) {
				i++
				rest += "\n" + lines[i]
			}
			rest, _, _ = strings.Cut(rest, "-->")
			before += strings.TrimSpace(rest) + "\n"
			continue
		}
		fence := opening.FindStringSubmatch(lines[i])
		if fence == nil {
			continue
		}
		b := block{line: i + 1, info: fence[2]}
		if problem := b.mark(fence[3]); problem != "" {
			say(b.line, "%s", problem)
		}
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != "```"; i++ {
			b.text += strings.TrimPrefix(lines[i], fence[1]) + "\n"
		}
		if b.info == "sh" {
			b.before, before = before, ""
		} else if b.info == "" {
			for _, line := range strings.Split(b.text, "\n") {
				if programs.MatchString(line) && !strings.Contains(line, "   < ") { // the table of who may import whom is no shell's
					say(b.line, "this block has commands (%s): mark it ```sh, and it is run", line)
					break
				}
			}
		} else if slices.Contains([]string{"bash", "console", "shell", "zsh"}, b.info) {
			say(b.line, "commands are marked ```sh here")
		}
		p.blocks = append(p.blocks, b)
	}
	if before != "" {
		say(beforeLine, "no block with commands follows")
	}
	return p, problems
}

// mark takes what stands behind a fence's first word.
func (b *block) mark(rest string) string {
	if b.info == "text" && rest == " shown" {
		b.shown = true
		return ""
	}
	if b.info != "sh" {
		return ""
	}
	if reason, ok := strings.CutPrefix(rest, " not-run: "); ok {
		b.notRun = reason
		return ""
	}
	for rest != "" {
		found := marking.FindStringSubmatch(rest)
		if found == nil {
			return fmt.Sprintf("%q is no marking: exits=N, types=WORD or not-run: REASON", rest)
		}
		rest = rest[len(found[0]):]
		if found[1] == "types" {
			b.types = found[2]
		} else if n, err := strconv.Atoi(found[2]); err != nil || n < 1 || n > 255 {
			return found[2] + " is no exit status of something that fails"
		} else {
			b.exits = n
		}
	}
	return ""
}

// commands counts the lines of a block that a shell would run.
func (b block) commands() int {
	n, continued := 0, false
	for _, line := range strings.Split(b.text, "\n") {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") && !continued {
			n++
		}
		continued = strings.HasSuffix(line, `\`)
	}
	return n
}
