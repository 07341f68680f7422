package ruletest_test

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/ruletest"
)

// A commandFile is what the tests of commands need of rules/commands/*.yaml.
type commandFile struct {
	Commands map[string]struct {
		Sub      map[string]any
		Like     string
		Examples []struct{ Run string }
	}
	Tests struct{ Block, Ask, Pass []string }
}

func commandFiles(t *testing.T) map[string]commandFile {
	t.Helper()
	out := map[string]commandFile{}
	for name, document := range files(t) {
		if dir, base := path.Split(name); dir == "commands/" {
			var f commandFile
			if err := json.Unmarshal(document, &f); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			out[strings.TrimSuffix(base, ".yaml")] = f
		}
	}
	return out
}

// TestCommandsAreDecidedAsTheirFilesSay runs the commands that stand under "tests" in the files of commands through the
// whole decision: block is denied, ask is asked, pass is allowed.
func TestCommandsAreDecidedAsTheirFilesSay(t *testing.T) {
	rules, analyser := shipped(t)
	for name, f := range commandFiles(t) {
		for want, list := range map[interlock.Verdict][]string{interlock.Deny: f.Tests.Block, interlock.Ask: f.Tests.Ask, interlock.Allow: f.Tests.Pass} {
			for _, command := range list {
				d := ruletest.Decide(rules, analyser, ruletest.Shell(command))
				if got := d.Verdict; got != want && !(want == interlock.Deny && got == interlock.Halt) {
					t.Errorf("%s.yaml: %q must be %v, is %v", name, command, want, got)
				}
			}
		}
	}
}

// needed are the tools every agent meets; each has a file, something that passes and something that is stopped. Those
// behind the bar only tell or only change what is the user's own.
const needed = `coreutils rm find grep sed awk xargs chmod git gh docker kubectl helm terraform aws gcloud az psql mysql redis mongo npm
	pip uv cargo apt dnf systemctl ip iptables ssh rsync tar zip openssl gpg crontab launchctl osascript curl wget netcat python
	node perl bash sudo env wrappers mkfs kill useradd sysctl journalctl | go brew make gzip jq info snap conda`

func TestEveryNeededToolHasTests(t *testing.T) {
	have := commandFiles(t)
	both, passing, _ := strings.Cut(needed, "|")
	for _, name := range strings.Fields(both + passing) {
		f, ok := have[name]
		if !ok {
			t.Errorf("there is no rules/commands/%s.yaml", name)
			continue
		}
		if len(f.Tests.Pass) == 0 {
			t.Errorf("%s.yaml has no test that passes", name)
		}
		if len(f.Tests.Block)+len(f.Tests.Ask) == 0 && strings.Contains(" "+both, " "+name+" ") {
			t.Errorf("%s.yaml has no test that is stopped", name)
		}
	}
}

// TestManyCommandsHaveTests counts the commands and subcommands that stand in an example or a test.
func TestManyCommandsHaveTests(t *testing.T) {
	have := commandFiles(t)
	subs := map[string]map[string]bool{} // by command, the first words of its subcommands
	for _, f := range have {
		for names, c := range f.Commands {
			first := map[string]bool{}
			for sub := range c.Sub {
				word, _, _ := strings.Cut(sub, " ")
				for _, one := range strings.Split(word, "|") {
					first[one] = true
				}
			}
			for _, name := range strings.Split(names, "|") {
				subs[name] = first
			}
		}
	}
	seen := map[string]bool{}
	for _, f := range have {
		runs := append(append(append([]string(nil), f.Tests.Block...), f.Tests.Ask...), f.Tests.Pass...)
		for _, c := range f.Commands {
			for _, e := range c.Examples {
				runs = append(runs, e.Run)
			}
		}
		for _, run := range runs {
			words := append(strings.Fields(run), "", "")
			if subs[words[0]] == nil {
				continue
			}
			if seen[words[0]] = true; subs[words[0]][words[1]] {
				seen[words[0]+" "+words[1]] = true
			}
		}
	}
	names := slices.Sorted(maps.Keys(seen))
	if len(names) < 400 {
		t.Errorf("only %d commands and subcommands stand in an example or a test: %v", len(names), names)
	}
	t.Logf("%d commands and subcommands", len(names))
}
