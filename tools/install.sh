#!/usr/bin/env bash
# Installs what building and testing needs on Debian 12; safe to repeat. As root, or as a user with sudo.
set -euo pipefail

packages=(
  # build
  g++ cmake ninja-build ccache clang-14
  # libraries of the loader, the tools and the tests
  libboost-dev nlohmann-json3-dev libvalijson-dev libspdlog-dev libfmt-dev libcli11-dev libssl-dev libtomlplusplus-dev
  libkainjow-mustache-dev catch2
  # kernels of the CPU back end
  libdnnl-dev
  # collectives across hosts, and the network namespaces of their test
  libgloo-dev iproute2
  # looks at the checker's page in a test
  chromium
  # peers that hal-bench runs beside us
  ocl-icd-opencl-dev pocl-opencl-icd libclblast-dev valgrind
  libopenmpi-dev openmpi-bin
)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "install: everything is there"
  exit 0
fi

sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "install: ${missing[*]} are missing; run this as root or install sudo" >&2; exit 1; }
  sudo=(sudo)
fi
echo "install: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${sudo[@]}" apt-get update && "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
       apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -20 "$log" >&2
  echo "install: apt-get failed (last lines above)" >&2
  exit 1
fi
