#!/bin/sh
# Makes the pictures of docs/operating.md anew. Needs Chromium (Debian: chromium).
set -e
cd "$(dirname "$0")/.."
exec go run ./bench/screens "$@"
