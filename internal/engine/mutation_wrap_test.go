package engine

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// simple returns the words of a script that is one simple command, its command a program of its own: no builtin, no
// keyword, no assignment in front, nothing after it.
func simple(script string) (call *syntax.CallExpr, ok bool) {
	file := parseScript(script)
	if file == nil || len(file.Stmts) != 1 || len(file.Last) > 0 {
		return nil, false
	}
	st := file.Stmts[0]
	call, ok = st.Cmd.(*syntax.CallExpr)
	if !ok || len(st.Comments) > 0 || st.Background || st.Negated || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return nil, false
	}
	name := call.Args[0].Lit()
	return call, name != "" && !strings.ContainsAny(name, "{\\") && strings.Index(" . : [ alias builtin cd command declare echo eval exec exit export "+
		"history printf read set source test trap true type unset ", " "+name+" ") < 0
}

// noStreams reports whether the command has no redirections of its own and reads no here-document.
func noStreams(script string) bool {
	file := parseScript(script)
	return file != nil && len(file.Stmts) == 1 && len(file.Stmts[0].Redirs) == 0
}

// before makes re-spellings that put a wrapper before a simple command.
func before(benign bool, prefixes ...string) (out []respelling) {
	for _, p := range prefixes {
		out = append(out, respelling{name: p, benign: benign, apply: func(_ *rand.Rand, script string) (string, bool) {
			_, ok := simple(script)
			return p + " " + script, ok
		}})
	}
	return out
}

// around makes re-spellings from patterns in which § stands for the script, ¶ for the script in quotes.
func around(benign bool, patterns ...string) (out []respelling) {
	for _, p := range patterns {
		out = append(out, respelling{name: p, benign: benign, apply: func(r *rand.Rand, script string) (string, bool) {
			if strings.Contains(p, "{}") && strings.Contains(script, "{}") || strings.Contains(p, "find") &&
				strings.Contains(script, "{}") || strings.Contains(p, "`") && strings.Contains(script, "`") ||
				strings.Contains(p, "\nE\n") && strings.Contains(script, "\nE\n") {
				return "", false // they would take the braces, the backticks or the end of the document for their own
			}
			_, one := simple(script)
			if strings.Contains(p, "| xargs") && strings.HasSuffix(p, "§") &&
				(!one || strings.ContainsAny(script, "<|;&\"'\\$`") || strings.Contains(script, "\n")) ||
				strings.Contains(p, "$1") && strings.ContainsAny(script, "@*") || strings.Contains(p, "set --") && strings.Contains(script, "$*") ||
				strings.Contains(p, "x <<< ¶") && strings.Contains(script, "\n") { // they would read what is meant for the script, or one line of it
				return "", false
			}
			if parseScript(script) == nil || hasDocument(script) && !strings.HasSuffix(p, "\n") ||
				strings.Contains(p, "'''") && strings.ContainsAny(script, "\"$`\\'") {
				return "", false
			}
			return strings.NewReplacer("¶", quoted(script), "§", script, "‡", newName(r)).Replace(p), true
		}})
	}
	return out
}

// hasDocument reports whether the script may hold a here-document or a comment, so that nothing can follow on its last line.
func hasDocument(script string) bool {
	return strings.Contains(script, "<<") || strings.Contains(script, "#")
}

