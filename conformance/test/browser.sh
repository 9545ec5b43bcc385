#!/usr/bin/env bash
# browser.sh WRITE_FIXTURE WORK_DIR: opens the HTML report in a headless browser. Exit 77 (skipped) if there is none.
set -euo pipefail
write_fixture=$1
work=$2
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
  echo "browser: skipped, no chromium here (apt-get install chromium)"
  exit 77
fi
mkdir -p "$work"
"$write_fixture" "$work/report"
fail() { echo "browser: $*" >&2; exit 1; }

# HOME, so that nothing is read from or written to the user's own profile.
look() {
  env HOME="$work/home" timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
    --user-data-dir="$work/profile" --virtual-time-budget=2000 "$@" 2>"$work/browser.log" || {
    tail -5 "$work/browser.log" >&2
    fail "the browser failed: $*"
  }
}
page=file://$work/report/report.html

for language in zh en; do
  look --dump-dom "$page?lang=$language" >"$work/$language.html"
  grep -q "<html lang=\"$language\"" "$work/$language.html" || fail "the script did not switch the page to $language"
  cells=$(grep -o 'data-row="T' "$work/$language.html" | wc -l)
  [ "$cells" -eq 74 ] || fail "$cells cells in the grid instead of 74"
  look --window-size=1400,1000 --screenshot="$work/$language.png" "$page?lang=$language" >"$work/screenshot.log"
  # A blank page of this size is a few kilobytes.
  size=$(stat -c %s "$work/$language.png")
  [ "$size" -gt 60000 ] || fail "the picture in $language has $size bytes: it is blank"
done
cmp -s "$work/zh.png" "$work/en.png" && fail "both languages give the same picture"
# What the plug-in wrote is text, not an element.
grep -q '<script>alert' "$work/en.html" && fail "text of the plug-in became a script"
look --dump-dom "$page?lang=en#T2.7" >"$work/target.html"
grep -q '<details class="row" id="T2.7" open' "$work/target.html" || fail "a cell does not open its row"
echo "browser: 74 cells, both languages, pictures in $work"
