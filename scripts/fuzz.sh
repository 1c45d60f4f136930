#!/usr/bin/env bash
# Runs the fuzzers named as arguments, or all of them, two at a time, FUZZ_SECONDS each (60).
#   frame head handshake inflate operation   libFuzzer over the bodies in Tests/Fuzz/Targets, with AddressSanitizer
#   live                                     mutated traffic at a running gateway with AddressSanitizer, behind the others
# FUZZ_SEED repeats a run's dice. Inputs that end a fuzzer are kept in .build/fuzz/crashes; what it learnt on the way goes
# to .build/fuzz/corpus and is its start the next time. The committed corpora are only read.
set -uo pipefail
cd "$(dirname "$0")/.."

guided=(frame head handshake inflate operation)
wanted=("$@")
[ ${#wanted[@]} -gt 0 ] || wanted=("${guided[@]}" live)
for name in "${wanted[@]}"; do
  case " ${guided[*]} live " in *" $name "*) ;; *) echo "fuzz: no fuzzer '$name'; there are ${guided[*]} live" >&2; exit 2 ;; esac
done
seconds=${FUZZ_SECONDS:-60}
seed=${FUZZ_SEED:-$((RANDOM << 15 | RANDOM))}
export FUZZ_SECONDS=$seconds FUZZ_SEED=$seed THREADCAST_FUZZ=1
place=.build/fuzz
broken=()

# The last -sanitize of Swift's wins; the package manager's own flags keep libFuzzer's main and instrument C.
flags=(-c release --scratch-path "$place" --sanitize fuzzer --sanitize address -Xswiftc -sanitize=fuzzer,address)

# fuzz NAME: one fuzzer until its time is over or an input ends it.
fuzz() {
  local name=$1 own="$place/corpus/$1" crashes="$place/crashes" dictionary=() log="$place/$1.log"
  mkdir -p "$own" "$crashes"
  [ ! -f "Tests/Fuzz/$name.dict" ] || dictionary=("-dict=Tests/Fuzz/$name.dict")
  if "$binaries/fuzz-$name" -max_total_time="$seconds" -seed="$seed" -max_len=20480 -len_control=20 -timeout=25 \
    -rss_limit_mb=1024 -artifact_prefix="$crashes/$name-" -print_final_stats=1 "${dictionary[@]}" \
    "$own" "Tests/Fuzz/corpus/$name" >"$log" 2>&1; then
    echo "fuzz: $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs, nothing found;" \
      "$(grep -o 'cov: [0-9]*' "$log" | tail -n 1), $(find "$own" -type f | wc -l) inputs learnt"
    return 0
  fi
  grep -E 'Fatal error|ERROR:|SUMMARY:|Test unit written' "$log" || tail -n 20 "$log"
  echo "fuzz: $name: FAILED with seed $seed; all of it is in $log. Replay with"
  echo "  $binaries/fuzz-$name $(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)"
  return 1
}

picked=()
for name in "${guided[@]}"; do
  case " ${wanted[*]} " in *" $name "*) picked+=("$name") ;; esac
done
if [ ${#picked[@]} -gt 0 ]; then
  scripts/setup.sh || exit 1
  for name in "${picked[@]}"; do
    swift build --quiet "${flags[@]}" --product "fuzz-$name" || { echo "fuzz: fuzz-$name does not build" >&2; exit 1; }
  done
  binaries=$(swift build "${flags[@]}" --show-bin-path)
  echo "fuzz: seed $seed, $seconds s each"
  # Both of a small machine's cores; a fuzzer is one thread.
  running=()
  for name in "${picked[@]}"; do
    if [ ${#running[@]} -eq 2 ]; then
      wait "${running[0]}" || broken+=(guided)
      running=("${running[@]:1}")
    fi
    fuzz "$name" &
    running+=($!)
  done
  for process in "${running[@]}"; do wait "$process" || broken+=(guided); done
fi

case " ${wanted[*]} " in *" live "*)
  unset THREADCAST_FUZZ
  asan=(--sanitize address --scratch-path .build/asan)
  if scripts/setup.sh --tests && swift build "${asan[@]}" --product threadcast; then
    THREADCAST_BIN="$(swift build "${asan[@]}" --show-bin-path)/threadcast" \
      .venv/bin/python Tests/EndToEnd/fuzz.py || broken+=(live)
  else
    broken+=(live)
  fi
esac
[ ${#broken[@]} -eq 0 ]
