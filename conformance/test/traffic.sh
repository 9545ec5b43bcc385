#!/usr/bin/env bash
# traffic.sh CHECKER MANIFEST RUNS [OPTION...]: collectives in random traffic (3,000 a run and seed) and ranks killed in it
# (30 a run), and whether anything of them is left: processes, names in /dev/shm, sockets in the abstract name space.
set -euo pipefail
checker=$1 manifest=$2 runs=$3
shift 3

left() {
  pgrep -f "$checker run" || true
  ls /dev/shm
  grep -o '@hal-xccl[^ ]*' /proc/net/unix || true
}

before=$(left)
for seed in $(seq "$runs"); do
  "$checker" run --manifest "$manifest" --option devices=2 --option memory=256m --seed "$seed" --quiet \
    --filter '*.stress.random_traffic' "$@"
  "$checker" run --manifest "$manifest" --option devices=2 --option memory=256m --seed "$seed" --quiet \
    --filter '*.fault.killed_in_traffic' --repeat 10 "$@"
done
after=$(left)
if [ "$before" != "$after" ]; then
  printf 'left behind:\n%s\nbefore:\n%s\n' "$after" "$before"
  exit 1
fi
echo "traffic: $((runs * 3000)) collectives and $((runs * 30)) kills, nothing wrong, nothing left"
