#!/usr/bin/env bash
# Format, house style and the written part of the fuzzers' corpora, without building anything.
set -euo pipefail
cd "$(dirname "$0")/.."
paths=(Package.swift)
for folder in Sources Tests loadtest; do
  [ -n "$(find "$folder" -name '*.swift' -print -quit 2>/dev/null)" ] && paths+=("$folder")
done
swift format lint --strict -r "${paths[@]}"
python3 scripts/style.py
python3 Tests/Fuzz/seeds.py --check
