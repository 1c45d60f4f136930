#!/usr/bin/env bash
# The long tests. First what `make test` runs shortened, in full: 200 kills under load, 5,000 sessions over a drain. Then
# the simulator (Tests/Simulation) for SOAK_MINUTES, 60 when absent, over seeds that no earlier run has seen; SOAK_FIRST
# names the first. Stops at the first broken promise and says how to see it again.
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=${SOAK_MINUTES:-60}
first=${SOAK_FIRST:-$(date +%s)}
[[ $minutes =~ ^[1-9][0-9]*$ ]] || { echo "soak: SOAK_MINUTES is a number of minutes, not '$minutes'" >&2; exit 2; }
[[ $first =~ ^[0-9]+$ ]] || { echo "soak: SOAK_FIRST is a seed, not '$first'" >&2; exit 2; }

scripts/setup.sh --tests
swift build -c release --product threadcast
echo "soak: 200 kills, 5,000 sessions over a drain"
THREADCAST_BIN="${THREADCAST_BIN:-$(swift build -c release --show-bin-path)/threadcast}" KILLS=200 DRAINED=5000 \
  .venv/bin/python -m pytest Tests/EndToEnd/test_resume.py -q

strict=(--explicit-target-dependency-import-check error -Xswiftc -warnings-as-errors)
swift build --build-tests "${strict[@]}"
echo "soak: $minutes minutes of simulation from seed $first on"
# Hashing without a seed of its own makes a run the same in every process.
SWIFT_DETERMINISTIC_HASHING=1 SIMULATION_FIRST=$first SIMULATION_SECONDS=$((minutes * 60)) \
  swift test "${strict[@]}" --skip-build --filter 'SimulationTests.*everySeed'
