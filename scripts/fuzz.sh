#!/bin/bash
# Runs every fuzz target of the module for a while. The list comes from the packages themselves, so that no target is
# forgotten, and an empty list is a failure.
#
# usage: scripts/fuzz.sh [TIME per target]
set -eu
cd "$(dirname "$0")/.."
time=${1:-10s}

packages=$(grep -rl --include='*_test.go' '^func Fuzz' . | grep -v '/testdata/' | xargs -n1 dirname | sort -u)
[ -n "$packages" ] || { echo "fuzz: there are no fuzz targets" >&2; exit 1; }

status=0
for package in $packages; do
	targets=$(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true)
	[ -n "$targets" ] || { echo "fuzz: $package has fuzz targets that go test does not list" >&2; status=1; continue; }
	for target in $targets; do
		printf '%s %s\n' "$package" "$target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package" >/dev/null 2>"${TMPDIR:-/tmp}/fuzz.$$" ||
			{ cat "${TMPDIR:-/tmp}/fuzz.$$"; echo "fuzz: $package $target failed; the input is in its testdata" >&2; status=1; }
	done
done
rm -f "${TMPDIR:-/tmp}/fuzz.$$"
exit $status
