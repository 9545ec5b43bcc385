#!/usr/bin/env bash
# info.sh HAL_INFO CHECK_JSON SCHEMA SKELETON_MANIFEST: every command of hal-info on a folder with one good back end and broken
# ones of each kind, and on an empty folder.
set -euo pipefail
info=$1 check_json=$2 schema=$3 good=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset "${!HAL_@}" # the caller's own settings do not belong here

failures=0
# expect CODE TEXT... -- COMMAND...: the exit code, and every TEXT somewhere in the output; "!TEXT" nowhere.
expect() {
    local wanted=$1 texts=() code=0
    shift
    while [ "$1" != -- ]; do texts+=("$1") && shift; done
    shift
    "$@" > "$work/out" 2>&1 || code=$?
    local bad=""
    [ "$code" -eq "$wanted" ] || bad="exit code $code instead of $wanted"
    for text in "${texts[@]}"; do
        if [ "${text#!}" != "$text" ]; then
            ! grep -qF -- "${text#!}" "$work/out" || bad+="; has '${text#!}'"
        else
            grep -qF -- "$text" "$work/out" || bad+="; lacks '$text'"
        fi
    done
    if [ -n "$bad" ]; then
        failures=$((failures + 1))
        { echo "FAILED: $*: ${bad#; }" && sed 's/^/    /' "$work/out"; } >&2
    fi
}

library=$(cd "$(dirname "$good")/../../../lib"*/hal && pwd)/libhal_skeleton.so
manifest() { # FILE ID LIBRARY [NAME]
    printf '{"schema_version": "1.0", "backend": {"id": "%s", "name": "%s", "library_path": "%s",
 "abi": {"min": "1.0", "max": "1.0"}}}\n' "$2" "${4:-}" "$3" > "$1"
}
folder=$work/backends.d
mkdir "$folder" "$work/empty"
manifest "$folder/10-good.json" skeleton "$library" 'Odd\u001b[31m name'
manifest "$folder/20-missing.json" missing.lib ./none.so
printf '{"schema_version": ' > "$folder/30-broken.json"
printf 'no library' > "$work/text.so" && manifest "$folder/40-text.json" text.lib "$work/text.so"
manifest "$folder/50-again.json" skeleton "$library"
export HAL_BACKEND_FILES=$folder

# Summary: the device, and every candidate with state, code, cause and next step.
expect 0 "#0  skeleton:0" "skeleton  READY" "devices   1" "missing.lib  LIBRARY_NOT_FOUND L020" "none.so" "30-broken.json" \
    "MANIFEST_INVALID L011" "text.lib  LIBRARY_DAMAGED" "skeleton  DUPLICATE L070" "next step" "Odd\x1b[31m name" "!$(printf '\033')" \
    -- "$info"
# The loader's messages only on request.
expect 0 "!WARN" -- "$info"
HAL_LOG=debug expect 0 "10-good.json" -- "$info" --verbose

expect 0 -- "$info" --json
cp "$work/out" "$work/full.json"
expect 0 -- "$check_json" "$schema" "$work/full.json"
expect 0 '"state": "READY"' '"status": "HAL_OK"' '"name": "HAL_BACKEND_FILES"' -- cat "$work/full.json"

expect 0 "$folder" "HAL_BACKEND_FILES" -- "$info" --search
HAL_BACKEND_FILE=x HAL_BACKENDS_DISABLE=none \
    expect 0 "HAL_BACKENDS_DISABLE" "unknown" "HAL_BACKEND_FILE " -- "$info" --env

# --why: by id, by file name, for what nobody knows.
expect 0 "skeleton  READY" "10-good.json" "device    #0 skeleton:0" "skeleton  DUPLICATE" "HAL_BACKEND_FILES=" \
    -- "$info" --why skeleton
expect 1 "LIBRARY_NOT_FOUND" -- "$info" --why missing.lib
expect 1 "MANIFEST_INVALID" -- "$info" --why 30-broken
expect 1 "No manifest has the id nobody. Known: skeleton" "$folder" -- "$info" --why nobody
HAL_BACKENDS_DISABLE=skel* expect 1 "FILTERED" "HAL_BACKENDS_DISABLE=skel*" -- "$info" --why skeleton

# --check: only this file, whatever the environment says.
HAL_BACKENDS_DISABLE=* expect 0 "skeleton  READY" "table   1 device" "4 of 14 native" "absent    get_device_name, " "table   4 event" \
    "absent tables 2 memory, 3 stream, " "!missing.lib" -- "$info" --check "$folder/10-good.json"
expect 1 "LIBRARY_NOT_FOUND L020" "next step" -- "$info" --check "$folder/20-missing.json"
expect 1 "MANIFEST_INVALID L011" "30-broken.json:1:" "was not opened" -- "$info" --check "$folder/30-broken.json"
expect 1 "LIBRARY_DAMAGED" -- "$info" --check "$folder/40-text.json"
expect 1 "absent.json" -- "$info" --check "$work/absent.json"
expect 1 "no manifest here" -- "$info" --check "$work/empty"

# Nothing to find.
export HAL_BACKEND_FILES=$work/empty
expect 2 "No device" -- "$info"
expect 2 '"devices": []' "HAL_ERROR_NO_BACKEND" -- "$info" --json
cp "$work/out" "$work/none.json"
expect 0 -- "$check_json" "$schema" "$work/none.json"
export HAL_BACKEND_FILES=$folder/20-missing.json
expect 2 "No device" "LIBRARY_NOT_FOUND" -- "$info"
expect 2 "HAL_ERROR_ALL_BACKENDS_FAILED" -- "$info" --json
expect 109 -- "$info" --surprise
expect 0 "--check" -- "$info" --help

# The schema can say no.
sed 's/"state": "READY"/"state": 21/' "$work/full.json" > "$work/bad.json"
expect 1 "state" -- "$check_json" "$schema" "$work/bad.json"

[ "$failures" -eq 0 ] || { echo "$failures checks failed" >&2; exit 1; }
