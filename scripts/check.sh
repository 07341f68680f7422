#!/bin/bash
# What a developer runs at each step: format, vet and the tests of the packages that a change reaches, without those that run the whole
# program from outside.
#
# SINCE=main counts what has changed since a commit (HEAD by default: what is not committed). ALSO="./test/clients" adds packages.
set -u
cd "$(dirname "$0")/.."
export GOFLAGS="${GOFLAGS:+$GOFLAGS }-trimpath" CGO_ENABLED=0

outside='/(test/[a-z]+|bench/[a-z]+|release|cmd/interlock)$'

changed=$( (git diff --name-only "${SINCE:-HEAD}" && git ls-files --others --exclude-standard) | sort -u) || exit 1
[ -n "$changed" ] || { echo "check: nothing has changed since ${SINCE:-HEAD}; SINCE=COMMIT compares with another"; exit 0; }
files=$(printf '%s\n' "$changed" | grep '\.go$' | grep -v testdata/ | while read -r f; do [ ! -f "$f" ] || printf '%s\n' "$f"; done)
status=0
if [ -n "$files" ]; then
	unformatted=$(printf '%s\n' "$files" | xargs -d '\n' gofmt -l) || status=1
	[ -z "$unformatted" ] || { printf 'not in gofmt form: %s\n' $unformatted; status=1; }
fi

# A file belongs to the nearest package above it: testdata and embedded files, too. One outside of every package belongs to the root's tests.
all=$(go list -f '{{.ImportPath}}|{{.Dir}}|{{join .Deps " "}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./...) || exit 1
directories=$(printf '%s\n' "$all" | cut -d '|' -f 2 | sed "s,^$PWD,.,")
touched=$(printf '%s\n' "$changed" | while IFS= read -r file; do
	dir=./$(dirname "$file")
	[ "$dir" != ./. ] || dir=.
	until printf '%s\n' "$directories" | grep -qxF "$dir"; do dir=$(dirname "$dir"); done
	printf '%s\n' "$dir"
done | sort -u)
packages=$(printf '%s\n' "$touched" | xargs go list)
reached=$(printf '%s\n' "$all" | awk -F '|' -v packages="$packages" '
	BEGIN { n = split(packages, p, "\n"); for (i = 1; i <= n; i++) is[p[i]] = 1 }
	{ n = split($3, deps, " "); hit = $1 in is; for (i = 1; i <= n && !hit; i++) hit = deps[i] in is; if (hit) print $1 }')
tested=$(printf '%s\n%s\n' "$(printf '%s\n' "$reached" | grep -vE "$outside")" "$(go list .)" | sort -u)

echo "== vet"
go vet $reached || status=1
echo "== test"
go test -short -timeout 10m $tested ${ALSO:-} || status=1
left=$(printf '%s\n' "$reached" | grep -E "$outside" | tr '\n' ' ')
[ -z "$left" ] || echo "check: reached and left to make test, or to ALSO=: $left"
exit $status
