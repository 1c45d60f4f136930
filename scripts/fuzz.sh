#!/usr/bin/env bash
# Throws broken frames, heads and JSON at a gateway built with AddressSanitizer, for FUZZ_SECONDS.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh --tests
swift build --sanitize address --scratch-path .build/asan --product threadcast
THREADCAST_BIN="$(swift build --sanitize address --scratch-path .build/asan --show-bin-path)/threadcast" \
  .venv/bin/python Tests/EndToEnd/fuzz.py
