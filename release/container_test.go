package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"interlock/spec"
)

// instructions are those of a container file, in order, with lines that go on joined.
func instructions(text string) [][2]string {
	var found [][2]string
	for _, line := range strings.Split(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		found = append(found, [2]string{strings.ToUpper(name), strings.TrimSpace(rest)})
	}
	return found
}

// imageProblems holds a container file to what a hardened image has: one stage, from an image without shell and packages, nothing run
// while it is built, a user of nobody's by number, one volume, programs that are root's, and no secret that stays in a layer.
func imageProblems(text string) []string {
	var problems []string
	count := map[string]int{}
	user, base := "", ""
	for _, one := range instructions(text) {
		name, rest := one[0], one[1]
		count[name]++
		switch name {
		case "ARG":
			if value, ok := strings.CutPrefix(rest, "BASE="); ok {
				base = value
			} else if strings.Contains(rest, "=") {
				problems = append(problems, "a build argument with a value: "+rest)
			}
		case "USER":
			user = rest
		case "FROM":
			if rest != "${BASE}" {
				base = rest
			}
		case "COPY":
			if strings.Contains(rest, "/usr/bin") && strings.Contains(rest, "--chown") {
				problems = append(problems, "the programs are not root's: "+rest)
			}
		case "RUN", "ADD", "SHELL", "ONBUILD":
			problems = append(problems, name+" brings what is not in the release")
		case "ENV":
			if regexp.MustCompile(`(?i)(token|secret|password|key)\w*=`).MatchString(rest) {
				problems = append(problems, "a secret in the environment")
			}
		}
	}
	if base != "scratch" && !regexp.MustCompile(`^gcr\.io/distroless/static-debian\d+:nonroot$`).MatchString(base) {
		problems = append(problems, "the image it begins with has more than a static program needs: "+base)
	}
	if !regexp.MustCompile(`^[1-9][0-9]*:[1-9][0-9]*$`).MatchString(user) {
		problems = append(problems, "it runs as root, or as a user without a number: "+user)
	}
	if count["FROM"] != 1 || count["VOLUME"] != 1 || count["ENTRYPOINT"] != 1 {
		problems = append(problems, fmt.Sprintf("one stage, one volume and one program: %v", count))
	}
	return problems
}

// serviceProblems holds the service of a compose file to the same while it runs.
func serviceProblems(text string) []string {
	var file struct {
		Services map[string]struct {
			User     string   `yaml:"user"`
			ReadOnly bool     `yaml:"read_only"`
			Drop     []string `yaml:"cap_drop"`
			Add      []string `yaml:"cap_add"`
			Options  []string `yaml:"security_opt"`
			Ports    []string `yaml:"ports"`
			Volumes  []string `yaml:"volumes"`
			Allowed  bool     `yaml:"privileged"`
			Network  string   `yaml:"network_mode"`
			PID      string   `yaml:"pid"`
		} `yaml:"services"`
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		return []string{err.Error()}
	}
	var problems []string
	for name, s := range file.Services {
		for what, good := range map[string]bool{
			"a read-only file system":  s.ReadOnly,
			"no capability":            slices.Equal(s.Drop, []string{"ALL"}) && len(s.Add) == 0,
			"no new privileges":        slices.Contains(s.Options, "no-new-privileges:true"),
			"a user of nobody's":       s.User != "" && !strings.HasPrefix(s.User, "0") && !strings.HasPrefix(s.User, "root"),
			"one volume, and no mount": len(s.Volumes) == 1 && !strings.HasPrefix(s.Volumes[0], "/") && !strings.HasPrefix(s.Volumes[0], "."),
			"nothing of the host's":    !s.Allowed && s.Network == "" && s.PID == "",
			"loopback only":            !slices.ContainsFunc(s.Ports, func(p string) bool { return !strings.HasPrefix(p, "127.0.0.1:") }),
		} {
			if !good {
				problems = append(problems, name+" lacks: "+what)
			}
		}
	}
	if len(file.Services) != 1 {
		problems = append(problems, "there is not one service")
	}
	slices.Sort(problems)
	return problems
}

// runProblems holds a documented command to the same.
func runProblems(page string) []string {
	command := regexp.MustCompile(`(?s)docker run (.*?[^\\])\n`).FindString(page)
	var problems []string
	for _, flag := range []string{"--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--tmpfs /tmp",
		"--volume interlock:/var/lib/interlock", "--publish 127.0.0.1:7433:7433"} {
		if !strings.Contains(command, flag) {
			problems = append(problems, "the documented command lacks "+flag)
		}
	}
	if strings.Contains(command, "--privileged") || strings.Contains(command, "--cap-add") || strings.Count(command, "--volume") != 1 {
		problems = append(problems, "the documented command gives more than it needs")
	}
	return problems
}

func TestTheContainerHasNoPrivileges(t *testing.T) {
	spec.Covers(t, "ASA-10.3-1", "ASA-10.3-2", "ASA-10.3-3", "ASA-10.3-4", "ASA-11.1-1", "ASA-20-8")
	image, compose, page := read(t, "files/container/Containerfile"), read(t, "files/container/compose.yaml"), read(t, "../docs/how-to/containers.md")
	for _, problem := range slices.Concat(imageProblems(image), serviceProblems(compose), runProblems(page)) {
		t.Error(problem)
	}
	for _, c := range [][3]string{
		{image, "USER 65532:65532", "USER root"}, {image, "USER 65532:65532", ""}, {image, "USER 65532:65532", "USER 0:0"},
		{image, "gcr.io/distroless/static-debian12:nonroot", "debian:12"}, {image, "EXPOSE", "RUN apt-get install -y curl\nEXPOSE"},
		{image, "ENV INTERLOCK_HOME", "ENV SIEM_TOKEN=x\nENV INTERLOCK_HOME"}, {image, "COPY linux", "COPY --chown=65532:65532 linux"},
	} {
		broken := strings.Replace(c[0], c[1], c[2], 1)
		if broken == c[0] || len(imageProblems(broken)) == 0 {
			t.Errorf("%q in place of %q is not noticed", c[2], c[1])
		}
	}
	for _, line := range []string{"read_only: true", "cap_drop: [ALL]", `security_opt: ["no-new-privileges:true"]`, `user: "65532:65532"`,
		"127.0.0.1:7433:"} {
		broken := strings.Replace(compose, line, map[bool]string{true: "0.0.0.0:7433:"}[strings.HasPrefix(line, "127")], 1)
		if broken == compose || len(serviceProblems(broken)) == 0 {
			t.Errorf("a service without %q is not noticed", line)
		}
	}
	if len(runProblems(strings.Replace(page, "--cap-drop=ALL", "", 1))) == 0 {
		t.Error("a command without --cap-drop=ALL is not noticed")
	}
}
