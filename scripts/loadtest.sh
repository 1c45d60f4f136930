#!/usr/bin/env bash
# Builds release and runs one scenario of loadtest/scenarios against a gateway of its own, which is gone afterwards.
#   scripts/loadtest.sh SCENARIO [flags of threadcast-load]
set -euo pipefail
cd "$(dirname "$0")/.."
scenario=loadtest/scenarios/${1:?loadtest: which scenario? one of $(ls loadtest/scenarios | sed 's/.json//' | tr '\n' ' ')}.json
shift
[ -r "$scenario" ] || { echo "loadtest: there is no $scenario" >&2; exit 78; }
scripts/setup.sh
swift build -c release --product threadcast
swift build -c release --product threadcast-load
folder=$(mktemp -d .build/loadtest-XXXXXX)
gateway=
trap 'kill "$gateway" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$folder"' EXIT
THREADCAST_DRAIN_SECONDS=1 .build/release/threadcast serve --dev --echo --listen 127.0.0.1:0 --data "$folder/data" \
  >"$folder/out" 2>"$folder/log" &
gateway=$!
for _ in $(seq 100); do
  grep -q '^threadcast ready' "$folder/out" && break
  kill -0 "$gateway" 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
  sleep 0.1
done
address=$(sed -n 's/^threadcast ready listen=\([^ ,]*\).*/\1/p' "$folder/out")
[ -n "$address" ] || { echo "loadtest: the gateway was not ready in 10 s" >&2; exit 1; }
.build/release/threadcast-load run "$scenario" --target "ws://$address" --pid "$gateway" "$@"
