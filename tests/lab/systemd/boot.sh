#!/usr/bin/env bash
# Boots a bare Debian in a container, installs pi-mcp there by setup.sh --systemd as a user would, and looks at what the
# units do, before and after a reboot, and what comes over ssh (inside.py). As root; takes two to three minutes.
#
#   tests/lab/systemd/boot.sh [--test] [SUITE]
#
#   SUITE     a release of Debian (default: trixie, what Raspberry Pi OS is made from)
#   --test    before that, run setup.sh and its tests there with nothing in the environment: some minutes more
#
# Where this machine cannot boot a container it says why, and the exit status is 0. That is found out before there is
# anything of pi-mcp in the container: whatever fails from then on is a failure.
#
# Variables: ROOT     keep the bare Debian in this folder, and start from it the next time
#            MIRROR   where its packages come from (default: where apt has its own, else http://deb.debian.org/debian)
#            SKIPPED_TO   with --test: the tests that skipped there are written into this file, a line for each
set -euo pipefail

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
packages=systemd,systemd-sysv,dbus,python3,python3-venv,git,ca-certificates,sudo,openssh-server,openssh-client
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
passed=()
binds=()
state='it does not answer'
probe='python3 -m venv probe && probe/bin/pip download -q --no-deps -d probe pip && rm -r probe'

skip() { printf 'skipped: %s\n' "$*"; [ -z "${work:-}" ] || : >"$work/ended"; exit 0; }
fail() { printf 'boot.sh: %s\n' "$*" >&2; exit 1; }

# In namespaces of its own, so that with their first process all others end, and all mounts are gone.
main() {
  if [ "${1:-}" = --unshared ]; then
    run "${@:2}"
    : >"$work/ended"
    return
  fi
  local first=
  [ "${1:-}" != --test ] || { first=$1; shift; }
  look_at_machine
  work=$(mktemp -d -p "${TMPDIR:-/var/tmp}" pi-mcp-XXXXXX)
  trap clean_up EXIT
  mknod "$work/null" c 1 3 || skip "there can be no device nodes in $work; TMPDIR names another place"
  : >"$work/null" || skip "device nodes do not work in $work; TMPDIR names another place"
  setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc \
    "$project/tests/lab/systemd/boot.sh" --unshared "${1:-trixie}" "$work" "$first" &
  unshared=$!
  wait "$unshared"
  [ -e "$work/ended" ] || fail "the container was gone before all was checked"
}

look_at_machine() {
  [ "$(id -u)" -eq 0 ] || skip "only root can boot a container"
  local program
  for program in debootstrap systemd-nspawn unshare setpriv wget gpgv; do
    command -v "$program" >/dev/null || skip "$program is missing (packages debootstrap and systemd-container)"
  done
  unshare --mount --pid --fork --mount-proc true || skip "this machine gives no namespaces"
}

clean_up() {
  local first
  first=$(cat "/proc/${unshared:-none}/task/${unshared:-none}/children" 2>/dev/null) || true
  kill -KILL "${first:-${unshared:-}}" 2>/dev/null || true
  wait || true
  rm -rf --one-file-system "$work"
  remove_control_groups
}

# nspawn makes two below the group of whoever starts it, and leaves them there.
remove_control_groups() {
  local path mount name
  for path in $(sed -n 's/^0::\///p; s/^[0-9]*:name=systemd:\///p' /proc/self/cgroup | sort -u) ''; do
    for mount in /sys/fs/cgroup /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
      for name in payload supervisor; do
        find "$mount/$path/$name" -depth -type d -exec rmdir {} + 2>/dev/null || true
      done
    done
  done
}

# run SUITE WORK [--test]
run() {
  suite=$1
  work=$2
  root=$work/root
  mkdir -p /run/systemd/nspawn
  mount -t tmpfs tmpfs /run/systemd/nspawn  # its locks too end with it
  install_debian
  add_user
  let_pip_through
  add_upstreams
  boot || skip "systemd does not boot in a container here: $state $(tail -n 3 "$work/console")"
  inside su -w "$(names)" - pi -c "$probe" >"$work/log" 2>&1 || skip "pip reaches no index: $(tail -n 5 "$work/log")"
  [ "${3:-}" != --test ] || test_as_a_stranger
  try "cd pi-mcp && ./setup.sh --systemd"
  try "python3 pi-mcp/tests/lab/systemd/inside.py installed"
  power_off
  boot --private-network || fail "with pi-mcp in it the container does not boot: $state $(tail -n 3 "$work/console")"
  try "python3 pi-mcp/tests/lab/systemd/inside.py rebooted"
}

# setup.sh and its default tests, in a clone that is gone afterwards.
test_as_a_stranger() {
  try 'git clone -q /srv/pi-mcp new/pi-mcp'
  try "cd new/pi-mcp && env -i HOME=\$HOME PATH=/usr/local/bin:/usr/bin:/bin SKIPPED_TO=\$HOME/skipped \
    sh -c './setup.sh && ./setup.sh test -rs'"
  [ -z "${SKIPPED_TO:-}" ] || cp "$root/home/pi/skipped" "$SKIPPED_TO"
  try 'rm -rf new'
}

install_debian() {
  local kept=${ROOT:+$ROOT/$suite}
  if [ -n "$kept" ] && [ -d "$kept" ]; then
    cp -a --reflink=auto "$kept" "$root"
    return
  fi
  find_mirror
  debootstrap --force-check-gpg --keyring="$keyring" --variant=minbase --include="$packages" \
    "$suite" "$root" "$mirror" >"$work/log" 2>&1 || skip "debootstrap: $(tail -n 5 "$work/log")"
  if [ -n "$kept" ]; then
    mkdir -p "$ROOT"
    rm -rf --one-file-system "$kept.new"
    cp -ax --reflink=auto "$root" "$kept.new"
    mv "$kept.new" "$kept"
  fi
}

