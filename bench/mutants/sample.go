package main

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// copyTree copies what belongs to the working tree, committed or not yet, and nothing that git ignores.
func copyTree(ctx context.Context, from, to string) error {
	list, err := git(ctx, from, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(from, name))
		if err != nil || !info.Mode().IsRegular() {
			continue // removed and not committed yet, or no file
		}
		if err := copyFile(filepath.Join(from, name), filepath.Join(to, name), info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string, mode os.FileMode) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	w, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	defer func() {
		if closed := w.Close(); err == nil {
			err = closed
		}
	}()
	_, err = io.Copy(w, r)
	return err
}

// drawSample makes the tree a repository in which just the lines of the sample have been changed since its only commit, because
// that is what gremlins can be told to keep to. The commit has a mark in place of each of them; no context and no prefix keep
// one line from being taken for its neighbour.
func drawSample(ctx context.Context, tree string, t target, pick picker) error {
	for _, args := range [][]string{{"init", "--quiet"}, {"config", "user.name", "mutants"}, {"config", "user.email", "mutants@localhost"},
		{"config", "diff.context", "0"}, {"config", "diff.interHunkContext", "0"}, {"config", "diff.relative", "true"},
		{"config", "commit.gpgsign", "false"}} {
		if _, err := git(ctx, tree, args...); err != nil {
			return err
		}
	}
	names, err := filepath.Glob(filepath.Join(tree, filepath.FromSlash(t.dir), "*.go"))
	if err != nil {
		return err
	}
	whole := make(map[string][]byte)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		whole[name] = text
		if err := os.WriteFile(name, without(text, filepath.Base(name), pick), 0o600); err != nil {
			return err
		}
		if _, err := git(ctx, tree, "add", "--", name); err != nil {
			return err
		}
	}
	if _, err := git(ctx, tree, "commit", "--quiet", "-m", "without the sample"); err != nil {
		return err
	}
	for name, text := range whole {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// A picker says which lines of a package are broken: by the file's name, the line's number and its text.
type picker func(name string, n int, line string) bool

// without returns the file with a mark in place of each line that is picked.
func without(text []byte, name string, pick picker) []byte {
	lines := bytes.Split(text, []byte("\n"))
	for i, line := range lines {
		if pick(name, i+1, string(bytes.TrimSpace(line))) {
			lines[i] = fmt.Appendf(nil, "// in the sample: %d", i)
		}
	}
	return bytes.Join(lines, []byte("\n"))
}

// sampler picks a part of all lines; it is nil where the part is the whole.
func sampler(percent int, seed string) picker {
	if percent >= 100 {
		return nil
	}
	return func(name string, _ int, line string) bool { return sampled(name, line, percent, seed) }
}

// only picks the lines on which something has survived.
func only(dir string, survived []found) picker {
	lines := make(map[string]map[int]bool)
	for _, f := range survived {
		if lines[f.file] != nil {
			continue
		}
		lines[f.file] = make(map[int]bool)
		s, err := readSource(filepath.Join(filepath.FromSlash(dir), f.file))
		if err != nil {
			continue // it is gone, and what survived in it
		}
		for at := range s.operators {
			p, err := s.place(at[0], at[1])
			p.pkg = dir
			same := func(f found) bool { f.place.kind = ""; return f.place == p }
			if err == nil && slices.ContainsFunc(survived, same) {
				lines[f.file][at[0]] = true
			}
		}
	}
	return func(name string, n int, _ string) bool { return lines[name][n] }
}

// sampled says whether a line is in the sample: by what it says, not by where it is.
func sampled(name, line string, percent int, seed string) bool {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s\n%s\n%s", seed, name, line)
	return h.Sum64()>>16%100 < uint64(percent)
}

// git runs git without the user's own settings, which could change the form of what it prints.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return out, nil
}
