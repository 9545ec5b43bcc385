#!/usr/bin/env bash
# Installs what is needed, builds, shows every back end that the loader finds and runs a short benchmark beside its peers.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/install.sh
tools/build.sh release
export HAL_ADD_BACKEND_FILES=$PWD/build/release/share/hal/backends.d
echo "run: back ends and devices (hal-info)"
build/release/bin/hal-info
echo "run: short benchmark (hal-bench --quick)"
build/release/bin/hal-bench --quick
