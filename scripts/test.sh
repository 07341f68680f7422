#!/bin/bash
# The whole suite: format, vet, tests, races, fuzzing, cross-compilation. Every step runs even if one before it failed; how long each
# package took is printed before the last line, which counts, and the exit status is 0 only if nothing failed.
#
# FUZZTIME=30s fuzzes longer (a time or a count such as 5000x for each target), FUZZPART=1 all packages. STEPS="vet test" runs some steps only.
set -u
cd "$(dirname "$0")/.."
# As the programs are built, so that everything is compiled once, and once for all clones of whatever name.
export GOFLAGS="${GOFLAGS:+$GOFLAGS }-trimpath" CGO_ENABLED=0

steps=${STEPS:-format vet test race fuzz cross}
passed=0
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# What takes longest begins first, so that nothing long is left when one processor has no more to do.
long="./cmd/interlock ./test/product ./test/harnesses ./test/clients ./test/browser ./internal/store/sqlite ./release ./internal/admission ./test/docs ./internal/mcpgateway ./internal/console"

step() {
	local name=$1
	shift
	case " $steps " in *" $name "*) ;; *) return ;; esac
	printf '== %s\n' "$name"
	local began=$SECONDS
	if "$@"; then passed=$((passed + 1)); else
		failed=$((failed + 1))
		printf '== %s FAILED\n' "$name"
	fi
	printf 'step %s\t%ds\n' "$name" $((SECONDS - began)) >>"$log"
}

format() {
	local files
	files=$(gofmt -l .) || return 1
	[ -z "$files" ] || { printf 'not in gofmt form: %s\n' $files; return 1; }
}

# one_go_test runs packages and counts them. go test need not vet a part of what the step vet does.
one_go_test() {
	local out
	out=$(mktemp)
	go test -vet=off "$@" 2>&1 | tee "$out"
	local status=${PIPESTATUS[0]}
	passed=$((passed + $(grep -c '^ok' "$out")))
	failed=$((failed + $(grep -c '^FAIL[[:space:]]' "$out")))
	cat "$out" >>"$log"
	rm -f "$out"
	return "$status"
}

tests() {
	local present rest
	present=$(ls -d $long 2>/dev/null)
	rest=$(go list ./... | grep -vxF "$(printf '%s\n' $present | sed "s,^\.,$(go list -m),")")
	one_go_test -timeout 60m $present $rest
}

# These walk one store step by step, thousands of times and with nobody beside them: the detector finds nothing there and
# makes them ten times as slow. The step before this one runs them.
alone='^(TestKilledAtEveryStep|TestMigrationFails|TestEveryTable|TestFaultMatrix|TestReleaseFails)$'

race() {
	local whole some tests status=0
	{ read -r whole; read -r some; read -r tests; } < <(go run ./test/racing)
	[ -n "$whole" ] && [ -n "$some" ] && [ -n "$tests" ] || return 1
	CGO_ENABLED=1 go test -vet=off -race -short -skip "$alone" -timeout 30m $whole || status=1
	CGO_ENABLED=1 go test -vet=off -race -short -run "$tests" -skip "$alone" -timeout 30m $some || status=1
	return $status
}

# listed says of each package which files it has on a system, of the program and of its tests, and what its tests import.
listed() {
	GOOS=$1 GOARCH=$2 go list -f '{{.ImportPath}} {{.GoFiles}}{{.TestGoFiles}}{{.XTestGoFiles}} {{.TestImports}}{{.XTestImports}}' ./... |
		sort
}

# cross builds the programs once for each other system. Where a package has other files there than here, its tests and those of who
# imports it in tests are compiled and vetted too; all others are the same files, which were vetted here. No package has other files on
# another processor of the same system, which is looked at, so one processor is built for.
cross() {
	local status=0 os other here there tagged reached host
	host=$(go env GOHOSTOS)
	here=$(listed "$host" amd64)
	for os in linux darwin windows; do
		there=$(listed $os arm64)
		if [ $os != "$host" ]; then
			GOOS=$os GOARCH=amd64 go build -trimpath -buildvcs=false -ldflags "-s -w" -o /dev/null ./cmd/... ||
				{ printf '%s does not build\n' "$os"; status=1; }
			tagged=$(diff <(printf '%s\n' "$here") <(printf '%s\n' "$there") | awk '/^[<>]/ { print $2 }' | sort -u)
			reached=$(printf '%s\n' "$there" | awk -v tagged="$tagged" '
				BEGIN { n = split(tagged, t, "\n"); for (i = 1; i <= n; i++) is[t[i]] = 1 }
				{ for (i = 1; i <= NF; i++) { gsub(/[][]/, "", $i); if ($i in is) { print $1; next } } }')
			[ -n "$reached" ] && GOOS=$os GOARCH=amd64 go vet $reached || { printf 'vet complains for %s\n' "$os"; status=1; }
		fi
		other=$(diff <(listed $os amd64) <(printf '%s\n' "$there") | awk '/^[<>]/ { print $2 }' | sort -u)
		if [ -n "$other" ]; then
			GOOS=$os GOARCH=arm64 go vet $other || { printf 'vet complains for %s/arm64\n' "$os"; status=1; }
		fi
	done
	return $status
}

step format format
step vet go vet ./...
step test tests
step race race
step fuzz env PART="${FUZZPART:-16}" scripts/fuzz.sh "${FUZZTIME:-2000x}"
step cross cross

printf '== how long it took\n'
awk -F '\t' '/^ok/ && $3 ~ /^[0-9.]+s/ { printf "%8.1fs  %s\n", $3, $2 } /^step / { sub("s$", "", $2); printf "%8.1fs  %s\n", $2, $1 }' "$log" | sort -rn | head -40
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
