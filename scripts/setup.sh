#!/usr/bin/env bash
# Makes sure that the toolchain and the C libraries are there; installs what is missing on Debian and Ubuntu.
# Safe to repeat, and quick when nothing is missing. With --tests also what the test run needs.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "setup: $*" >&2; exit 1; }

swift_version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1 || true)
[ -n "$swift_version" ] ||
  fail "Swift 6.2 or newer is needed and no 'swift' is on the PATH: install it as swift.org/install says, then run this again."
[ "${swift_version%%.*}" -gt 6 ] || { [ "${swift_version%%.*}" -eq 6 ] && [ "${swift_version#*.}" -ge 2 ]; } ||
  fail "Swift 6.2 or newer is needed and this is $swift_version: install a newer one as swift.org/install says, then run this again."

missing=()
need() { # need PACKAGE CHECK...: remember the package when the check fails
  local package=$1; shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}
has_library() { command -v pkg-config && pkg-config --exists "$1"; }
has_cxx_headers() { compgen -G '/usr/include/c++/*/string'; }

need pkg-config command -v pkg-config
need g++ has_cxx_headers
need libssl-dev has_library openssl
need zlib1g-dev has_library zlib
need libsqlite3-dev has_library sqlite3
need libsimdjson-dev has_library simdjson
need libyaml-dev has_library yaml-0.1
if [ "${1:-}" = --tests ]; then
  need python3 command -v python3
  need python3-venv python3 -c 'import ensurepip, venv'
  need openssl command -v openssl
  need curl command -v curl
  need procps command -v ps
  need chromium command -v chromium
fi

if [ ${#missing[@]} -gt 0 ]; then
  command -v apt-get >/dev/null ||
    fail "these are missing, and there is no apt-get here to install them: ${missing[*]} (names as in Debian)."
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "these packages are missing, and only root can install them: ${missing[*]}."
    as_root=(sudo)
  fi
  echo "setup: installing ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
fi

if [ "${1:-}" = --tests ]; then
  # The pinned list is kept beside the environment that was made from it, so that a change of one remakes the other.
  pins=Tests/EndToEnd/requirements.txt
  if ! cmp -s "$pins" .venv/installed.txt || ! .venv/bin/python -c pass 2>/dev/null; then
    echo "setup: making the Python environment of the tests in .venv"
    rm -rf .venv
    python3 -m venv .venv
    .venv/bin/python -m pip install -q --disable-pip-version-check -r "$pins"
    cp "$pins" .venv/installed.txt
  fi
fi
