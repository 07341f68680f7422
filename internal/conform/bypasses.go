package conform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func bypassChecks() []Check {
	return []Check{{IDs: []string{"EC-3.1", "EC-T3.1"}, Drives: "interlock exec, from inside; HTTP API from 40 callers, a restart",
		Do: capsAreBelow}}
}

// harmlessTwins work inside, so that what fails there fails for its own sake.
const harmlessTwins = `touch made
cat made
sh -c 'ulimit -n 50'
sh -c 'ulimit -t 10'
sh -c 'sleep 0 & kill $!; wait; true'
sh -c 'test -n "$PATH" && date && id'
mkdir -p /tmp/second`

// waysRound are what is tried from inside, where the program itself may be there and make an empty home of its own, to get at the caps,
// with the settings, rules, keys and files behind them, servers, clock, limits and processes. None may work; what the last one writes
// may not be there outside.
const waysRound = `cat "$home/interlock.db"
ls "$home"
sh -c 'echo x >>"$home/interlock.db"'
sh -c 'ls "$home"/*.db'
cat "$home/control.token"
cat "$home/rules/team.yaml"
cat "$home/../ada"
"$program" kill release --reason x
sh -c 'INTERLOCK_HOME="$home" "$program" audit list | grep clerk'
sh -c 'INTERLOCK_HOME="$home" "$program" pending --json | grep .'
bash -c 'echo >"/dev/tcp/$host/$port"'
curl -s -m 3 -H "Authorization: Bearer $token" -d '{}' "http://$host:$port/v1/decide"
sh -c 'test -n "$HTTPS_PROXY"'
date -s '2001-01-01'
sh -c 'test -n "$INTERLOCK_HOME"'
sh -c 'ulimit -n 100000'
sh -c 'ulimit -t unlimited'
sh -c 'echo max >/sys/fs/cgroup/pids.max'
sh -c 'echo $$ >/sys/fs/cgroup/cgroup.procs'
sh -c 'tr "\0" "\n" </proc/1/environ | grep INTERLOCK_HOME'
unshare -Ur true
nsenter -t 1 -m true
sh -c 'mkdir -p "$home/rules" && echo "limits: []" >"$home/rules/evil.yaml"; false'`

// pythonTwins and pythonWays are tried where python is there inside.
const (
	isPython    = `python3 -c "print(1)"`
	pythonTwins = isPython + `
python3 -c "import socket; socket.socket(); import time; time.time()"
python3 -c "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (50, 50))"`
	pythonWays = `python3 -c "import os, socket; socket.create_connection((os.environ['host'], int(os.environ['port'])), 3)"
python3 -c "import socket; s=socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('192.0.2.1', 9)); s.send(b'x')"
python3 -c "import time; time.clock_settime(time.CLOCK_REALTIME, 0)"
python3 -c "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (4096, 4096))"
python3 -c "import resource as r; r.setrlimit(r.RLIMIT_CPU, (-1, -1))"
python3 -c "import ctypes, sys; sys.exit(0 if ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0 else 1)"`
)

// capsAreBelow tries every known way round a cap, at the doors and from inside the sandbox that an agent's commands run in.
func capsAreBelow(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "below", Rules: `
limits:
  - {id: team.records, agents: [clerk, other], per: agent, measure: records, most: 3, unknown: 1, match: {kind: [read]}}
`})
	if err != nil {
		return "", err
	}
	if err := h.Agents(ctx, "clerk", "other"); err != nil {
		return "", err
	}
	tried, inside := h.roundInside(ctx)
	if errors.Is(inside, errNotHere) {
		return "", inside
	}
	passed, of := h.crowd(ctx, "clerk")
	doors := h.roundDoors(ctx)
	h.Down()
	if err := h.Up(ctx); err != nil {
		return "", err
	}
	_, after := h.Expect(ctx, "clerk", Shell("cat j"), "deny")
	_, others := h.Expect(ctx, "other", Shell("cat a"), "allow")
	verified := h.CLI(ctx, "", "audit", "verify")
	return fmt.Sprintf("of %d readings at once exactly %d pass; other runs, directories and names, an agent's own word, %d ways "+
			"from inside its sandbox and a restart give no more; another agent has room of its own", of, passed, tried), First(
			Unless(passed == 3, "of %d readings at once %d pass", of, passed), doors, inside, after, others,
			Unless(verified.Code == 0, "the log is no longer sound: %s", verified.Err))
}