// wrappers are programs that run the command they are given.
func wrappers() []respelling {
	out := before(true, "time", "nice", "nice -n 10", "env", "env LC_ALL=C", "LC_ALL=C", "FOO=1 BAR=two", "timeout 60", "stdbuf -oL", "time -p")
	out = append(out, before(false,
		"sudo", "sudo -n", "sudo -u root", "sudo -E --", "sudo -H -u root env A=b", "doas", "env -i", "env -u FOO A=b", "env -S",
		"exec", "exec -a x", "command", "command --",
		"command -p", "nohup", "nice --adjustment=5", "ionice -c 3", "timeout -s KILL 5m", "timeout --signal=KILL -k 3 10",
		"setsid", "setsid -f", "stdbuf --output=0 -e0",
		"busybox", "toybox", "flock /tmp/lock", "taskset 1", "taskset -c 0", "unshare -r", "unshare --mount --",
		"systemd-run --wait", "systemd-run --user -q", "strace -f -o /tmp/o", "chrt 1",
		"setarch x86_64", "unbuffer", "proxychains4 -q", "faketime now", "torsocks", "firejail --quiet", "chronic",
		"caffeinate -i", "ltrace", "nsenter -t 1 -m", "chroot /", "fakeroot", "eatmydata", "catchsegv", "valgrind -q",
		"dbus-run-session --", "xvfb-run -a", "prlimit --nofile=10", "numactl -N 0", "runuser -u root --", "setpriv --reuid=0",
		"gosu root", "su-exec root", "dumb-init --", "tini --", "doas -u root", "uv run", "rlwrap", "watch -x -n 1", "coproc",
		"! ", "noglob", "\\command", "builtin command", "pkexec", "choom -n 0 --", "sem -j1", "fakechroot")...)
	out = append(out, around(true, "bash -c ¶", "sh -c ¶", "timeout 60 bash -c ¶")...)
	out = append(out, around(false,
		"bash -c -- ¶", "bash -lc ¶", "bash --norc -c ¶", "/bin/sh -c ¶", "zsh -c ¶", "dash -ec ¶", "ksh -c ¶",
		"bash -o pipefail -c ¶", "bash -xc ¶", "sudo bash -c ¶", "sudo -i -- sh -c ¶", "env bash -c ¶", "busybox sh -c ¶",
		"su -c ¶", "su root -c ¶", "su - root -c ¶",
		"runuser root -c ¶", "ssh localhost ¶", "ssh -o StrictHostKeyChecking=no root@localhost ¶", "script -c ¶ /dev/null",
		"script -qec ¶", "watch ¶", "flock /tmp/l -c ¶", "eval ¶", "eval \"$(echo ¶)\"", "eval -- ¶", "builtin eval ¶",
		"command eval ¶", "find . -maxdepth 0 -exec sh -c ¶ \\;", "find . -maxdepth 0 -ok bash -c ¶ \\;",
		"find / -maxdepth 0 -execdir sh -c ¶ {} +", "xargs -I{} sh -c ¶", "echo x | xargs -I{} sh -c ¶", "xargs -0 bash -c ¶",
		"parallel ¶ ::: 1", "parallel -j1 sh -c ¶", "nsenter -t 1 -a sh -c ¶",
		"unshare -r sh -c ¶", "chroot / sh -c ¶", "trap ¶ EXIT", "trap -- ¶ 0 INT",
		"python3 -c \"import os; os.system('''§''')\"", "sg root -c ¶", "echo | xargs §", "true | xargs -t -n 300 §",
		"capsh -- -c ¶", "capsh --user=root -- -c ¶", "xargs -I{} sh -c ¶ < /dev/null", "entr -s ¶", "nohup sh -c ¶ &", "systemd-run sh -c ¶",
		"PROMPT_COMMAND=¶", "GIT_SSH_COMMAND=¶ git fetch", "PAGER=¶ git log", "git -c alias.x='!'¶ x",
		"git -c core.sshCommand=¶ fetch", "nice bash -c ¶", "sudo timeout 5 nice env A=b bash -c ¶")...)
	return out
}

// places are the constructs of the shell in which a command can stand.
func places() []respelling {
	out := around(true, "( § )", "{ §; }", "§ && true", "true && §", "§ || true", "§; true", ": ; §", "if true; then §; fi",
		"cd . && §", "(\n§\n)", "§ # a comment", "# a comment\n§", "§\n", "\n\n  §", "set -e; §", "set -euo pipefail\n§\n", "#!/bin/bash\n§\n")
	return append(out, around(false,
		"false || §", "false; §", "§ &", "§ & wait", "! §", "time §", "time { §; }", "for i in 1; do §; done",
		"for ((i=0;i<1;i++)); do §; done", "while true; do §; break; done", "until false; do §; break; done",
		"case a in a) § ;; esac", "case $1 in x) true ;; *) § ;; esac",
		"f() { §; }; f", "function f { §\n}; f", "f() ( § ); f", "§ | cat", "true | { §\n}", "{ §; } | cat",
		"{ §; } 2>&1 | tee /tmp/log", "[[ -n x ]] && §", "[ 1 -eq 1 ] && §", "test -d / && §", "(( 1 )) && §",
		"if ! false; then §; fi", "if false; then :; else §; fi", "if §; then true; fi", "while §; do break; done",
		": $( § )", "echo \"$( § )\"", "x=$( § )", "x=`§`", "export x=\"$( § )\"", "echo ${x:-$( § )}", ": <(§)", "cat <(§)",
		"cat < <(§)", "tee >(§) < /dev/null", "true > >(§)", "[[ $( § ) ]]", "echo $(( $( § ) ))", "cat <<< \"$( § )\"",
		"cat <<E\n$( § )\nE\n", "coproc { §; }", "select x in a; do §; break; done < /dev/null",
		"bash <<'E'\n§\nE\n", "sh <<\\E\n§\nE\n", "bash -s <<'E'\n§\nE\n", "sudo bash <<'E'\n§\nE\n", "cat <<'E' | bash\n§\nE\n",
		"bash << 'E' > /dev/null\n§\nE\n", "ssh localhost <<'E'\n§\nE\n", "bash <<< ¶", "sh -s <<< ¶", "echo ¶ | sh",
		"echo ¶ | bash -", "echo ¶ | sudo bash", "printf %s ¶ | sh", "printf '%s\\n' ¶ | bash -s", "echo ¶ | tee /dev/null | sh", "cat <<< ¶ | sh",
		"bash <(echo ¶)", "source <(echo ¶)", ". <(printf %s ¶)", "source /dev/stdin <<< ¶", "echo ¶ > /tmp/‡.sh; sh /tmp/‡.sh",
		"echo ¶ > /tmp/‡.sh && chmod +x /tmp/‡.sh && /tmp/‡.sh", "echo ¶ > ‡.sh; . ./‡.sh", "cat > ‡.sh <<'E'\n§\nE\nbash ‡.sh\n",
		"printf %s ¶ | tee ‡.sh; bash ‡.sh",
		"shopt -s expand_aliases\nalias zz=¶\nzz\n", "alias zz=¶; zz", "alias zz=¶\neval zz\n", "x=¶; eval \"$x\"",
		"x=¶; bash -c \"$x\"", "x=¶; sh <<< \"$x\"", "x=¶; $SHELL -c \"$x\"", "trap ¶ DEBUG; true", "at now <<< ¶", "echo ¶ | at now", "batch <<'E'\n§\nE\n",
		"mapfile -t x <<< ¶; eval \"${x[0]}\"", "read -r x <<< ¶; eval \"$x\"", "set -- ¶; eval \"$1\"",
		"f() { eval \"$1\"; }; f ¶", "f() { \"$@\"; }; f bash -c ¶", "f() { bash -c \"$*\"; }; f ¶",
		"export x=¶; bash -c 'eval \"$x\"'", "env x=¶ bash -c 'eval \"$x\"'", "bash -c 'eval \"$1\"' _ ¶", "bash -c '\"$@\"' _ bash -c ¶")...)
}

