#!/usr/bin/env bash
# launched.sh HAL_CONFORMANCE MANIFEST: ranks from a launcher. Rank 0 waits for its rank 1 while others knock: one with
# another token, one that speaks another protocol. They are sent away, and do no harm.
set -euo pipefail
program=$1 manifest=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "launched: $*" >&2; tail -n 20 "$work"/* >&2; exit 1; }

unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_RANK LOCAL_RANK
export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + $$ % 12000))  # below what the system gives to others
rank() {  # RANK TOKEN
  RANK=$1 HAL_CONFORMANCE_TOKEN=$2 timeout 120 "$program" xccl --ranks-from-env --manifest "$manifest" --quiet \
    --exact '45079.T10.xccl_all_reduce.num.exact[ranks=2]'
}
rank 0 right >"$work/first" 2>&1 &
first=$!

status=0
rank 1 wrong >"$work/stranger" 2>&1 || status=$?
[ "$status" -eq 6 ] || fail "a rank with another token: exit $status instead of 6"
grep -q 'another token' "$work/stranger" || fail "a rank with another token is not told so"
exec {web}<>"/dev/tcp/127.0.0.1/$MASTER_PORT" || fail "rank 0 no longer listens"
# Two lines are two writes, and rank 0 may hang up after the first: only rank 1, below, tells what harm was done.
(trap '' PIPE; printf 'GET / HTTP/1.0\r\n\r\n' >&"$web") 2>/dev/null || true
exec {web}>&-

rank 1 right >"$work/second" 2>&1 || fail "rank 1: exit $?"
wait "$first" || fail "rank 0: exit $?"
grep -q '^pass 1 ' "$work/first" || fail "rank 0 tells no pass"
echo "launched: two ranks passed, two strangers were sent away"