// roundDoors has an agent whose cap is used up ask for more under other names, and say that it did not use what it had.
func (h *House) roundDoors(ctx context.Context) error {
	outcome := func(got Decided) Reply {
		return h.Call(ctx, "clerk", "POST", "/v1/outcome", map[string]any{"event_id": got.Event, "run": "r4", "outcome": "skipped"})
	}
	for name, act := range map[string]Action{
		"another run":          Shell("cat c").In("r3"),
		"a run that is not":    Shell("cat e").In("run_0123456789abcdef01234567"),
		"another directory":    {"kind": "shell", "input": "cat d", "dir": "/srv/elsewhere"},
		"another call":         {"kind": "shell", "input": "cat f", "dir": "/srv/project", "call_id": "another"},
		"two readings in one":  Shell("cat g h"),
		"what it says it used": {"kind": "shell", "input": "cat i", "dir": "/srv/project", "uses": []string{}},
	} {
		if _, err := h.Expect(ctx, "clerk", act, "deny"); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	said := outcome(h.Decide(ctx, "clerk", Shell("cat k").In("r4")))
	_, still := h.Expect(ctx, "clerk", Shell("cat l"), "deny")
	named := h.Call(ctx, "clerk", "POST", "/v1/decide", map[string]any{"action": Shell("cat m"),
		"requester": map[string]string{"agent": "other", "principal": "dana"}})
	return First(still, Unless(said.Status == 200, "an outcome is answered %d %s", said.Status, said.Text),
		Unless(named.Status == 403, "another agent's name is answered %d %s", named.Status, named.Text))
}

// tryAll runs each line of a file in a shell of its own, and says which worked.
const tryAll = `home=$(cat home.txt) host=$(cat host.txt) port=$(cat port.txt) token=$(cat token.txt) program=$(cat program.txt)
export home host port token program
n=0
while IFS= read -r line; do
  n=$((n+1))
  if sh -c "$line" >/dev/null 2>&1 </dev/null; then echo "WORKED: $line"; fi
done <"$1"
echo "tried $n"
`

// roundInside tries the ways from inside, and returns how many. What is harmless has to work there.
func (h *House) roundInside(ctx context.Context) (tried int, err error) {
	own, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("finding this program: %w", err)
	}
	host, port, _ := strings.Cut(strings.TrimPrefix(h.API, "http://"), ":")
	texts := map[string]string{"home": h.Home, "host": host, "port": port, "token": h.tokens["clerk"],
		"program": own, "try": tryAll}
	for name, text := range texts {
		if err := h.leave(name, text+"\n"); err != nil {
			return 0, err
		}
	}
	twins, ways := harmlessTwins, waysRound
	worked, err := h.trial(ctx, twins+"\n"+pythonTwins)
	if err != nil {
		return 0, err
	}
	if strings.Contains(worked, isPython) {
		twins, ways = twins+"\n"+pythonTwins, pythonWays+"\n"+ways
	}
	for _, line := range strings.Split(twins, "\n") {
		if !strings.Contains(worked, "WORKED: "+line+"\n") {
			return 0, fmt.Errorf("what is harmless does not work inside: %s", line)
		}
	}
	worked, err = h.trial(ctx, ways)
	_, written := os.Stat(filepath.Join(h.Home, "rules", "evil.yaml"))
	return strings.Count(ways, "\n") + 1, First(err, Unless(worked == "", "from inside: %s", worked),
		Unless(os.IsNotExist(written), "a rule was written from inside"))
}

// trial tries lines in a sandbox, with a person's yes where one is needed, and returns which worked.
func (h *House) trial(ctx context.Context, lines string) (worked string, err error) {
	if err := h.leave("lines", lines+"\n"); err != nil {
		return "", err
	}
	said := h.CLI(ctx, "", "exec", "--", "sh", "try.txt", "lines.txt")
	if asked := between(said.Err, "interlock approve ", "`"); asked != "" {
		if _, err := h.Order(ctx, "ada", "approve", asked); err != nil {
			return "", err
		}
		said = h.CLI(ctx, "", "exec", "--", "sh", "try.txt", "lines.txt")
	}
	if said.Code == 1 {
		return "", NotHere("the sandbox can't run on this machine: %s", said.Err)
	}
	worked, last, _ := strings.Cut(said.Out, "tried ")
	return worked, Unless(said.Code == 0 && strings.TrimSpace(last) == fmt.Sprint(strings.Count(lines, "\n")+1),
		"the tries end with exit %d: %s%s", said.Code, said.Out, said.Err)
}

// leave puts a text where commands of an agent find it.
func (h *House) leave(name, text string) error {
	if err := os.WriteFile(filepath.Join(h.Work, name+".txt"), []byte(text), 0o600); err != nil {
		return fmt.Errorf("writing a file: %w", err)
	}
	return nil
}
