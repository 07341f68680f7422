package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// buildFlags are how every program is built.
func buildFlags() []string {
	return []string{"-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid="}
}

// build builds the programs for each system. Nothing of this machine goes into them: no path, no time, no C library.
func (r *release) build(work string) error {
	for _, s := range r.systems {
		dir := filepath.Join(work, "programs", s.os+"-"+s.arch)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for _, name := range programs() {
			command := exec.Command("go", slices.Concat([]string{"build"}, buildFlags(),
				[]string{"-o", filepath.Join(dir, s.exe(name)), "./cmd/" + name})...)
			command.Dir = r.source
			command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+s.os, "GOARCH="+s.arch, "GOFLAGS=", "GOWORK=off", "GOAMD64=v1",
				"GOARM64=v8.0", "GOEXPERIMENT=")
			if out, err := command.CombinedOutput(); err != nil {
				return fmt.Errorf("%s for %s: %w\n%s", name, s, err, out)
			}
		}
		r.built = append(r.built, built{s, dir})
	}
	return nil
}

// shells are those that completions are made for, and the files they look for them in.
func shells() map[string]string {
	return map[string]string{"bash": "interlock.bash", "zsh": "_interlock", "fish": "interlock.fish"}
}

// pages makes what the program says of itself into files: man pages, and completions where it has them.
func (r *release) pages(work string) error {
	dir := filepath.Join(work, "share")
	host, ok := r.host()
	if !ok {
		r.notes = append(r.notes, "man pages and completions: nothing was built for this system, which would say them")
		return os.MkdirAll(dir, 0o755)
	}
	program := filepath.Join(host.dir, host.exe("interlock"))
	help := func(args ...string) (string, error) {
		command := exec.Command(program, append(args, "--help")...)
		command.Env = append(os.Environ(), "INTERLOCK_HOME="+filepath.Join(work, "none"), "NO_COLOR=1", "COLUMNS=100")
		out, err := command.Output()
		return string(out), err
	}
	main, err := help()
	if err != nil {
		return fmt.Errorf("interlock --help: %w", err)
	}
	var commands []string
	seen := map[string]bool{}
	for _, line := range regexp.MustCompile(`(?m)^  ([a-z][a-z-]*)(?: |$)`).FindAllStringSubmatch(main, -1) {
		if !seen[line[1]] {
			seen[line[1]] = true
			commands = append(commands, line[1])
		}
	}
	if len(commands) < 10 {
		return fmt.Errorf("interlock --help names %d commands", len(commands))
	}
	page := r.manHead("interlock", "the safety interlock between an AI agent's intent and the world") + section("DESCRIPTION", main)
	for _, name := range commands {
		text, err := help(name)
		if err != nil {
			return fmt.Errorf("interlock %s --help: %w", name, err)
		}
		page += section("INTERLOCK "+strings.ToUpper(name), text)
	}
	if err := write(filepath.Join(dir, "man", "interlock.1"), []byte(page), 0o644); err != nil {
		return err
	}
	hook := r.manHead("interlock-hook", "what a coding agent's hook runs; see interlock(1), INTERLOCK HOOK") +
		section("DESCRIPTION", "interlock-hook hook --agent NAME --event EVENT --home DIR reads one hook call and answers in the\n"+
			"harness's dialect. It asks the server of the home, and becomes the interlock program beside it where there is none.")
	if err := write(filepath.Join(dir, "man", "interlock-hook.1"), []byte(hook), 0o644); err != nil {
		return err
	}
	for shell, name := range shells() {
		out, err := exec.Command(program, "completion", shell).Output()
		if err != nil || len(bytes.TrimSpace(out)) == 0 {
			r.notes = append(r.notes, "completions for "+shell+": this version has no `interlock completion "+shell+"`")
			continue
		}
		if err := write(filepath.Join(dir, "completions", name), out, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) manHead(name, what string) string {
	return fmt.Sprintf(".TH %s 1 %q %q %q\n.SH NAME\n%s \\- %s\n", strings.ToUpper(roff(name)), r.time.Format("2006-01-02"),
		"Interlock "+r.version, "Interlock", roff(name), roff(what))
}

// section is a text as it is, under a heading.
func section(title, text string) string {
	return ".SH " + roff(title) + "\n.nf\n" + roff(strings.TrimRight(text, "\n")) + "\n.fi\n"
}

// roff is a text in which nothing is a request or an escape.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
