#!/usr/bin/env bash
# report.sh HAL_CONFORMANCE MANIFEST WORK_DIR: the commands on reports, on real runs of a back end that is good.
set -euo pipefail
program=$1
manifest=$2
work=$3
rm -rf "$work"
mkdir -p "$work"
fail() { echo "report: $*" >&2; exit 1; }
# expect STATUS WORDS...: runs the program; what it says is in $work/said.
expect() {
  local wanted=$1 status=0
  shift
  "$program" "$@" >"$work/said" 2>&1 || status=$?
  [ "$status" -eq "$wanted" ] || { cat "$work/said" >&2; fail "$*: exit $status instead of $wanted"; }
}
says() { grep -qF -- "$1" "$work/said" || { cat "$work/said" >&2; fail "does not say: $1"; }; }

expect 0 run --manifest "$manifest" --filter '45079.T1.*' --quiet --out "$work/a"
says 'PARTIAL RUN'
for file in events.jsonl report.json junit.xml report.html report.md SHA256SUMS; do
  [ -s "$work/a/$file" ] || fail "the run left no $file"
done
(cd "$work/a" && sha256sum --quiet -c SHA256SUMS) || fail "SHA256SUMS is not what sha256sum reads"
expect 0 verify "$work/a"
says 'is what its log says'

expect 0 report "$work/a" --format json,tap --lang zh
says '获取设备名称'
[ ! -e "$work/a/report.html" ] || fail "report left a file that was not asked for"
expect 0 verify "$work/a"
expect 0 diff "$work/a" "$work/a"
says '0 regressions'

# An edit, as it is and with new sums.
sed -i 's/"checks_ok":[0-9]*/"checks_ok":0/' "$work/a/events.jsonl"
expect 29 verify "$work/a"
says 'events.jsonl is not the file'
(cd "$work/a" && find . -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum >SHA256SUMS)
expect 30 verify "$work/a"
says 'and the log gives HARNESS_ERROR'
expect 6 report "$work/a"
truncate -s -30 "$work/a/events.jsonl"
expect 20 verify "$work/a"
expect 2 report "$work/a"

# Shards of one run join to the whole of it.
for shard in 1 2 3; do
  expect 0 run --manifest "$manifest" --filter '45079.T4.*' --shard $shard/3 --quiet --out "$work/s$shard"
done
expect 0 merge "$work/s1" "$work/s2" "$work/s3" --out "$work/joined"
expect 0 verify "$work/joined"
expect 2 merge "$work/s1" "$work/s3" --out "$work/half"
says 'shard 2 of 3 is missing'

expect 2 waive "$work/joined" 45079.T4.record_event.sig.present
says 'nothing to waive'
printf 'skip = ["45079.*"]\n' >"$work/bad.toml"
expect 2 run --manifest "$manifest" --filter '45079.T4.*' --waivers "$work/bad.toml"
says '[[waiver]] and nothing else'
expect 0 show 45079.T4.record_event.sig.present
says '45079/T4.3  设备执行流上记录事件'
expect 4 show 45079.T4.record_event.sig.presnt
says '45079.T4.record_event.sig.present'
echo "report: report, verify, diff, merge, waive and show do what they say"
