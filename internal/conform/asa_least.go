package conform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"interlock/internal/fileio"
)

func asaLeastChecks() []Check {
	return []Check{
		{IDs: []string{"ASA-10.3-1", "ASA-11.1-1", "ASA-20-8"},
			Drives: "install --system, a server of a user of its own, its agent's user", Do: unprivileged},
		{IDs: []string{"ASA-10.3-2", "ASA-10.3-3", "ASA-10.3-4"}, Drives: "install --system, systemd-analyze, HTTP API, interlock exec", Do: confined},
		{IDs: []string{"ASA-11.1-2"}, Drives: "interlock exec, from inside the sandbox", Do: minimal},
		{IDs: []string{"ASA-11.3-1", "ASA-11.3-2"}, Drives: "settings that hold a secret, a judge that wants a key, files of the home", Do: injected},
		{IDs: []string{"ASA-11.3-3"}, Drives: "HTTP API, the agent's user", Do: credentialsApart},
	}
}

// unitLines are what a unit of systemd needs so that its server has nothing it does not use, by clause.
var unitLines = map[string][]string{
	"ASA-10.3-1": {"User=interlock", "StateDirectoryMode=0700", "UMask=0077"},
	"ASA-10.3-2": {"CapabilityBoundingSet=", "AmbientCapabilities=", "SystemCallFilter=@system-service"},
	"ASA-10.3-3": {"NoNewPrivileges=yes", "RestrictSUIDSGID=yes"},
	"ASA-10.3-4": {"ProtectSystem=strict", "ProtectHome=yes", "PrivateTmp=yes"},
}

// systemUnit is the unit that `interlock install --system` writes for a program, in a directory, and an error where it lacks what a
// clause wants.
func systemUnit(ctx context.Context, h *House, program string) (file string, err error) {
	below := filepath.Join(filepath.Dir(h.Home), "system")
	said := h.CLI(ctx, "", "install", "--system", "--root", below, "--program", program)
	if said.Code != 0 {
		return "", fmt.Errorf("interlock install --system: exit %d: %s", said.Code, said.Err)
	}
	file = filepath.Join(below, "etc", "systemd", "system", "interlock.service")
	text, err := fileio.Plain(file, maxFile)
	if err != nil {
		return "", errors.New("no unit was written")
	}
	for clause, lines := range unitLines {
		for _, line := range lines {
			if !strings.Contains(string(text), "\n"+line+"\n") {
				return "", fmt.Errorf("the unit has no line %s (%s)", line, clause)
			}
		}
	}
	return file, Unless(strings.Contains(string(text), "\nLoadCredential="), "the unit hands over no credentials")
}

// tool runs another program of the machine as a user of the system; 0 is the user who runs this.
func (h *House) tool(ctx context.Context, user int, stdin, name string, args ...string) Said {
	var out, errs tail
	command := Command{Tool: name, Args: args, Env: []string{"PATH=/usr/bin:/bin:/usr/sbin"}, Dir: "/", Stdin: strings.NewReader(stdin), Stdout: &out,
		Stderr: &errs, User: user, Group: agentGroup}
	if user == 0 {
		command.Group = 0
	}
	code := h.d.env.Process(ctx, command)
	said := Said{code, out.String(), errs.String()}
	h.d.note(Step{Door: fmt.Sprint("user ", user), Sent: name + " " + strings.Join(args, " "), Answer: fmt.Sprintf("exit %d\n%s%s",
		said.Code, said.Out,
		said.Err)})
	return said
}

func unprivileged(ctx context.Context, d *Driver) (string, error) {
	h, _, err := asaHouse(ctx, d, "asa")
	if err != nil {
		return "", err
	}
	if _, err := systemUnit(ctx, h, shell()); err != nil {
		return "", err
	}
	open, err := openToOthers(h.Home)
	if err != nil || len(open) > 0 {
		return "", fmt.Errorf("others of the machine may open %s: %w", strings.Join(open, ", "), err)
	}
	m, why, err := twoUsers(ctx, d)
	switch {
	case err != nil:
		return "", err
	case m == nil:
		return "the unit gives the server a user of its own without capabilities, and its files are for that user alone; tried with no second " +
			"user of the system: " + why, nil
	}
	status, err := m.server()
	if err != nil {
		return "", err
	}
	mine, verdict := m.hook(ctx, agentUser, "ls")
	other, _ := m.hook(ctx, otherUser, "ls")
	return "the server runs as a user of its own without a capability, its unit lets it have none, and an agent's user asks it through its socket " +
			"and is told as itself", First(
			Unless(strings.Contains(status, fmt.Sprintf("Uid:\t%d\t%d\t%d", serverUser, serverUser, serverUser)), "it runs as %s", status),
			Unless(strings.Contains(status, "CapEff:\t0000000000000000"), "it has capabilities: %s", status),
			Unless(mine == "allow", "the agent's user is answered %s: %s", mine, verdict.Out+verdict.Err),
			Unless(other == "deny", "a user outside the group is answered %s", other))
}