// encodings write the whole script so that nobody can read it, and have it decoded and run.
func encodings() []respelling {
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	hex := func(s string) string { return fmt.Sprintf("%x", s) }
	slashX := func(s string) string { return eachByte(s, func(c byte) string { return fmt.Sprintf(`\x%02x`, c) }) }
	octal := func(s string) string { return eachByte(s, func(c byte) string { return fmt.Sprintf(`\%03o`, c) }) }
	octal0 := func(s string) string { return eachByte(s, func(c byte) string { return fmt.Sprintf(`\0%03o`, c) }) }
	turned := func(s string) string {
		return strings.Map(func(c rune) rune {
			switch {
			case c|0x20 >= 'a' && c|0x20 <= 'm':
				return c + 13
			case c|0x20 >= 'n' && c|0x20 <= 'z':
				return c - 13
			}
			return c
		}, s)
	}
	var out []respelling
	for _, form := range []struct {
		text   string
		encode func(string) string
	}{
		{"echo @ | base64 -d | sh", b64}, {"echo @ | base64 --decode | bash", b64}, {"base64 -d <<< @ | sh", b64},
		{"bash <<< $(echo @ | base64 -d)", b64}, {"eval \"$(echo @ | base64 -d)\"", b64},
		{"eval $(base64 -d <<< '@')", b64}, {"bash -c \"$(printf %s @ | base64 -D)\"", b64}, {"bash <(echo @ | base64 -di)", b64},
		{"source <(base64 -d <<< @)", b64}, {"x=@; echo $x | base64 -d | bash", b64}, {"echo @ | openssl base64 -d -A | sh", b64},
		{"echo @ | openssl enc -base64 -d | sh", b64},
		{"echo @ > /tmp/‡; base64 -d /tmp/‡ | sh", b64}, {"echo @ | base64 -d > /tmp/‡.sh; bash /tmp/‡.sh", b64},
		{"python3 -c \"import os,base64; os.system(base64.b64decode('@').decode())\"", b64}, {"perl -MMIME::Base64 -e 'system(decode_base64(\"@\"))'", b64},
		{"echo @ | xxd -r -p | sh", hex}, {"xxd -p -r <<< @ | bash", hex}, {"printf '@' | sh", slashX},
		{"echo -e '@' | bash", slashX}, {"printf '@' | sh", octal}, {"echo -e '@' | sh", octal0}, {"eval $'@'", slashX},
		{"bash -c $'@'", octal}, {"eval \"$(printf '@')\"", octal}, {"printf %b '@' | sh", octal0},
		{"sh -c \"$(echo -e '@')\"", slashX}, {"$(printf '@')", octal},
	} {
		out = append(out, respelling{name: form.text, hidden: true, apply: func(r *rand.Rand, script string) (string, bool) {
			if strings.Contains(form.text, "printf") && strings.ContainsAny(script, "%\\") {
				return "", false // printf would read them once more
			}
			if form.text[:2] == "$(" { // its result is split into words and not read as a script
				if _, one := simple(script); !one || strings.Trim(script, plainLetters+" ") != "" {
					return "", false
				}
			}
			return strings.NewReplacer("@", form.encode(script), "‡", newName(r)).Replace(form.text),
				parseScript(script) != nil && !strings.Contains(script, "\n")
		}})
	}
	return append(out,
		respelling{name: "rev | sh", apply: func(_ *rand.Rand, script string) (string, bool) {
			return "echo " + quoted(reversed(script)) + " | rev | sh", !strings.Contains(script, "\n")
		}},
		respelling{name: "tr | sh", apply: func(_ *rand.Rand, script string) (string, bool) {
			return "echo " + quoted(turned(script)) + " | tr 'A-Za-z' 'N-ZA-Mn-za-m' | sh", !strings.Contains(script, "\n")
		}})
}
