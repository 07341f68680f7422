#!/bin/bash
# Sees to it that what a make target needs is there: a Go toolchain and a few system packages. As root on a system with apt
# it installs what is missing; otherwise it names what is missing in one sentence and fails, so that nothing is skipped
# in silence.
#
# usage: scripts/setup.sh build|run|test|bench
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# command:package, for Debian's names of packages. A target needs only what it names.
case "${1:-}" in
build) needs="" ;;
run) needs="curl:curl" ;;
test) needs="git:git curl:curl pgrep:procps sqlite3:sqlite3 ssh-keygen:openssh-client gcc:gcc node:nodejs npm:npm python3:python3 pip:python3-pip bwrap:bubblewrap setpriv:util-linux rpm:rpm ruby:ruby buildah:buildah systemd-analyze:systemd" ;;
bench) needs="node:nodejs npm:npm bwrap:bubblewrap" ;;
*) fail "usage: scripts/setup.sh build|run|test|bench" ;;
esac

command -v go >/dev/null 2>&1 || fail "Go 1.26 or newer is missing; install it from https://go.dev/dl and put its bin directory on PATH"
version=$(go env GOVERSION)
release=${version#go}
major=${release%%.*}
minor=${release#*.}
minor=${minor%%[!0-9]*}
if [ "$major" -lt 1 ] || { [ "$major" -eq 1 ] && [ "$minor" -lt 26 ]; }; then
	fail "Go 1.26 or newer is needed and this is $version; install a newer one from https://go.dev/dl"
fi

has() { command -v "$1" >/dev/null 2>&1; }
missing=""
for need in $needs; do
	has "${need%%:*}" || missing="$missing ${need#*:}"
done
# The tests drive the console in a browser, by whichever name it goes; CHROMIUM names another.
if [ "$1" = test ] && ! has "${CHROMIUM:-chromium}" && { [ -n "${CHROMIUM:-}" ] || ! has chromium-browser && ! has google-chrome; }; then
	[ -z "${CHROMIUM:-}" ] || fail "CHROMIUM names $CHROMIUM, and there is no such program"
	missing="$missing chromium"
fi
# A compiler without the C library's headers can't link the race detector.
if [ "$1" = test ] && command -v gcc >/dev/null 2>&1; then
	printf '#include <stdlib.h>\nint main(void){return 0;}\n' | gcc -x c -fsyntax-only - 2>/dev/null || missing="$missing libc6-dev"
elif [ "$1" = test ]; then
	missing="$missing libc6-dev"
fi
missing=${missing# }

if [ -n "$missing" ]; then
	if [ "$(id -u)" -ne 0 ]; then
		fail "these system packages are missing and only root can install them: $missing; run: sudo apt-get install $missing"
	fi
	command -v apt-get >/dev/null 2>&1 || fail "these system packages are missing and there is no apt-get to install them with: $missing"
	say "installing $missing"
	export DEBIAN_FRONTEND=noninteractive
	# shellcheck disable=SC2086 # a list of packages
	{ apt-get -qq update && apt-get -qq install -y --no-install-recommends $missing; } >/dev/null ||
		fail "apt-get could not install: $missing"
fi

# The suite builds for six systems, with and without the race detector: about 6 GB in Go's build cache, which Go empties of
# nothing that is younger than five days.
if [ "$1" = test ]; then
	cache=$(go env GOCACHE)
	mkdir -p "$cache"
	for place in "$cache" "${TMPDIR:-/tmp}" .; do
		free=$(df -Pk "$place" | awk 'NR == 2 { print int($4 / 1048576) }')
		[ "$free" -ge 8 ] || fail "$free GB are free in $place and the suite needs 8; go clean -cache -fuzzcache gives back what earlier builds left"
	done
fi

go mod download || fail "the Go modules could not be downloaded; is there a network, or a GOPROXY that has them?"
# The OpenTelemetry SDK is a test's peer and in a module of its own.
if [ "$1" = test ]; then
	(cd test/otel/_sdk && go mod download) || fail "the modules of test/otel/_sdk could not be downloaded"
fi

# MCP clients, coding agents and frameworks that others wrote, for the tests beside them, at the versions the lock files pin.
if [ "$1" = test ]; then
	for peers in test/clients test/harnesses test/sdk; do
		if ! cmp -s $peers/package-lock.json $peers/node_modules/.installed; then
			# npm empties the folder first, also where it is another tree's.
			[ ! -L $peers/node_modules ] || fail "$peers/node_modules is a link to what another tree has installed; remove the link"
			say "installing the programs that $peers drives"
			npm ci --silent --no-fund --no-audit --prefix $peers ||
				fail "the programs in $peers/package.json could not be installed with npm; is there a network, or a registry that has them?"
			cp $peers/package-lock.json $peers/node_modules/.installed
		fi
	done
	test/clients/node_modules/.bin/node --version >/dev/null || fail "the Node.js in test/clients does not start"
fi

# Programs that others wrote and the tests try what is handed out with. They have a module of their own, whose sums pin them.
if [ "$1" = test ] && ! cat release/_tools/go.sum release/_tools/kuberead/*.go | cmp -s - bin/tools/.built; then
	say "building helm and others that read what is handed out, for a minute or two"
	mkdir -p bin/tools
	{ CGO_ENABLED=0 go build -C release/_tools -trimpath -ldflags "-s -w" -o ../../bin/tools/ ./kuberead helm.sh/helm/v3/cmd/helm &&
		CGO_ENABLED=0 go build -C release/_tools -trimpath -o ../../bin/tools/ github.com/goreleaser/nfpm/v2/cmd/nfpm &&
		CGO_ENABLED=0 go build -C release/_tools -trimpath -o "../../bin/tools/composeread$(go env GOEXE)" github.com/compose-spec/compose-go/v2/cmd; } ||
		fail "the programs of release/_tools could not be built; is there a network, or a GOPROXY that has them?"
	cat release/_tools/go.sum release/_tools/kuberead/*.go >bin/tools/.built
fi
