#!/usr/bin/env bash
# seeds.sh HAL_CONFORMANCE MANIFEST SEEDS [FIRST]: the whole suite so often, in another order and with other data each time, the cases of an
# interface in one process: what one leaves behind meets the next, and a sanitizer sees both. Not one bad verdict is allowed.
set -euo pipefail
program=$1 manifest=$2 seeds=$3 first=${4:-1}

for ((seed = first; seed < first + seeds; ++seed)); do
  echo "seed $seed"
  "$program" run --manifest "$manifest" --option devices=2 --option memory=256m --isolation interface --few-ranks --seed "$seed" \
    --timeout-mult 10 --no-stacks --quiet
done
echo "seeds: $seeds orders, nothing bad"