# Asked by wget, as debootstrap will: what one reaches, the other does.
find_mirror() {
  local candidates=("${MIRROR:-}")
  if [ -z "${MIRROR:-}" ]; then
    mapfile -t candidates < <(apt-get indextargets --format "\$(SITE)" 2>/dev/null | sort -u)
    candidates+=(http://deb.debian.org/debian)
  fi
  use_proxy_of_apt
  for mirror in "${candidates[@]}"; do
    wget -q -T 15 -t 2 -O "$work/release" "$mirror/dists/$suite/InRelease" || continue
    gpgv -q --keyring "$keyring" "$work/release" 2>/dev/null && return
  done
  skip "no mirror of Debian $suite is within reach whose key is in $keyring"
}

use_proxy_of_apt() {
  local proxy
  proxy=$(apt-config dump --format '%v' Acquire::http::Proxy 2>/dev/null) || true
  case ${http_proxy:-$proxy} in '' | DIRECT) ;; *) export http_proxy=${http_proxy:-$proxy} ;; esac
}

add_user() {
  chroot "$root" useradd -m -s /bin/bash pi
  echo 'pi ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/pi"
  echo raspberrypi >"$root/etc/hostname"
  echo '127.0.0.1 localhost raspberrypi raspberrypi.local' >"$root/etc/hosts"
  chroot "$root" systemctl -q disable ssh  # until the container has a network of its own
}

# pip reaches its index there as it does here.
let_pip_through() {
  local one file own=${XDG_CONFIG_HOME:-${HOME:-/root}/.config}/pip/pip.conf
  while IFS= read -r -d '' one; do
    case $one in PIP_*=* | SSL_CERT_FILE=* | REQUESTS_CA_BUNDLE=* | *_proxy=* | *_PROXY=*) passed+=("$one") ;; esac
  done < <(env -0)
  for file in /etc/pip.conf /etc/ssl/certs/ca-certificates.crt "${PIP_CERT:-}" "${SSL_CERT_FILE:-}" \
    "${REQUESTS_CA_BUNDLE:-}"; do
    [ ! -f "$file" ] || install -D -m 644 "$file" "$root$file"
  done
  [ ! -f "$own" ] || install -D -m 644 "$own" "$root/home/pi/.config/pip/pip.conf"
  while read -r file; do
    [ ! -d "$file" ] || binds+=("--bind-ro=$(dirname "$file")")  # an index's pages may name files beside them
  done < <({ printf '%s\n' "${passed[@]}"; cat /etc/pip.conf "$own" 2>/dev/null; } | local_indexes)
}

# The folders in pip's settings that stand for an index.
local_indexes() {
  sed -En '/(find.links|index.url) *=/I { s/^[^=]*=//; s/[[:space:]]+/\n/g; p }' | sed -En 's/^(file:\/\/)?\//\//p'
}

# The project, cloned by the user from an upstream that can have news, and the documentation's upstream.
add_upstreams() {
  mkdir -p "$root/srv/pi-mcp" "$root/home/pi/.config/pi-mcp"
  (cd "$project" && git -c safe.directory="$project" ls-files -z | tar -c --null -T -) | tar -x -C "$root/srv/pi-mcp"
  echo 'KLIPPER_DOCS_URL=file:///srv/klipper' >"$root/home/pi/.config/pi-mcp/env"
  chroot "$root" chown -R pi: /srv /home/pi
  chroot --userspec=pi:pi "$root" env -i HOME=/home/pi PATH=/usr/bin:/bin sh -euc '
    cd /srv/pi-mcp
    git config --global user.name pi
    git config --global user.email pi@example.org
    git init -q -b main
    git add -A
    git commit -qm one
    git clone -q /srv/pi-mcp ~/pi-mcp
    python3 -c "from pathlib import Path; from tests.klipper.upstreams import Upstream; Upstream(Path(\"/srv/klipper\"))"'
}

# boot [OPTIONS OF THE CONTAINER]
boot() {
  systemd-nspawn -q -D "$root" -M "${work##*/}" --register=no --keep-unit --console=pipe -b \
    "${binds[@]}" "$@" </dev/null >"$work/console" 2>&1 &
  container=$!
  for _ in $(seq 300); do
    manager=$(cat "/proc/$container/task/$container/children" 2>/dev/null) || return 1
    manager=${manager%% *}
    # Before that it is nspawn's own process, still among the files of this machine.
    if [ "$(cat "/proc/${manager:-none}/comm" 2>/dev/null)" = systemd ]; then
      state=$(inside systemctl is-system-running 2>/dev/null) || true
      case $state in running | degraded) return ;; esac
    fi
    sleep 0.2
  done
  return 1
}

power_off() {
  inside systemctl poweroff
  wait "$container" || true
}

inside() {
  nsenter -t "$manager" -m -u -i -n -p -C -r -w env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "${passed[@]}" "$@"
}

# Of the variables that are passed on.
names() {
  (IFS=, && echo "${passed[*]%%=*},")
}

# A command of the user, who is not logged in otherwise.
try() {
  inside su -w "$(names)" - pi -c "$1" && return
  inside journalctl --no-pager -q -n 60 -u 'pi-mcp*' >&2
  fail "failed: $1"
}

main "$@"
