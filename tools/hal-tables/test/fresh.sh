#!/bin/bash
# fresh.sh TOOL OPTION FILE: is FILE what `TOOL OPTION` prints?
set -euo pipefail
if ! "$1" "$2" | diff -u "$3" -; then
    echo "$3 is stale. Refresh it with: $1 $2 > $3" >&2
    exit 1
fi
