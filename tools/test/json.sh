#!/bin/bash
# json.sh CHECKER SCHEMA COMMAND...: is what COMMAND prints valid by SCHEMA? EXPECTED_EXIT is the exit code of COMMAND, 0 if unset.
set -euo pipefail
checker=$1 schema=$2
shift 2
output=$(mktemp)
trap 'rm -f "$output"' EXIT
code=0
"$@" > "$output" || code=$?
if [ "$code" -ne "${EXPECTED_EXIT:-0}" ]; then
    echo "$*: exit code $code instead of ${EXPECTED_EXIT:-0}" >&2
    exit 1
fi
"$checker" "$schema" "$output"
