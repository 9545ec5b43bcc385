#!/bin/sh
# make_files.sh <plug-in> <folder> <machine>: files that a loader must refuse.
set -eu
cp "$1" "$2/wrong_arch.so"
printf "$3" | dd of="$2/wrong_arch.so" bs=1 seek=18 conv=notrunc status=none  # e_machine of the ELF header
head -c 5000 "$1" > "$2/truncated.so"
echo "a text, as a failed download leaves it" > "$2/no_elf.so"
