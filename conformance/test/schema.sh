#!/usr/bin/env bash
# schema.sh WRITE_FIXTURE WORK_DIR CHECK_JSON SCHEMA: a report with every verdict is valid, and a damaged one is not.
set -euo pipefail
write_fixture=$1 work=$2 check=$3 schema=$4
mkdir -p "$work"
"$write_fixture" "$work/report"
"$check" "$schema" "$work/report/report.json"
sed 's/"verdict": "CRASH"/"verdict": "BROKEN"/' "$work/report/report.json" >"$work/damaged.json"
if "$check" "$schema" "$work/damaged.json" 2>/dev/null; then
  echo "schema: a verdict that is none was accepted" >&2
  exit 1
fi
