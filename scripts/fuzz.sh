#!/bin/bash
# Runs every fuzz target of the module for a while. The list comes from the packages themselves, so that no target is
# forgotten, and an empty list is a failure.
#
# usage: scripts/fuzz.sh [TIME or COUNTx per target]
#
# PART=N runs one Nth of the packages, another each day: building a package for the fuzzer costs ten times what a short run of its targets
# does, and go test has tried their seeds and every input that ever failed.
#
# MUTATIONS=N also spells each command of internal/engine/testdata/mutation otherwise N times, beginning with SEED (by
# default the day): known-bad commands may not be loosened by any spelling, benign ones not be stopped.
#
# The default is a count: with a time, go test now and then ends a target that is fine with "context deadline exceeded".
set -eu
cd "$(dirname "$0")/.."
much=${1:-2000x}

packages=$(grep -rl --include='*_test.go' '^func Fuzz' . | grep -v '/testdata/' | xargs -n1 dirname | sort -u)
[ -n "$packages" ] || { echo "fuzz: there are no fuzz targets" >&2; exit 1; }
if [ -n "${PART:-}" ]; then
	day=$(($(date +%s) / 86400))
	packages=$(printf '%s\n' "$packages" | awk -v part="$PART" -v day="$day" 'NR % part == day % part')
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
known=$(go env GOCACHE)/fuzz # inputs that led somewhere new, where go test -fuzz keeps them too
status=0
for package in $packages; do
	# One build for all targets of a package: go test -fuzz links anew for each.
	go test -vet=off -c -fuzz=. -o "$work/targets" "$package" || { echo "fuzz: $package does not build" >&2; status=1; continue; }
	targets=$(cd "$package" && "$work/targets" -test.list '^Fuzz' | grep '^Fuzz' || true)
	[ -n "$targets" ] || { echo "fuzz: $package has fuzz targets that go test does not list" >&2; status=1; continue; }
	for target in $targets; do
		printf '%s %s\n' "$package" "$target"
		(cd "$package" && "$work/targets" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$much" -test.timeout 30m \
			-test.fuzzcachedir "$known/$package") >"$work/log" 2>&1 ||
			{ cat "$work/log"; echo "fuzz: $package $target failed; an input that did it is in its testdata" >&2; status=1; }
	done
done
if [ -n "${MUTATIONS:-}" ]; then
	seed=${SEED:-$(date +%Y%m%d)}
	printf 'internal/engine mutations, seed %s\n' "$seed"
	go test ./internal/engine -run '^TestRespelled' -count=1 -timeout 0 -args -mutations "$MUTATIONS" -mutation-seed "$seed" || status=1
fi
exit $status
