#!/usr/bin/env bash
# Builds release and runs a demo gateway; when it is ready, prints what to paste into other terminals.
# Arguments are passed on to `threadcast serve --dev`.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
swift build -c release --product threadcast
program="$(swift build -c release --show-bin-path)/threadcast"

data=(--data ./data)
for word in "$@"; do case "$word" in --data | --data=*) data=() ;; esac; done

show() {
  # Ctrl-C is for the server; its last lines still have to come through.
  trap '' INT TERM
  while IFS= read -r line; do
    printf '%s\n' "$line"
    case "$line" in "threadcast ready "*) tour "$line" ;; esac
  done
}

tour() {
  local address scheme=http live=ws
  address=$(sed -n 's/.* listen=\([^ ,]*\).*/\1/p' <<<"$1")
  case "$1" in *" tls=on"*) scheme=https live=wss ;; esac
  case "$address" in unix:*) return ;; esac
  cat <<EOF

Two people in a thread. In a second and a third terminal, in this folder:

  python3 scripts/live.py ann --url $live://$address
  python3 scripts/live.py bob --url $live://$address

Type a line in one and it appears in the other, with its number.
Answer in its thread with:  /reply NUMBER some words
Over HTTP, the same conversation:

  curl -s -H 'Authorization: Bearer dev-cyd' '$scheme://$address/v1/messages?guid=team'
  curl -s -H 'Authorization: Bearer dev-ann' -H 'Content-Type: application/json' \\
    -d '{"receiverUid":"team","receiverType":"group","type":"text","text":"hello from curl"}' $scheme://$address/v1/messages

Ctrl-C stops the gateway; what was said stays in ./data.

EOF
}

"$program" serve --dev "${data[@]}" "$@" > >(show) &
server=$!
# Ctrl-C reaches the server from the terminal, and a second one means at once; only what was sent to this script alone
# is passed on.
trap : INT
trap 'kill -TERM "$server" 2>/dev/null || true' TERM
status=0
while kill -0 "$server" 2>/dev/null; do
  # A signal ends `wait` early.
  wait "$server" || true
done
wait "$server" || status=$?
exit "$status"
