#!/bin/bash
# Starts Interlock on a store in ./var, makes one decision through the running server, says how to plug each coding agent
# in, and stays until it is interrupted. Built and set up by `make run`.
#
# LISTEN=ADDR serves on another address than 127.0.0.1:7433.
set -eu
cd "$(dirname "$0")/.."
binary=$PWD/bin/interlock
home=$PWD/var
ready=$home/ready

mkdir -p "$home"
chmod 700 "$home"
rm -f "$ready"
arguments=(--home "$home" up --ready "$ready")
if [ -n "${LISTEN:-}" ]; then arguments+=(--listen "$LISTEN"); fi
"$binary" "${arguments[@]}" &
server=$!
trap 'kill -TERM $server 2>/dev/null || true' INT TERM EXIT

# The server has said why it did not start. Where its port is somebody else's, how to choose another from here is missing.
failed() {
	if [ -z "${LISTEN:-}" ] && ! curl --silent --unix-socket "$home/interlock.sock" http://interlock/healthz >/dev/null 2>&1 &&
		(exec 3<>/dev/tcp/127.0.0.1/7433) 2>/dev/null; then
		echo "run: to serve on another port: LISTEN=127.0.0.1:7434 make run" >&2
	fi
	exit 1
}

# The server writes the file once it answers. Ten seconds are for a slow disk; a server that ended has said why.
for _ in $(seq 100); do
	[ -s "$ready" ] && break
	kill -0 $server 2>/dev/null || failed
	sleep 0.1
done
[ -s "$ready" ] || { echo "run: the server did not become ready" >&2; exit 1; }
socket=$(tail -n 1 "$ready")
console=http://localhost:$(sed -n '1s/.*://p' "$ready")

# quoted is a word as a shell wants it typed.
quoted() { case $1 in *[!A-Za-z0-9_./-]*) printf "'%s'" "${1//\'/\'\\\'\'}" ;; *) printf '%s' "$1" ;; esac; }

command="sudo sh -c \"r''m -fr /\""
request='{"kind":"shell","input":"sudo sh -c \"r'"''"'m -fr /\""}'
echo
echo "One decision, asked of the running server:   $command"
answer=$(curl --silent --show-error --fail-with-body --unix-socket "$socket" -H 'Content-Type: application/json' \
	--data "$request" http://interlock/v1/decide)
text() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" <<<"$2"; }
number() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" <<<"$2"; }
first=${answer#*\"findings\":[} # the decisive finding stands first
first=${first%%\},\{*}
verdict=$(text verdict "${answer%%,*}")
if [ -n "$verdict" ]; then
	printf '  %s   %s\n' "$(tr '[:lower:]' '[:upper:]' <<<"$verdict")" "$(text rule "$first"): $(text reason "$first")"
	printf '  recorded as entry %s, event %s\n' "$(number index "$answer")" "$(text event_id "$answer")"
else
	printf '%s\n' "$answer"
fi
echo "Ask it yourself:"
echo "  curl --unix-socket $(quoted "$socket") http://interlock/v1/decide \\"
echo "    -H 'Content-Type: application/json' -d '{\"kind\":\"shell\",\"input\":\"ls\"}'"
echo
echo "It is in the log, and the log proves itself:"
"$binary" --home "$home" audit verify | sed 's/^/  /'
interlock="$(quoted "$binary") --home $(quoted "$home")"
cat <<TEXT

Plug a coding agent in with one line, then prove that it fires:
  claude    $interlock install claude
  codex     $interlock install codex
  gemini    $interlock install gemini
  qwen      $interlock install qwen
  cursor    $interlock install cursor
  copilot   $interlock install copilot
  proof     $interlock doctor
  any MCP client starts   $interlock mcp
Put the MCP servers of a client behind a gateway that decides every call; --dry-run only shows it:
  $interlock install gateway --client claude-code
Run a command in a sandbox:
  $interlock exec -- ls
Answer for them in a browser; this prints the link that lets you in:
  $interlock operator add you --role admin --enrol --console $console
Ask by hand:
  $interlock check 'git push --force origin main'
Ctrl-C stops the server. The log stays in $home.

The commands above name this home, because without it interlock uses its usual one. To use this one by default, in this shell:
  export INTERLOCK_HOME=$(quoted "$home")
To set all of it up at once for good (programs on PATH, hooks, a server that starts with you), with a home of its own:
  $(quoted "$binary") setup
TEXT

trap 'kill -TERM $server 2>/dev/null || true' INT TERM
status=0
wait $server || status=$?
while kill -0 $server 2>/dev/null; do # interrupted: the server answers what is under way and stops
	wait $server && status=0 || status=$?
done
trap - EXIT
exit "$status"
