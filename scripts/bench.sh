#!/usr/bin/env bash
# Builds release and measures it against loadtest/limits.json. Arguments go to loadtest/bench.py.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
swift build -c release --product threadcast
swift build -c release --product threadcast-load
compiler=$(command -v cc || command -v clang) || { echo "bench: a C compiler is needed (cc or clang)" >&2; exit 1; }
"$compiler" -O2 -Wall -Wextra -pthread -o .build/sendloop loadtest/sendloop/sendloop.c
exec python3 loadtest/bench.py "$@"
