#!/usr/bin/env bash
# Builds release and measures it on loopback with the Python client of the end-to-end tests.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh --tests
swift build -c release --product threadcast
.venv/bin/python Tests/EndToEnd/bench.py "$@"
