#!/usr/bin/env bash
# Sets pi-mcp up on Raspberry Pi OS, Debian, or any Linux with git and python3
# (3.10 or newer). A second run does only what is missing. The server itself
# needs no package: ./server.py serves as it is.
#
#   ./setup.sh                a file for settings, the Klipper docs into
#                             docs_repo/, then a check
#   ./setup.sh --systemd      that, and the resident service (sessions start at
#                             once), a daily sync and backup, and the command
#                             pi-mcp in /usr/local/bin; asks for root by sudo
#   ./setup.sh --http         serve over HTTP too, to people with a token
#                             (docs/remote.md): uvicorn into .venv, unless
#                             Debian's is there; goes with --systemd
#   ./setup.sh --with images  Pillow into .venv, which makes large pictures
#                             small for Anki; goes with the others
#   ./setup.sh --update       pull, install what is new, restart the service;
#                             sessions that run go on
#   ./setup.sh --uninstall    remove services, command, .venv and .venv-test;
#                             data, docs and settings stay
#   ./setup.sh test           test tools into .venv-test, then the tests;
#                             test --all runs those that take minutes, too
#   ./setup.sh lint           test tools, then a look at the sources
#
# What was asked for once, --http and --with images, every later run keeps.
#
# Variables: PYTHON   the python3 to use, also for clients (default: python3)
#            DESTDIR  files of --systemd go below it, and nothing is started
#            KLIPPER_DOCS_URL, KLIPPER_DOCS_DIR … as in docs/manual.md
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=$here/.venv
test_venv=$here/.venv-test
python=${PYTHON:-python3}
export HOME=${HOME:-$(cd ~ && pwd)}
root=${DESTDIR:-}
units=(pi-mcp.socket pi-mcp.service pi-mcp-docs.service pi-mcp-docs.timer pi-mcp-backup.service pi-mcp-backup.timer
  pi-mcp-notify.service pi-mcp-notify.timer)
timers=(pi-mcp-docs.timer pi-mcp-backup.timer pi-mcp-notify.timer)
http_units=(pi-mcp-http.socket pi-mcp-http.service)
unit_folder=$root/etc/systemd/system
command=$root/usr/local/bin/pi-mcp
settings_file=${XDG_CONFIG_HOME:-$HOME/.config}/pi-mcp/env
renewed=${RENEWED:-}

say() { printf '\033[1m==>\033[0m %s\n' "$*"; }
warn() { printf '\033[1mwarning:\033[0m %s\n' "$*" >&2; }
fail() { printf 'setup.sh: %s\n' "$*" >&2; exit 1; }

main() {
  cd "$here"
  case ${1:-} in
    '' | --systemd | --http | --with) set_up "$@" ;;
    --update) update ;;
    --uninstall) uninstall ;;
    test) shift; need_programs; make_test_venv; run_tests "$@" ;;
    lint) need_programs; make_test_venv; look_at_sources ;;
    -h | --help | help) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" ;;
    *) unknown "$1" ;;
  esac
}

unknown() {
  printf "setup.sh: unknown word '%s' (--help shows what there is)\n" "$1" >&2
  exit 2
}

