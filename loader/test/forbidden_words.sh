#!/bin/bash
# Habits that the loader's sources keep: one reading of the environment, no std::regex (it recurses over its input), and no
# image is ever closed. Usage: forbidden_words.sh DIRECTORY
set -euo pipefail
failed=0
check() { # pattern, reason, file that may
    local hits
    hits=$(grep -nE "$1" -r "$2" --include='*.cpp' --include='*.hpp' | grep -vE '^[^:]*:[0-9]+: *//' | grep -v "/${4:-nothing}:" || true)
    if [ -n "$hits" ]; then
        echo "$3:"
        echo "$hits"
        failed=1
    fi
}
check '\b(secure_)?getenv\b|\benviron\b' "$1" "the environment is read in environment.cpp only" environment.cpp
check 'std::regex|<regex>' "$1" "std::regex overflows the stack on long input"
check '\bdlclose\b' "$1" "images stay mapped"
check '\batexit\b|pthread_atfork' "$1" "nothing runs at exit or fork"
exit $failed
