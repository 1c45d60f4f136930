#!/usr/bin/env bash
# Format and house style, without building anything.
set -euo pipefail
cd "$(dirname "$0")/.."
paths=(Package.swift)
for folder in Sources Tests loadtest; do
  [ -n "$(find "$folder" -name '*.swift' -print -quit 2>/dev/null)" ] && paths+=("$folder")
done
swift format lint --strict -r "${paths[@]}"
python3 scripts/style.py
