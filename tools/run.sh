#!/usr/bin/env bash
# Installs what is needed, builds, shows every back end that the loader finds, runs a short benchmark beside its peers, and ends
# with the conformance checker's verdict on each back end; the reports are left in build/reports.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/install.sh
tools/build.sh release
export HAL_ADD_BACKEND_FILES=$PWD/build/release/share/hal/backends.d
echo "run: back ends and devices (hal-info)"
build/release/bin/hal-info
echo "run: short benchmark (hal-bench --quick)"
build/release/bin/hal-bench --quick
status=0
# check NAME MANIFEST [OPTION]...
check() {
  local name=$1 manifest=$2
  shift 2
  echo "run: conformance of $name (hal-conformance run --quick; the whole: without --quick)"
  rm -rf "build/reports/$name"
  build/release/bin/hal-conformance run --manifest "$manifest" --option memory=256m "$@" --quick \
    --out "build/reports/$name" || status=$?
}
for manifest in "$HAL_ADD_BACKEND_FILES"/*.json; do
  name=$(basename "$manifest" .json)
  case $name in
    *-opencl)  # each device twice, so that there are contexts to copy and wait between
      check "$name-svm" "$manifest" --option repeat=2 --option memory_mode=svm
      check "$name-buffer" "$manifest" --option repeat=2 --option memory_mode=buffer ;;
    *) check "$name" "$manifest" --option devices=2 ;;
  esac
done
exit $status
