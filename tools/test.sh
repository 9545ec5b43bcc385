#!/usr/bin/env bash
# tools/test.sh [PRESET...]: installs what is needed, builds and runs all tests of each preset.
# Without arguments: release, then asan and tsan, which is what a change must pass.
set -euo pipefail
cd "$(dirname "$0")/.."
presets=("$@")
[ ${#presets[@]} -gt 0 ] || presets=(release asan tsan)
tools/install.sh
for preset in "${presets[@]}"; do
  tools/build.sh "$preset"
  echo "test: preset $preset"
  ctest --preset "$preset" -j "$(nproc)"
done
