#!/usr/bin/env bash
# Every test, in the order of CI. Arguments name the stages to run; none means all of them.
# Prints one line at the end: "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."

order=(lint build unit simulation clauses fuzz threads release end-to-end)
wanted=("$@")
[ ${#wanted[@]} -gt 0 ] || wanted=("${order[@]}")
for name in "${wanted[@]}"; do
  case " ${order[*]} " in *" $name "*) ;; *) echo "test: no stage '$name'; there are ${order[*]}" >&2; exit 2 ;; esac
done

# One set of flags for building and running, so that the run builds nothing again.
strict=(--explicit-target-dependency-import-check error -Xswiftc -warnings-as-errors)
results=.build/results
rm -rf "$results"
mkdir -p "$results"

passed=0
failed=0
broken=()

# stage NAME COMMAND...: runs the command unless the stage was not asked for. It counts as one test of its own.
stage() {
  local name=$1 began=$SECONDS; shift
  case " ${wanted[*]} " in *" $name "*) ;; *) return 0 ;; esac
  printf '\n== %s\n' "$name"
  if "$@"; then
    passed=$((passed + 1))
    echo "== $name: passed in $((SECONDS - began)) s"
  else
    failed=$((failed + 1)); broken+=("$name")
    echo "== $name: FAILED in $((SECONDS - began)) s"
    return 1
  fi
}

unit() {
  swift test "${strict[@]}" --skip-build --quiet --skip '^SimulationTests\.' --xunit-output "$results/unit.xml"
}

# A node and its clients from one seed after another. Hashing without a seed of its own makes runs the same everywhere.
simulation() {
  SWIFT_DETERMINISTIC_HASHING=1 swift test "${strict[@]}" --skip-build --quiet --filter '^SimulationTests\.' \
    --xunit-output "$results/simulation.xml"
}

# A minute for each of the fuzzers that know the coverage; the one over a running gateway is left to `make fuzz`.
fuzz() { FUZZ_SECONDS=${FUZZ_SECONDS:-60} scripts/fuzz.sh frame head handshake inflate operation; }

# Rooms with threads, under ThreadSanitizer, in a build folder of their own.
threads() {
  TSAN_OPTIONS="halt_on_error=0 exitcode=66 second_deadlock_stack=1" \
    swift test --sanitize thread --scratch-path .build/tsan --quiet \
    --filter '^(Workers|Reactor|Gateway|Bus|Store)Tests\.' --xunit-output "$results/threads.xml"
}

# The load driver is a product of its own: `swift build` takes one at a time.
release() {
  swift build -c release --product threadcast && swift build -c release --product threadcast-load
}

end_to_end() {
  THREADCAST_BIN="${THREADCAST_BIN:-$(swift build -c release --show-bin-path)/threadcast}" \
    .venv/bin/python -m pytest Tests/EndToEnd -q --junitxml "$results/end-to-end.xml"
}

scripts/setup.sh --tests || { echo "0 passed, 1 failed"; exit 1; }

stage lint scripts/lint.sh
if stage build swift build --build-tests "${strict[@]}"; then
  stage unit unit
  stage simulation simulation
fi
stage clauses python3 scripts/clauses.py --quiet
stage fuzz fuzz
stage threads threads
if stage release release; then
  stage end-to-end end_to_end
fi

read -r more_passed more_failed < <(python3 scripts/summary.py "$results")
[ ${#broken[@]} -eq 0 ] || printf '\nFailed: %s\n' "${broken[*]}"
printf '\n%d passed, %d failed\n' "$((passed + more_passed))" "$((failed + more_failed))"
[ $((failed + more_failed)) -eq 0 ]
