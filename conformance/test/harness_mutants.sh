#!/usr/bin/env bash
# harness_mutants.sh SOURCE_DIR WORK_DIR [NAME]: builds the checker's own tests in a copy of the sources, then again with each
# fault of harness_mutants.txt (or the one called NAME), and fails if the tests of a faulty checker pass.
set -euo pipefail
source_dir=$1
work=$2
only=${3:-}
list=$source_dir/conformance/test/harness_mutants.txt

mkdir -p "$work/source"
tar -C "$source_dir" --exclude=./build --exclude=./.git -cf - . | tar -C "$work/source" -xf -
cmake -S "$work/source" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DHAL_BENCH=OFF \
  -DCMAKE_CXX_FLAGS=-w >"$work/configure.log"

programs=$(sed -n 's/^test //p' "$list" | sort -u)
build() { ninja -C "$work/build" $programs hal_skeleton >"$work/build.log" 2>&1; }
build || { cat "$work/build.log"; echo "harness_mutants: the tests do not build without a fault"; exit 1; }
declare -A limit  # seconds for each program, by what it takes without a fault: a checker that hangs is noticed too
for program in $programs; do
  SECONDS=0
  timeout 900 "$work/build/bin/$program" >"$work/test.log" 2>&1 ||
    { cat "$work/test.log"; echo "harness_mutants: $program fails without a fault"; exit 1; }
  limit[$program]=$((30 + 4 * SECONDS))
done

replace='BEGIN { ($from, $to) = (shift, shift) } $count += s/\Q$from\E/$to/g; END { exit($count != 1) }'
tried=0
survived=()
try() {
  local target=$work/source/conformance/$file
  cp -p "$target" "$work/original"
  if ! perl -0777 -i -pe "$replace" -- "$from" "$to" "$target"; then
    cp -p "$work/original" "$target"
    echo "harness_mutants: $name: its text is not in $file exactly once: $from"
    exit 1
  fi
  touch "$target"
  local outcome=caught
  if ! ninja -C "$work/build" "$program" >"$work/build.log" 2>&1; then
    cat "$work/build.log"
    echo "harness_mutants: $name does not build"
    exit 1
  fi
  ! timeout -s KILL "${limit[$program]}" "$work/build/bin/$program" >"$work/test.log" 2>&1 || outcome=SURVIVED
  printf '%-10s %s\n' "$outcome" "$name"
  [ $outcome = caught ] || survived+=("$name")
  tried=$((tried + 1))
  cp "$work/original" "$target"
  touch "$target"
}

while IFS= read -r line; do
  case $line in
    'mutant '*) name=${line#mutant } ;;
    'test '*) program=${line#test } ;;
    'file '*) file=${line#file } ;;
    -*) from=${line#-} ;;
    +*) to=${line#+}; [ -n "$only" ] && [ "$only" != "$name" ] || try ;;
  esac
done <"$list"
echo "harness_mutants: $((tried - ${#survived[@]})) of $tried faults of the checker caught"
[ ${#survived[@]} -eq 0 ] && [ $tried -gt 0 ]
