#!/usr/bin/env bash
# Sets pi-mcp up on a Raspberry Pi OS or Debian machine, or any Linux with python3 (3.11 or newer), venv and git.
#
#   ./setup.sh                 everything: Python packages into .venv, the Klipper docs into docs_repo/, then a check
#   ./setup.sh --systemd       that, the resident service (sessions start at once), a daily sync of the docs and
#                              the command pi-mcp in /usr/local/bin; asks for root by sudo
#   ./setup.sh --with images   that of the first line, and Pillow, which makes large pictures small for Anki; goes with
#                              --systemd too. What was added once, all of these keep up to date
#   ./setup.sh --update        pull, install what is new, restart the service; sessions that run go on
#   ./setup.sh --uninstall     remove the service, the command and .venv; data, docs and settings stay
#   ./setup.sh test            install the test tools and run the tests
#   ./setup.sh lint            install the test tools and look at the sources
#
# Every step looks first and does only what is missing: a second run changes nothing.
#
# Variables: PYTHON       the python3 that .venv is made of (default: python3)
#            DESTDIR      --systemd and --uninstall put files below this folder, and start or stop nothing
#            KLIPPER_DOCS_URL, KLIPPER_DOCS_DIR …   as in README.md
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=$here/.venv
python=${PYTHON:-python3}
root=${DESTDIR:-}
units=(pi-mcp.socket pi-mcp.service pi-mcp-docs.service pi-mcp-docs.timer)
unit_folder=$root/etc/systemd/system
command=$root/usr/local/bin/pi-mcp

say() { printf '\033[1m==>\033[0m %s\n' "$*"; }
warn() { printf '\033[1mwarning:\033[0m %s\n' "$*" >&2; }
fail() { printf 'setup.sh: %s\n' "$*" >&2; exit 1; }

main() {
  cd "$here"
  case ${1:-} in
    '' | --systemd | --with) set_up "$@" ;;
    --update) update ;;
    --uninstall) uninstall ;;
    test) shift; need_programs; make_venv requirements.txt requirements-test.txt; run_tests "$@" ;;
    lint) need_programs; make_venv requirements.txt requirements-test.txt; look_at_sources ;;
    -h | --help | help) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" ;;
    *) unknown "$1" ;;
  esac
}

unknown() {
  printf "setup.sh: unknown word '%s' (--help shows what there is)\n" "$1" >&2
  exit 2
}

set_up() {
  local resident='' files=(requirements.txt)
  [ ! -e "$venv/requirements-images.txt" ] || files+=(requirements-images.txt)
  while [ $# -gt 0 ]; do
    case $1 in
      --systemd) need_systemd; resident=yes ;;
      --with) need_extra "${2:-}"; files+=("requirements-$2.txt"); shift ;;
      *) unknown "$1" ;;
    esac
    shift
  done
  need_programs
  make_venv "${files[@]}"
  fetch_docs
  [ -z "$resident" ] || install_units
  check
}

# git, and a Python that can make a virtual environment; Debian packs venv apart.
need_programs() {
  local missing=()
  command -v git >/dev/null || missing+=(git)
  "$python" -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)
  [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "Python 3.11 or newer is needed; $python is $("$python" -V 2>&1). Name another: PYTHON=python3.13 ./setup.sh"
}

