#!/usr/bin/env bash
# no_process_reads.sh CHECKER MANIFEST LIBRARY: collectives on private memory and in traffic where no rank can read another
# one's memory, because the library, which is preloaded, refuses the call; and that it was called.
set -euo pipefail
checker=$1 manifest=$2 library=$3
proof=$(mktemp)
trap 'rm -f "$proof"' EXIT
NO_PROCESS_READS_PROOF=$proof LD_PRELOAD=$library "$checker" xccl --manifest "$manifest" --option devices=2 \
  --option memory=256m --quiet --filter '*.norm.imported_memory*' --filter '*.stress.*'
[ -s "$proof" ] || { echo "the library was not asked: nothing was shown"; exit 1; }
