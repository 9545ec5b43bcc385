#!/usr/bin/env bash
# tools/test.sh [PRESET...]: installs what is needed, builds and runs all tests of each preset.
# Without arguments: release, which CI runs; asan and tsan take CI past its 25 minutes and are run by hand.
set -euo pipefail
cd "$(dirname "$0")/.."
presets=("$@")
[ ${#presets[@]} -gt 0 ] || presets=(release)
tools/install.sh
for preset in "${presets[@]}"; do
  tools/build.sh "$preset"
  echo "test: preset $preset"
  ctest --preset "$preset" -j "$(nproc)"
done
