#!/bin/sh
# Makes the pictures of docs/operating.md anew. Needs Chromium and chromedriver (Debian: chromium chromium-driver).
set -e
cd "$(dirname "$0")/.."
exec go run ./bench/screens "$@"
