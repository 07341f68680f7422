#!/bin/bash
# Measures how long a stranger takes from a downloaded archive to a canary that was refused through Claude Code's own hook, in a home
# of its own, and counts the commands. What a person types and reads is not in the time.
#
# usage: scripts/first-canary.sh ARCHIVE.tar.gz
set -eu
[ -f "${1:-}" ] || { echo "usage: scripts/first-canary.sh ARCHIVE.tar.gz" >&2; exit 2; }
archive=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/home/.claude" "$work/home/.local/bin" "$work/downloads"
printf '{"model": "opus"}\n' >"$work/home/.claude/settings.json"
export HOME=$work/home PATH=$work/home/.local/bin:$PATH
unset INTERLOCK_HOME XDG_DATA_HOME XDG_CONFIG_HOME CLAUDE_CONFIG_DIR
cd "$work/downloads"

commands=0
typed() {
	commands=$((commands + 1))
	"$@" >>"$work/said" 2>&1 </dev/null || { cat "$work/said" >&2; exit 1; }
}
began=$(date +%s%N)
typed tar -xzf "$archive"
# Without a terminal nobody is asked, so it says yes; without a service of the system it is the same everywhere.
typed setsid "./$(basename "$archive" .tar.gz)/interlock" setup --yes --no-service
took=$((($(date +%s%N) - began) / 1000000))
grep -q '^  ok    claude canary *PreToolUse: refused' "$work/said" || { cat "$work/said" >&2; exit 1; }
printf '%d commands, %d.%d s\n' "$commands" $((took / 1000)) $((took % 1000 / 100))
