#!/usr/bin/env bash
# package.sh SOURCE BUILD GENERATOR C_FLAGS: installs BUILD to a temporary prefix, then is a vendor and a framework that know
# only that prefix. A copy of the skeleton and a back end of tools/new-backend are built, checked, listed and called, and no
# installed file changes. C_FLAGS are for the framework, which links the loader (sanitizers).
set -euo pipefail
source_dir=$1 build_dir=$2 generator=$3 c_flags=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

step() { echo "package: $*"; }
quietly() { "$@" > "$work/log" 2>&1 || { cat "$work/log"; echo "package: failed: $*" >&2; exit 1; }; }
build() { # FOLDER [cmake options]
    quietly cmake -G "$generator" -S "$1" -B "$1/build" -DCMAKE_PREFIX_PATH="$prefix" "${@:2}"
    quietly cmake --build "$1/build"
}
fingerprint() { (cd "$prefix" && find . -type f -exec sha256sum {} + | sort); }
# FOLDER ID: its manifest passes, it is listed from there, and a framework calls it.
use() {
    export HAL_BACKEND_FILES=$1
    "$prefix/bin/hal-info" --check "$1/50-$2.json" > "$work/check"
    "$prefix/bin/hal-info" > "$work/list"
    grep -q "^$2  READY" "$work/list"
    grep -q "#0  $2:0" "$work/list"
    "$work/framework/build/call" "$2"
}

step "install"
quietly cmake --install "$build_dir" --prefix "$prefix"
installed=$(fingerprint)
cp -r "$source_dir/tools/test/package" "$work/framework"
build "$work/framework" -DCMAKE_C_FLAGS="$c_flags"

step "the skeleton, copied and unchanged"
cp -r "$source_dir/backends/skeleton" "$work/skeleton"
build "$work/skeleton"
diff -r --exclude=build "$source_dir/backends/skeleton" "$work/skeleton"
use "$work/skeleton/build/share/hal/backends.d" skeleton

step "a back end made by new-backend, installed to a prefix of its own"
"$source_dir/tools/new-backend" acme.npu-2 "$work/acme" > "$work/said"
build "$work/acme"
quietly cmake --install "$work/acme/build" --prefix "$work/acme-prefix"
rm -r "$work/acme/build"
use "$work/acme-prefix/share/hal/backends.d" acme.npu-2

step "bad names are refused"
for bad in Acme 9acme "acme npu" "" "$(printf 'a%.0s' {1..65})" skeleton; do
    if "$source_dir/tools/new-backend" "$bad" "$work/bad" 2> "$work/said" || [ -e "$work/bad" ]; then
        echo "package: new-backend took the name '$bad'" >&2
        exit 1
    fi
done
if "$source_dir/tools/new-backend" acme.tpu "$work/acme" 2> "$work/said"; then
    echo "package: new-backend wrote into a folder that existed" >&2
    exit 1
fi

[ "$installed" = "$(fingerprint)" ] || { echo "package: an installed file has changed" >&2; exit 1; }
step "done"