install_packages() {
  command -v apt-get >/dev/null || fail "please install: $*"
  say "Installing $* (system packages, so as root)"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@"
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# The environment, and in it the packages of each requirements file that changed since it was last installed.
make_venv() {
  if ! "$venv/bin/python" -c '' 2>/dev/null; then
    say "Making $venv"
    "$python" -m venv --clear "$venv"
  fi
  local file
  for file in "$@"; do
    cmp -s "$file" "$venv/$file" && continue
    say "Installing the packages of $file (some minutes on a small Pi)"
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --prefer-binary -q -r "$file" ||
      fail "pip could not install $file. Is there a network? Run ./setup.sh again to go on"
    cp "$file" "$venv/$file"
  done
}

# The first clone only; later sync_docs and its timer keep the docs fresh. Without a network all else still works.
fetch_docs() {
  if "$venv/bin/python" -m tools call list_docs_map >/dev/null 2>&1; then
    return
  fi
  say "Fetching the Klipper documentation"
  "$venv/bin/python" -m tools call sync_docs >/dev/null && return
  warn "the Klipper documentation could not be fetched; everything else works. To go on, once there is a network,"
  warn "run ./setup.sh again, or call the tool sync_docs. Another source: KLIPPER_DOCS_URL=… ./setup.sh"
}

check() {
  say "Checking"
  ./server.py --check
}

need_extra() {
  [ -n "$1" ] || fail "--with what? There is: images"
  [ "$1" = images ] || fail "there is no extra '$1'; there is: images"
}

need_systemd() {
  [ -n "$root" ] || [ -d /run/systemd/system ] || fail "systemd does not run here; ./setup.sh works without it"
  [ -z "${SUDO_USER:-}" ] || fail "run this as yourself, without sudo: the service is to be yours. It asks where it needs root"
  is_plain "$here" || fail "systemd cannot start anything in $here; move it to a plain path"
}

# Whether a path means the same in a unit, in the shell and in Python, between quotes.
is_plain() {
  case $1 in *[[:space:]%@\\\"\'\$\`\;]*) return 1 ;; esac
}

# System units that run as you: they are there from boot on, whether you are logged in or not, and only the system's
# own manager can give up for them what they do not need.
install_units() {
  local unit changed=0
  umask 022
  fill_in
  for unit in "${units[@]}"; do
    install_filled "systemd/$unit" "$unit_folder/$unit" 644 && changed=1
  done
  install_filled systemd/pi-mcp "$command" 755 && changed=1
  [ -z "$root" ] || return 0
  [ "$changed" -eq 0 ] || as_root systemctl daemon-reload
  as_root systemctl enable --quiet --now pi-mcp.socket pi-mcp-docs.timer
  [ "$changed" -eq 0 ] || as_root systemctl try-restart pi-mcp.service
}

# What stands in the units between @.
fill_in() {
  user=$(id -un)
  base_python=$("$venv/bin/python" -c 'import sys; print(sys._base_executable)')
  { read -r state; read -r docs; } < <("$venv/bin/python" -c '
from tools.settings import current
now = current()
print(now.state_dir.absolute(), now.klipper_docs_dir.absolute().parent, sep="\n")')
  is_plain "$state$docs" || fail "systemd cannot let the service write to $state or $docs; name plain paths (MCP_STATE_DIR, KLIPPER_DOCS_DIR)"
  mkdir -p "$docs"
  (umask 077 && mkdir -p "$state")
}

# Install a file with its @words@ filled in; false where it is there already.
install_filled() {
  local text
  text=$(<"$1")
  text=${text//@user@/"$user"}
  text=${text//@project@/"$here"}
  text=${text//@python@/"$base_python"}
  text=${text//@state@/"$state"}
  text=${text//@docs@/"$docs"}
  cmp -s "$2" - <<<"$text" && return 1
  say "Installing $2"
  local where=(as_root)
  [ -z "$root" ] || where=()
  "${where[@]}" install -D -m "$3" /dev/stdin "$2" <<<"$text" || fail "cannot write $2"
}

# The new setup.sh goes on: what it installs may have changed too.
update() {
  say "Pulling"
  git pull --ff-only
  if [ -e "$command" ]; then ./setup.sh --systemd; else ./setup.sh; fi
  [ -z "$root" ] && [ -e "$unit_folder/pi-mcp.service" ] || return 0
  say "Restarting the service; sessions that run go on"
  as_root systemctl try-restart pi-mcp.service
}

uninstall() {
  local unit found=() remove=(as_root rm -f)
  for unit in "${units[@]}"; do
    [ ! -e "$unit_folder/$unit" ] || found+=("$unit_folder/$unit")
  done
  [ ! -e "$command" ] || found+=("$command")
  if [ -z "$root" ] && [ ${#found[@]} -gt 0 ] && [ -d /run/systemd/system ]; then
    as_root systemctl disable --quiet --now pi-mcp.socket pi-mcp-docs.timer pi-mcp.service
    as_root systemctl clean --what=state pi-mcp-docs.timer  # when it last ran
    [ ! -d /run/pi-mcp ] || as_root rmdir --ignore-fail-on-non-empty /run/pi-mcp
  fi
  [ -z "$root" ] || remove=(rm -f)
  [ ${#found[@]} -eq 0 ] || "${remove[@]}" "${found[@]}"
  [ -n "$root" ] || [ ! -d /run/systemd/system ] || as_root systemctl daemon-reload
  rm -rf "$venv"
  say "Removed. Your data is where it was (MCP_STATE_DIR, ~/.local/state/pi-mcp by default), like the settings and $here"
}

# On every processor that has a GiB of memory; a small Pi runs them one by one.
run_tests() {
  local gib workers
  gib=$(awk '/^MemAvailable/ { print int($2 / 1024 / 1024) }' /proc/meminfo)
  workers=$(nproc)
  "$venv/bin/python" -m pytest -n "$((gib < workers ? gib : workers))" --dist loadfile "$@"
}

look_at_sources() {
  "$venv/bin/ruff" check .
  "$venv/bin/ruff" format --check .
  "$venv/bin/shellcheck" setup.sh systemd/pi-mcp .ci/run tests/smoke.sh tests/systemd/boot.sh
}

main "$@"