// shell is a program that is there, for units that nobody starts.
func shell() string {
	for _, file := range []string{"/bin/sh", "/usr/bin/sh"} {
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	return "/bin/sh"
}

// openToOthers are the files of a directory that not only their owner may open.
func openToOthers(dir string) (open []string, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone meanwhile, as the files beside a store are
		}
		if err == nil && info.Mode().Perm()&0o077 != 0 && !hiddenBy(dir) {
			open = append(open, filepath.Base(path))
		}
		return err
	})
	return open, err
}

// hiddenBy reports whether a directory lets nobody but its owner through.
func hiddenBy(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o077 == 0
}

func confined(ctx context.Context, d *Driver) (string, error) {
	h, _, err := asaHouse(ctx, d, "asa")
	if err != nil {
		return "", err
	}
	unit, err := systemUnit(ctx, h, shell())
	if err != nil {
		return "", err
	}
	seen := "the unit takes every capability, forbids new privileges and has the system read-only"
	if score := h.tool(ctx, 0, "", "systemd-analyze", "security", "--offline=true", "--no-pager", unit); score.Code == 0 {
		_, level, _ := strings.Cut(score.Out, "Overall exposure level for interlock.service: ")
		level, _, _ = strings.Cut(level, " ")
		if len(level) != 3 || level > "2.0" { // of 10.0, which has another length
			return "", fmt.Errorf("systemd finds its exposure %q", level)
		}
		seen += " (systemd's exposure " + level + " of 10)"
	}
	for _, command := range []string{"sudo su -", "chmod u+s /bin/sh", "setcap cap_sys_admin+ep ./tool"} {
		if _, err := h.Expect(ctx, "worker", Shell(command), "deny", "halt", "ask"); err != nil {
			return "", fmt.Errorf("privileges are raised: %w", err)
		}
	}
	inside, why, err := boxed(ctx, d, `grep -E "^(Cap|NoNew)" /proc/self/status; `+
		`for at in / /usr /etc /bin; do test -w $at && echo writable $at; done; echo done`)
	switch {
	case err != nil:
		return "", err
	case why != "":
		return seen + "; not seen: what runs in a sandbox, " + why, nil
	}
	for _, name := range []string{"CapEff", "CapPrm", "CapBnd", "CapAmb"} {
		if !strings.Contains(inside.Out, name+":\t0000000000000000\n") {
			return "", fmt.Errorf("what runs in the sandbox has capabilities: %s", inside.Out)
		}
	}
	return seen + "; what runs in the sandbox has no capability, can get none, and can't write to the system", First(
		Unless(strings.Contains(inside.Out, "NoNewPrivs:\t1\n"), "it can raise its privileges: %s", inside.Out),
		Unless(!strings.Contains(inside.Out, "writable"), "it can write to the system: %s", inside.Out))
}

// boxed runs a script in a sandbox; why says where none works on this machine.
func boxed(ctx context.Context, d *Driver, script string) (said Said, why string, err error) {
	h, err := d.House(ctx, Plan{Name: "box"})
	if err != nil {
		return said, "", err
	}
	if report := h.CLI(ctx, "", "exec", "--", "true"); report.Code == 1 {
		return said, "which can't run on this machine: " + report.Err, nil
	}
	said = h.CLI(ctx, "", "exec", "--", "sh", "-c", script)
	return said, "", Unless(strings.Contains(said.Out, "done"), "the script did not run to its end: exit %d: %s", said.Code, said.Out+said.Err)
}

func minimal(ctx context.Context, d *Driver) (string, error) {
	inside, why, err := boxed(ctx, d, "env; ls / /home /root 2>/dev/null; test -w . && echo workspace; test -w /usr/bin && echo programs; echo done")
	if err != nil {
		return "", err
	}
	if why != "" {
		return "", NotHere("%s", why)
	}
	return "what runs sees a dozen variables and nothing of anybody's home, and writes to its workspace alone", First(
		Unless(strings.Count(inside.Out, "=") < 20 && !strings.Contains(inside.Out, "INTERLOCK_HOME"), "its environment is %s", inside.Out),
		Unless(!strings.Contains(inside.Out, "SSH_ASKPASS"), "it sees the environment of who called it: %s", inside.Out),
		Unless(strings.Contains(inside.Out, "workspace\n") && !strings.Contains(inside.Out, "programs\n"), "it writes elsewhere: %s", inside.Out))
}

