#!/usr/bin/env bash
# gates.sh HAL_CONFORMANCE MANIFEST REPEAT BUSY: repeats every case that holds a stream with a gate (those on leaks, which repeat
# themselves, hold none); a back end that is right must never be accused, idle or while BUSY endless loops keep every core.
set -euo pipefail
program=$1 manifest=$2 repeat=$3 busy=$4

loops=()
trap 'kill "${loops[@]}" 2>/dev/null || true' EXIT
for ((i = 0; i < busy; ++i)); do
  while :; do :; done &
  loops+=($!)
done
out=$(mktemp -d)
trap 'kill "${loops[@]}" 2>/dev/null || true; rm -rf "$out"' EXIT
status=0
# run NAME WORDS...: all but the collectives, whose cases are several processes each, and those fewer times.
run() {
  "$program" run --manifest "$manifest" --option devices=2 --option memory=256m --needs 'a gate' --needs stream_add_callback --exclude '*.leak.*' \
    --no-stacks --out "$out/$1" "${@:2}" || status=$?
}
run report --exclude '45079.T10.*' --exclude 'hal.xccl_ext.*' --repeat "$repeat" --jobs 16
run ranks --filter '45079.T10.*' --filter 'hal.xccl_ext.*' --few-ranks --repeat $((repeat / 20 + 1)) --jobs 4 --timeout-mult 5
runs=$(grep -o '"kind":"end"' "$out"/*/events.jsonl | wc -l)
echo "gates: $runs runs to their end with $busy busy loops, exit status $status"
exit $status
