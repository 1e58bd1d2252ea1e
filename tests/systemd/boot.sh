#!/usr/bin/env bash
# Boots a Debian in a container, installs pi-mcp there by setup.sh --systemd as a user would, and looks at what the
# units do (inside.py). Skips, with the reason, where this machine cannot do that. Takes some minutes; as root.
#
#   tests/systemd/boot.sh [SUITE]     default: trixie, what Raspberry Pi OS is made from
#
# Variables: ROOT     keep the container's files in this folder, and use what is there from the last time
#            MIRROR   where the packages come from (default: http://deb.debian.org/debian)
set -euo pipefail

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
suite=${1:-trixie}
root=${ROOT:-$(mktemp -d)}
packages=systemd,systemd-sysv,dbus,python3,python3-venv,git,ca-certificates,sudo
manager=

skip() { printf 'skipped: %s\n' "$*"; exit 0; }

main() {
  [ "$(id -u)" -eq 0 ] || skip "only root can boot a container"
  command -v debootstrap systemd-nspawn >/dev/null || skip "debootstrap or systemd-nspawn (systemd-container) is missing"
  trap clean_up EXIT
  [ -x "$root/usr/bin/git" ] || debootstrap --variant=minbase --include="$packages" "$suite" "$root" \
    "${MIRROR:-http://deb.debian.org/debian}" >/dev/null
  systemd-nspawn -q -D "$root" --register=no --keep-unit true || skip "this machine starts no container"
  prepare
  boot
  as_user "cd pi-mcp && ./setup.sh --systemd"
  as_user "python3 pi-mcp/tests/systemd/inside.py"
}

# A user with the project's files and an upstream of the documentation, as on a Pi.
prepare() {
  chroot "$root" id pi >/dev/null 2>&1 || chroot "$root" useradd -m -s /bin/bash pi
  echo 'pi ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/pi"
  printf '127.0.0.1 localhost %s\n' "$(uname -n)" >"$root/etc/hosts"
  for file in /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do  # pip reaches its index there as it does here
    [ ! -e "$file" ] || cp "$file" "$root$file"
  done
  mkdir -p "$root/home/pi/pi-mcp" "$root/home/pi/.config/pi-mcp"
  (cd "$project" && git ls-files -z | tar -c --null -T -) | tar -x -C "$root/home/pi/pi-mcp"
  echo 'KLIPPER_DOCS_URL=file:///srv/klipper' >"$root/home/pi/.config/pi-mcp/env"
  rm -rf "$root/srv/klipper" "$root/home/pi/pi-mcp/docs_repo/klipper"
  chroot "$root" sh -c 'git init -q /srv/klipper && cd /srv/klipper && mkdir docs && echo "# Bed Mesh" >docs/Bed_Mesh.md &&
    git add . && git -c user.name=t -c user.email=t@example.org commit -qm one && chown -R pi: /srv/klipper /home/pi'
}

boot() {
  systemd-nspawn -q -D "$root" --register=no --keep-unit --console=pipe -b </dev/null >/dev/null 2>&1 &
  container=$!
  local state
  for _ in $(seq 300); do
    manager=$(pgrep -P "$container" | head -n 1) || true
    if [ -n "$manager" ]; then
      state=$(inside systemctl is-system-running 2>/dev/null) || true
      case $state in running | degraded) return ;; esac
    fi
    kill -0 "$container" 2>/dev/null || break
    sleep 0.2
  done
  skip "systemd does not boot in a container here (${state:-it does not answer})"
}

inside() {
  nsenter -t "$manager" -m -u -i -p -C -r -w env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

as_user() {
  inside su - pi -c "$1"
}

clean_up() {
  if [ -n "$manager" ]; then
    inside systemctl poweroff || true
    wait "$container" || true
  fi
  [ -n "${ROOT:-}" ] || rm -rf "$root"
}

main "$@"
