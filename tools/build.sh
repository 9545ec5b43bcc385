#!/usr/bin/env bash
# tools/build.sh PRESET: configures and builds one preset of CMakePresets.json; the output is shown only when it fails.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?usage: tools/build.sh PRESET (dev, release, asan, tsan, ci)}

mkdir -p build
log=build/$preset.log
echo "build: preset $preset (log: $log)"
if ! { cmake --preset "$preset" && cmake --build --preset "$preset" -j "$(nproc)"; } >"$log" 2>&1; then
  grep -nE 'error|Error|FAILED' "$log" | head -20 >&2
  tail -30 "$log" >&2
  echo "build: preset $preset failed" >&2
  exit 1
fi