// aKey is what a judge wants to see; it is made where it is used, so that nobody takes it for one that was forgotten here.
func aKey() string { return "key-" + strings.Repeat("q7", 12) }

// keyed is a home whose judge has a key in a file of the operator's.
func keyed(ctx context.Context, d *Driver) (h *House, judge *judgeServer, file string, err error) {
	const name = "asa-keyed"
	dir := filepath.Join(d.env.Root, "keys")
	file = filepath.Join(dir, "judge-key")
	if d.judges[name] == nil {
		if d.judges[name], err = serveJudge(); err != nil {
			return nil, nil, "", err
		}
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(file, []byte(aKey()+"\n"), 0o600)); err != nil {
			return nil, nil, "", fmt.Errorf("writing a key: %w", err)
		}
	}
	judge = d.judges[name]
	settings := strings.Replace(judge.settings(), "timeout:", "key: \"file:"+file+"\", timeout:", 1)
	if h, err = d.House(ctx, Plan{Name: name, Profile: "asa", Settings: settings}); err != nil {
		return nil, nil, "", err
	}
	return h, judge, file, h.Agent(ctx, "worker")
}

func injected(ctx context.Context, d *Driver) (string, error) {
	h, judge, _, err := keyed(ctx, d)
	if err != nil {
		return "", err
	}
	if _, err := h.Expect(ctx, "worker", Shell("cat injected"), "allow"); err != nil {
		return "", err
	}
	shown := h.CLI(ctx, "", "settings", "show").Out + h.CLI(ctx, "", "audit", "list", "--json").Out + h.CLI(ctx, "", "judge", "status").Out
	for _, secret := range []string{aKey(), h.tokens["worker"]} {
		in, err := filesWith(h.Home, secret)
		if err != nil || len(in) > 0 || strings.Contains(shown, secret) {
			return "", fmt.Errorf("a credential stands in %s, or is shown: %w", strings.Join(in, ", "), err)
		}
	}
	plain := "judge: {judges: [{name: far, wire: anthropic, url: \"https://api.example.com\", model: m, key: SECRET}]}\n"
	ship, channel := "ship_to: [{to: \"https://siem.example.com/\", token: SECRET}]\n", "channels: [{kind: slack, url: SECRET}]\n"
	refused := func(name, text string) error {
		text = strings.ReplaceAll(text, "SECRET", aKey())
		return h.refusedFile(ctx, name, text, "env:NAME", "--config", "FILE", "--home", "DIR", "up", "--listen", "off")
	}
	return "a secret in the settings is refused, for judges, shipping and channels; " +
			"a judge's key comes from a file that the settings name, reaches " +
			"the judge, and stands, like agents' tokens, in no file of the home", First(
			Unless(judge.told("Bearer "+aKey()), "the judge was not sent its key"),
			refused("judge.yaml", plain), refused("ship.yaml", ship), refused("channel.yaml", channel))
}

// told reports whether it was sent a credential.
func (j *judgeServer) told(credential string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, one := range j.credentials {
		if one == credential {
			return true
		}
	}
	return false
}

// filesWith are the files of a directory that hold a text.
func filesWith(dir, text string) (in []string, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		held, err := fileio.Plain(path, maxFile)
		if err == nil && strings.Contains(string(held), text) {
			in = append(in, filepath.Base(path))
		}
		return err
	})
	return in, err
}

func credentialsApart(ctx context.Context, d *Driver) (string, error) {
	h, judge, file, err := keyed(ctx, d)
	if err != nil {
		return "", err
	}
	kept := []string{file, filepath.Join(h.Home, "log.key"), filepath.Join(h.Home, "control.token")}
	for n, one := range kept {
		for _, command := range []string{"cat " + one, "cp " + one + " copy", "sh -c 'tail -c 99 " + one + "'"} {
			if got, err := h.Expect(ctx, "worker", Shell(command), "deny", "halt"); err != nil || strings.HasPrefix(got.Rule, "judge.") {
				return "", fmt.Errorf("the agent reads credential %d of %d: %s by %s: %w", n+1, len(kept), got.Verdict, got.Rule, err)
			}
		}
	}
	list := h.Call(ctx, "worker", http.MethodGet, "/v1/events", nil)
	seen := "the judge's key, the log's and the control door's are read neither by a program, a copy nor a shell of an agent"
	if list.Status != http.StatusForbidden || len(judge.sent("judge-key")) > 0 {
		return "", fmt.Errorf("an agent lists events (%d), or the judge was shown where its key is", list.Status)
	}
	m, why, err := twoUsers(ctx, d)
	switch {
	case err != nil:
		return "", err
	case m == nil:
		return seen + "; tried with no second user of the system: " + why, nil
	}
	return seen + "; and the agent's user of the system opens none of the server's files", m.shut(ctx)
}
