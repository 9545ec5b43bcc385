#!/usr/bin/env bash
# hosts.sh CHECKER MANIFEST [OPTION...]: table 10 with ranks on several hosts, which are network namespaces, and a link that
# is cut in the middle. Hosts have two networks: the checker's own words go by one, which stays; the collectives by the other.
# Everything is made in namespaces of this script, so nothing is left of it. 77: no right to make them.
set -euo pipefail

cannot() {
  echo "hosts: skipped: $*"
  exit 77
}

PATH=$PATH:/usr/sbin:/sbin
if [ "${HOSTS_INSIDE:-}" = "" ]; then
  command -v ip >/dev/null || cannot "there is no ip; install iproute2"
  user=$([ "$(id -u)" = 0 ] || echo -Ur)
  # shellcheck disable=SC2086
  unshare $user -mn true 2>/dev/null || cannot "no right to make network namespaces"
  # shellcheck disable=SC2086
  HOSTS_INSIDE=1 exec unshare $user -mn "$0" "$@"
fi

checker=$1 manifest=$2
shift 2
options=("$@")
hosts="a b c"
declare -A number=([a]=1 [b]=2 [c]=3)
mount -t tmpfs none /run || cannot "no right to mount"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

make_network() {  # NAME PREFIX
  ip link add "$1" type veth 2>/dev/null && ip link del "$1" || cannot "the kernel has no virtual devices"
  ip link add "$1" type bridge || cannot "the kernel has no bridge"
  ip link set "$1" up
  for host in $hosts; do
    ip link add "$1-$host" type veth peer name "$1" netns "host-$host"
    ip link set "$1-$host" master "$1" up
    ip -n "host-$host" addr add "$2.${number[$host]}/24" dev "$1"
    ip -n "host-$host" link set "$1" up
  done
}

for host in $hosts; do
  ip netns add "host-$host" && ip netns exec "host-$host" true || cannot "no right to make and enter named networks"
  ip -n "host-$host" link set lo up
done
make_network words 10.76.0
make_network data 10.77.0

port=29600
# The host of each rank, and what the checker shall do. Rank 0's report is in $out/0.
launch() {
  local rank=0 host pids=() failed=0
  local -A locals=()
  local spec=$1
  shift
  port=$((port + 1))
  for host in $spec; do
    MASTER_ADDR=10.76.0.${number[${spec%% *}]} MASTER_PORT=$port HAL_CONFORMANCE_TOKEN=$$ \
      WORLD_SIZE=$(wc -w <<<"$spec") RANK=$rank LOCAL_RANK=${locals[$host]:-0} \
      ip netns exec "host-$host" "$checker" xccl --ranks-from-env --manifest "$manifest" --quiet \
      --option devices=2 --option memory=256m --option "xccl_interface=10.77.0.${number[$host]}" "${options[@]}" "$@" \
      >"$out/$rank" 2>&1 &
    pids+=($!)
    locals[$host]=$((${locals[$host]:-0} + 1))
    rank=$((rank + 1))
  done
  for pid in "${pids[@]}"; do
    wait "$pid" || failed=1
  done
  return "$failed"
}

expect_pass() {
  echo "ranks on hosts $1:"
  if ! launch "$@"; then
    cat "$out/0"
    exit 1
  fi
  tail -1 "$out/0"
}

expect_pass "a b" --quick
expect_pass "a b a"
expect_pass "a a b b"
expect_pass "a b c a b"

received() { # Bytes of the collectives that host b has got.
  ip netns exec host-b cat /sys/class/net/data/statistics/rx_bytes 2>/dev/null ||
    ip -n host-b -s -j link show data | grep -o '"rx":{"bytes":[0-9]*' | grep -o '[0-9]*$'
}

echo "a link that is cut in the middle:"
begin=$(received)
launch "a b" --option xccl_timeout_ms=3000 --filter '*.stress.random_traffic*' &
traffic=$!
while [ $(($(received) - begin)) -lt 2000000 ] && kill -0 $traffic; do
  sleep 0.01 # there is nothing to wait for that would say it
done
ip -n host-b link set data down
since=$SECONDS
if wait $traffic; then
  echo "the cut was not noticed"
  exit 1
fi
took=$((SECONDS - since))
cat "$out/0"
grep -q -e HAL_ERROR_TIMEOUT -e HAL_ERROR_REMOTE "$out/0"
if grep -q -e HANG -e CRASH "$out/0" || [ $took -gt 60 ]; then
  exit 1
fi
echo "noticed: all ranks ended $took s after the cut"