set_up() {
  local resident='' http='' extra wanted=()
  for extra in http images; do
    [ ! -e "$venv/requirements-$extra.txt" ] || wanted+=("$extra")
  done
  while [ $# -gt 0 ]; do
    case $1 in
      --systemd) need_systemd; resident=yes ;;
      --http)
        has_uvicorn || wanted+=(http)
        if runs_systemd; then need_systemd; http=yes; else say "systemd does not run here; start it by ./server.py --http"; fi ;;
      --with) need_extra "${2:-}"; wanted+=("$2"); shift ;;
      *) unknown "$1" ;;
    esac
    shift
  done
  need_programs
  [ -z "$resident$http" ] || find_folders
  if [ ${#wanted[@]} -gt 0 ]; then
    make_venv "${wanted[@]}"
  elif [ -e "$venv" ]; then
    say "Removing $venv, which nothing needs any more"
    rm -rf "$venv"
  fi
  make_settings_file
  fetch_docs
  [ -z "$resident" ] || install_units
  [ -z "$http" ] || install_http
  restart_services
  say "Checking"
  local status=0
  "$python" ./server.py --check || status=$?
  say "Next: connect a client"
  "$python" ./server.py --connect || status=$?
  return "$status"
}

# The version is looked at first: nothing is installed for a Python that is too old.
need_programs() {
  command -v "$python" >/dev/null || fail "there is no $python here${PYTHON:+; PYTHON names it}. Debian: sudo apt-get install python3"
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    fail "Python 3.10 or newer is needed; $python is $("$python" -V 2>&1). Name another: PYTHON=python3.13 ./setup.sh"
  command -v git >/dev/null || install_packages git
}

install_packages() {
  command -v apt-get >/dev/null || fail "please install: $*"
  say "Installing $* (system packages, so as root)"
  [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null || fail "an administrator has to run: apt-get install $*"
  { as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@"; } >/dev/null ||
    fail "$* could not be installed. An administrator can: apt-get install $*"
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "this needs root, and this machine has no sudo. An administrator can run: $*"
  fi
}

# make_venv EXTRA …: the environment, and in it the packages of each requirements file that changed since it was last
# installed. One whose installation was cut, or whose Python is gone or not the one asked for, is made again.
make_venv() {
  local extra file
  if ! venv_works; then
    "$python" -c 'import venv, ensurepip' 2>/dev/null || install_packages python3-venv # Debian packs it apart
    say "Making $venv"
    "$python" -m venv --clear "$venv" || fail "$venv could not be made; the lines above say why"
  fi
  for extra in "$@"; do
    file=requirements-$extra.txt
    cmp -s "$file" "$venv/$file" && continue
    say "Installing the packages of $file (some minutes on a small Pi)"
    : >"$venv/installing"
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --prefer-binary -q -r "$file" ||
      fail "pip could not install the packages of $file; the lines above say why. Then run ./setup.sh again"
    cp "$file" "$venv/$file"
    rm "$venv/installing"
    renewed=yes
  done
}

venv_works() {
  [ ! -e "$venv/installing" ] && "$venv/bin/python" -c 'import pip' 2>/dev/null || return
  # The SDK, with two dozen packages, is from when it served over HTTP.
  [ "$venv" = "$test_venv" ] || ! compgen -G "$venv/lib/python3*/site-packages/mcp" >/dev/null || return
  [ -z "${PYTHON:-}" ] || [ "$(version_of "$venv/bin/python")" = "$(version_of "$python")" ]
}

version_of() { "$1" -c 'import sys; print(sys.version_info[:2])'; }

# Debian's python3-uvicorn serves as well, from trixie's on.
has_uvicorn() {
  "$python" -c 'import importlib.metadata as about, sys
sys.exit([int(part) for part in about.version("uvicorn").split(".")[:2]] < [0, 32])' 2>/dev/null
}

make_test_venv() {
  local venv=$test_venv
  make_venv http test
}

# The first clone only; later sync_docs and its timer keep the docs fresh. Without them all else works.
fetch_docs() {
  local answer
  if "$python" -m tools call list_docs_map >/dev/null 2>&1; then
    return
  fi
  say "Fetching the Klipper documentation"
  answer=$("$python" -m tools call sync_docs) && return
  warn "the Klipper documentation could not be fetched; everything else works."
  warn "$("$python" -c 'import json, sys; print(json.loads(sys.argv[1])["error"])' "$answer" 2>/dev/null)"
  warn "To go on, run ./setup.sh again, or call the tool sync_docs. For another source put"
  warn "KLIPPER_DOCS_URL=… into $settings_file first."
}

# Every setting as a comment, for its owner alone: some are secrets. The language holds from here on: a client's ssh
# may bring the LANG of another device.
make_settings_file() {
  local file=$settings_file language problem
  [ -e "$file" ] || problem=$(
    umask 077
    export LC_ALL=C
    { mkdir -p "${file%/*}" && "$python" -m tools settings file >"$file.new" && mv "$file.new" "$file"; } 2>&1
  ) || {
    rm -f "$file.new" 2>/dev/null || true
    [[ $problem != *'No space left'* ]] || fail "the disk is full: $file could not be made"
    warn "$file could not be made ($problem); settings may also come from the environment"
    return 0
  }
  grep -q '^#MCP_LANGUAGE=' "$file" || return 0
  language=$("$python" -c 'from tools.core.settings import current; print(current().language)')
  sed -i --follow-symlinks "s/^#MCP_LANGUAGE=.*/MCP_LANGUAGE=$language/" "$file" 2>/dev/null ||
    { warn "MCP_LANGUAGE=$language could not be written into $file"; return 0; }
  say "The texts meant for you are in: $language (MCP_LANGUAGE in $file)"
}

need_extra() {
  [ -n "$1" ] || fail "--with what? There is: images"
  [ "$1" = images ] || fail "there is no extra '$1'; there is: images"
}

runs_systemd() { [ -n "$root" ] || [ -d /run/systemd/system ]; }

need_systemd() {
  runs_systemd || fail "systemd does not run here; ./setup.sh works without it"
  [ -z "${SUDO_USER:-}" ] || fail "run this as yourself, without sudo: the service should run as you. It asks where it needs root"
  is_plain "$here" || fail "systemd cannot start anything in $here; move it to a plain path"
  [ "$(id -u)" -ne 0 ] || warn "you are root, so the services will run as root. Better: an ordinary user, and its own clone"
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
  as_root systemctl enable --quiet --now pi-mcp.socket "${timers[@]}"
  [ "$changed" -eq 0 ] || as_root systemctl try-restart pi-mcp.service
}

# Serving over HTTP: a socket and the service behind it.
install_http() {
  local unit changed=0
  umask 022
  fill_in
  http_listen=$("$python" -c 'from tools.core.settings import current; print(current().http_listen)')
  is_plain "$http_listen" || fail "systemd cannot listen at $http_listen (MCP_HTTP_LISTEN)"
  for unit in "${http_units[@]}"; do
    install_filled "systemd/$unit" "$unit_folder/$unit" 644 && changed=1
  done
  say "Let people in: python3 -m tools invite --user NAME --scope \"onepercent klipper\" (docs/remote.md)"
  [ -z "$root" ] || return 0
  [ "$changed" -eq 0 ] || as_root systemctl daemon-reload
  as_root systemctl enable --quiet --now pi-mcp-http.socket
  [ "$changed" -eq 0 ] || as_root systemctl try-restart pi-mcp-http.socket pi-mcp-http.service
}

# What stands in the units between @.
fill_in() {
  user=$(id -un)
  base_python=$("$python" -c 'import os, sys; print(os.path.abspath(sys.executable))')
  [ ${#docs[@]} -eq 0 ] || mkdir -p "${docs[@]}"
  (umask 077 && mkdir -p "$state" "${data[@]}")
}

# What the services may write to, before anything is written there: state, documentation, and data that lies elsewhere.
find_folders() {
  local lines line folder
  lines=$("$python" -c '
import sys
from tools.core import settings
from tools.core.errors import ToolError
from tools.klipper.settings import folders_to_write
from tools.onepercent import settings as onepercent
from tools.onepercent.database.copies import folder as backup_folder
try:
    folders = {settings.current().state_dir.absolute(): "state", **dict.fromkeys(folders_to_write(), "docs")}
    for folder in settings.written_folders():
        if not any(folder.is_relative_to(other) for other in folders):
            folders[folder] = "data"
    if not any(backup_folder().is_relative_to(other) for other in folders):
        folders[backup_folder()] = "backups"
    print(*(f"{kind} {folder}" for folder, kind in folders.items()), sep="\n")
    own = onepercent.current()
    print("times", *(f"{time} {own.onepercent_tz}".strip() for time in (own.notify_morning, own.notify_evening)), sep=",")
except (ToolError, settings.SettingsError) as error:
    sys.exit(". ".join(filter(None, (f"setup.sh: {error}", getattr(error, "hint", "")))))') || exit 1
  docs=()
  data=()
  backups=()
  while IFS='' read -r line; do
    case $line in times*) IFS=, read -r _ morning evening <<<"$line"; continue ;; esac
    folder=${line#* }
    is_plain "$folder" || fail "systemd cannot let the service write to $folder; \
name plain paths (MCP_STATE_DIR, KLIPPER_DOCS_DIR, ONEPERCENT_DB, ONEPERCENT_BACKUP_DIR)"
    case $line in
      state*) needs_own_folder "$folder" MCP_STATE_DIR; state=$folder ;;
      docs*) docs+=("$folder") ;;
      data*) needs_own_folder "$folder" ONEPERCENT_DB; data+=("$folder") ;;
      backups*) needs_own_folder "$folder" ONEPERCENT_BACKUP_DIR; backups+=("$folder") ;;
    esac
  done <<<"$lines"
}

# The service may write to this folder and all below it, so it must not be one that holds your home or the project.
needs_own_folder() {
  local inside
  for inside in "$HOME" "$here"; do
    case $(realpath -m "$inside")/ in
      "$(realpath -m "$1" | sed 's|/*$||')"/*)
        fail "the service would be allowed to write to all of $1, which holds $inside. $2 must name a folder of its own" ;;
    esac
  done
}

# Install a file with its @words@ filled in; false where it is there already.
install_filled() {
  local text
  text=$(<"$1")
  text=${text//@user@/"$user"}
  text=${text//@home@/"$HOME"}
  text=${text//@project@/"$here"}
  text=${text//@python@/"$base_python"}
  text=${text//@state@/"$state"}
  text=${text//@docs@/"${docs[*]/#/-}"}
  text=${text//@data@/"${data[*]/#/-}"}
  text=${text//@morning@/"${morning:-}"}
  text=${text//@evening@/"${evening:-}"}
  text=${text//@backups@/"${backups[*]/#/-}"}
  text=${text//@http_listen@/"${http_listen:-}"}
  cmp -s "$2" - <<<"$text" && return 1
  say "Installing $2"
  local where=(as_root)
  [ -z "$root" ] || where=()
  "${where[@]}" install -D -m "$3" /dev/stdin "$2" <<<"$text" || fail "cannot write $2"
}

# The new setup.sh goes on: what it installs may have changed too.
update() {
  local before
  git symbolic-ref -q HEAD >/dev/null ||
    fail "this clone is not on a branch, so there is nothing to pull. Run git switch main, then this again"
  before=$(git rev-parse HEAD)
  "$python" -m tools onepercent backup >/dev/null || say "No backup of OnePercent could be made; going on without one"
  say "Pulling"
  git pull --ff-only
  local ways=()
  [ ! -e "$command" ] || ways+=(--systemd)
  [ ! -e "$unit_folder/pi-mcp-http.socket" ] || ways+=(--http)
  [ "$(git rev-parse HEAD)" = "$before" ] || export RENEWED=yes
  ./setup.sh "${ways[@]}"
}

# What runs with the sources or packages of before. Before the check, which calls that broken.
restart_services() {
  [ -z "$root" ] && [ -d /run/systemd/system ] || return 0
  local unit running=()
  for unit in pi-mcp.service pi-mcp-http.service; do
    [ ! -e "$unit_folder/$unit" ] || ! systemctl is-active --quiet "$unit" || running+=("$unit")
  done
  [ ${#running[@]} -gt 0 ] || return 0
  [ -n "$renewed" ] || [[ $("$python" ./server.py 2>&1 >/dev/null </dev/null || true) == *'runs another version'* ]] || return 0
  say "Restarting the service; running sessions continue"
  as_root systemctl try-restart "${running[@]}"
}

uninstall() {
  local unit found=() remove=(as_root rm -f)
  for unit in "${units[@]}" "${http_units[@]}"; do
    [ ! -e "$unit_folder/$unit" ] || found+=("$unit_folder/$unit")
  done
  [ ! -e "$command" ] || found+=("$command")
  if [ -z "$root" ] && [ ${#found[@]} -gt 0 ] && [ -d /run/systemd/system ]; then
    [ ! -e "$unit_folder/pi-mcp-http.socket" ] ||
      as_root systemctl disable --quiet --now pi-mcp-http.socket pi-mcp-http.service
    if [ -e "$unit_folder/pi-mcp.socket" ]; then
      as_root systemctl disable --quiet --now pi-mcp.socket "${timers[@]}" pi-mcp.service
      as_root systemctl clean --what=state "${timers[@]}"  # when they last ran
    fi
    [ ! -d /run/pi-mcp ] || as_root rmdir --ignore-fail-on-non-empty /run/pi-mcp
  fi
  [ -z "$root" ] || remove=(rm -f)
  [ ${#found[@]} -eq 0 ] || "${remove[@]}" "${found[@]}"
  [ -n "$root" ] || [ ! -d /run/systemd/system ] || as_root systemctl daemon-reload
  rm -rf "$venv" "$test_venv"
  say "Removed. Your data is where it was (MCP_STATE_DIR, ~/.local/state/pi-mcp by default), like the settings and $here"
}

# On every processor that has a GiB of memory; a small Pi runs them one by one. More words are pytest's. Nothing is left
# of them but pytest's own cache.
run_tests() {
  local gib workers selected=(-m 'not slow or smoke')
  TMPDIR=$(mktemp -d -t t.XXXXXX) || fail "there is no room for temporary files (${TMPDIR:-/tmp})"
  export TMPDIR
  trap 'rm -rf "$TMPDIR"' EXIT
  [ "${1:-}" != --all ] || { selected=(); shift; }
  gib=$(awk '/^MemAvailable/ { print int($2 / 1024 / 1024) }' /proc/meminfo)
  workers=$(nproc)
  "$test_venv/bin/python" -m pytest -n "$((gib < workers ? gib : workers))" --dist worksteal \
    --basetemp="$TMPDIR/p" "${selected[@]}" "$@" # short, for the paths of sockets
}

look_at_sources() {
  "$test_venv/bin/ruff" check .
  "$test_venv/bin/ruff" format --check .
  "$test_venv/bin/mypy"
  "$test_venv/bin/shellcheck" setup.sh systemd/pi-mcp .ci/run tests/smoke.sh tests/lab/systemd/boot.sh
}

main "$@"
