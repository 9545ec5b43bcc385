#!/bin/bash
# The loader exports what the headers declare, each under its symbol version, and nothing else: no symbol of a library that
# it is built with, no unique or weak one, which would be shared with plug-ins. Usage: exports.sh NM LIBRARY INCLUDE_DIR
set -euo pipefail
nm=$1 library=$2 include=$3

symbols=$("$nm" --dynamic --defined-only --with-symbol-versions "$library" | awk '$2 != "A" {print $2, $3}')
wrong=$(grep -v '^T hal_[a-z0-9_]*@@HAL_1$' <<<"$symbols" || true)
if [ -n "$wrong" ]; then
    echo "exported and should not be:"
    echo "$wrong"
    exit 1
fi

declared=$({ grep -hoE '^(hal_status|const char\*) hal_[a-z0-9_]+\(' "$include/hal/loader.h" | grep -oE 'hal_[a-z0-9_]+\(' | tr -d '('
    sed -nE 's/^ *HAL_FN\([a-z_]+, ([a-z0-9_]+),.*/hal_\1/p' $(ls "$include"/hal/tables/*.def | grep -v /all.def); } | sort)
exported=$(sed -E 's/^T (.*)@@.*/\1/' <<<"$symbols" | sort)
if ! difference=$(diff <(echo "$declared") <(echo "$exported")); then
    echo "declared (<) and exported (>) differ:"
    echo "$difference"
    exit 1
fi
echo "$(wc -l <<<"$exported") functions exported"
