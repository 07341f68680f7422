#!/bin/bash
# The whole suite: format, vet, tests, races, fuzzing, cross-compilation. Every step runs even if one before it failed; the
# last line counts, and the exit status is 0 only if nothing failed.
#
# FUZZTIME=30s fuzzes longer (a time or a count such as 5000x for each target). STEPS="vet test" runs some steps only.
set -u
cd "$(dirname "$0")/.."

steps=${STEPS:-format vet test race fuzz cross}
passed=0
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Packages in which goroutines meet; the race detector makes the rest only slower.
concurrent="./embedded/... ./internal/admission/... ./internal/store/... ./internal/httpapi/... ./internal/hook/... ./internal/mcpaql/... ./internal/mcpgateway/... ./internal/upstream/... ./internal/notify/... ./mcpguard/..."

step() {
	local name=$1
	shift
	case " $steps " in *" $name "*) ;; *) return ;; esac
	printf '== %s\n' "$name"
	if "$@"; then passed=$((passed + 1)); else
		failed=$((failed + 1))
		printf '== %s FAILED\n' "$name"
	fi
}

format() {
	local files
	files=$(gofmt -l .) || return 1
	[ -z "$files" ] || { printf 'not in gofmt form: %s\n' $files; return 1; }
}

tests() {
	go test -timeout 30m ./... 2>&1 | tee "$log"
	local status=${PIPESTATUS[0]}
	local ok bad
	ok=$(grep -c '^ok' "$log")
	bad=$(grep -c '^FAIL[[:space:]]' "$log")
	passed=$((passed + ok))
	failed=$((failed + bad))
	return "$status"
}

# These walk one store step by step, thousands of times and with nobody beside them: the detector finds nothing there and
# makes them ten times as slow. The step before this one runs them.
alone='^(TestKilledAtEveryStep|TestMigrationFails|TestEveryTable|TestFaultMatrix|TestReleaseFails)$'

race() { CGO_ENABLED=1 go test -race -short -skip "$alone" -timeout 30m $concurrent; }

cross() {
	local status=0 os arch binaries
	binaries=$(mktemp -d) || return 1
	for os in linux darwin windows; do
		for arch in amd64 arm64; do
			CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -buildvcs=false -o "$binaries" ./cmd/... ||
				{ printf '%s/%s does not build\n' "$os" "$arch"; status=1; }
		done
		# Nothing else compiles the tests for other systems than this one.
		GOOS=$os go vet ./... || { printf 'vet complains for %s\n' "$os"; status=1; }
	done
	rm -rf "$binaries"
	return $status
}

step format format
step vet go vet ./...
step test tests
step race race
step fuzz scripts/fuzz.sh "${FUZZTIME:-2000x}"
step cross cross

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
