#!/usr/bin/env bash
# Sets pi-mcp up on Raspberry Pi OS, Debian, or any Linux with git and python3
# (3.10 or newer) with venv. A second run does only what is missing.
#
#   ./setup.sh                Python packages into .venv, a file for settings,
#                             the Klipper docs into docs_repo/, then a check
#   ./setup.sh --systemd      that, and the resident service (sessions start at
#                             once), a daily sync and backup, and the command
#                             pi-mcp in /usr/local/bin; asks for root by sudo
#   ./setup.sh --http         serve over HTTP too, to people with a token
#                             (docs/remote.md); goes with --systemd
#   ./setup.sh --with images  also Pillow, which makes large pictures small for
#                             Anki; goes with the others, updates keep it
#   ./setup.sh --update       pull, install what is new, restart the service;
#                             sessions that run go on
#   ./setup.sh --uninstall    remove services, command, .venv and .venv-test;
#                             data, docs and settings stay
#   ./setup.sh test           test tools into .venv-test, then the tests;
#                             test --all runs those that take minutes, too
#   ./setup.sh lint           test tools, then a look at the sources
#
# Variables: PYTHON   the python3 that .venv is made of (default: python3)
#            DESTDIR  files of --systemd go below it, and nothing is started
#            KLIPPER_DOCS_URL, KLIPPER_DOCS_DIR … as in docs/manual.md
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=$here/.venv
test_venv=$here/.venv-test
python=${PYTHON:-python3}
root=${DESTDIR:-}
for_tests=(requirements.txt requirements-http.txt requirements-test.txt)
units=(pi-mcp.socket pi-mcp.service pi-mcp-docs.service pi-mcp-docs.timer pi-mcp-backup.service pi-mcp-backup.timer
  pi-mcp-notify.service pi-mcp-notify.timer)
timers=(pi-mcp-docs.timer pi-mcp-backup.timer pi-mcp-notify.timer)
http_units=(pi-mcp-http.socket pi-mcp-http.service)
unit_folder=$root/etc/systemd/system
command=$root/usr/local/bin/pi-mcp
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
    test) shift; need_programs; make_venv requirements.txt; make_test_venv; run_tests "$@" ;;
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
  local resident='' http='' files=(requirements.txt)
  [ ! -e "$venv/requirements-images.txt" ] || files+=(requirements-images.txt)
  while [ $# -gt 0 ]; do
    case $1 in
      --systemd) need_systemd; resident=yes ;;
      --http)
        files+=(requirements-http.txt)
        if runs_systemd; then need_systemd; http=yes; else say "systemd does not run here; start it by ./server.py --http"; fi ;;
      --with) need_extra "${2:-}"; files+=("requirements-$2.txt"); shift ;;
      *) unknown "$1" ;;
    esac
    shift
  done
  need_programs
  [ -z "$resident$http" ] || find_folders
  make_venv "${files[@]}"
  make_settings_file
  fetch_docs
  [ -z "$resident" ] || install_units
  [ -z "$http" ] || install_http
  restart_services
  say "Checking"
  ./server.py --check
  say "Next: connect a client"
  ./server.py --connect
}

# git, and a Python that can make a virtual environment; Debian packs venv apart. The version is looked at first: nothing
# is installed for a Python that is too old.
need_programs() {
  local missing=()
  command -v "$python" >/dev/null || fail "there is no $python here${PYTHON:+; PYTHON names it}. Debian: sudo apt-get install python3"
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    fail "Python 3.10 or newer is needed; $python is $("$python" -V 2>&1). Name another: PYTHON=python3.13 ./setup.sh"
  command -v git >/dev/null || missing+=(git)
  "$python" -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)
  [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
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

# The environment, and in it the packages of each requirements file that changed since it was last installed.
make_venv() {
  if ! venv_works; then
    [ ! -e "$venv" ] || warn "$venv is unfinished, or belongs to another Python; it is made anew"
    say "Making $venv"
    attempt "$venv could not be made" "$python" -m venv --clear "$venv"
    # Python 3.10 and 3.11 put it in; nothing here needs its 9 MB.
    "$venv/bin/python" -m pip uninstall --disable-pip-version-check -y -q setuptools 2>/dev/null || true
  fi
  local file options
  for file in "$@"; do
    cmp -s "$file" "$venv/$file" && continue
    say "Installing the packages of $file (some minutes on a small Pi)"
    : >"$venv/installing"
    options=(--disable-pip-version-check --no-input --prefer-binary --progress-bar off)
    # What serves is listed whole; half of what the SDK asks for beside that is never imported.
    case $file in requirements.txt | requirements-http.txt) options+=(--no-deps) ;; esac
    attempt "pip could not install the packages of $file" "$venv/bin/python" -m pip install "${options[@]}" -r "$file"
    cp "$file" "$venv/$file.new"
    rm "$venv/installing"
    mv "$venv/$file.new" "$venv/$file"
    renewed=yes
  done
  # What pip compiled of itself is a quarter of .venv; nothing that serves imports it.
  [ -z "$renewed" ] || find "$venv" -path '*/site-packages/pip/*' -name __pycache__ -prune -exec rm -rf {} +
}

# What the tests and linters need, apart from what serves: the tests are to meet what a user installs, and nothing more.
make_test_venv() {
  local venv=$test_venv
  make_venv "${for_tests[@]}"
}

# Whether packages can be installed into .venv: its Python runs and finds its own packages (it does not once the system
# has a newer one), is the one asked for, has the SDK that the sources are for, and no package is half there.
venv_works() {
  "$venv/bin/python" -B -c 'import pip' 2>/dev/null || return
  [ -z "${PYTHON:-}" ] || [ "$(version_of "$venv/bin/python")" = "$(version_of "$python")" ] || return
  ! cmp -s requirements.txt "$venv/requirements.txt" ||
    "$venv/bin/python" -B -c 'import server; server.import_sdk("stdio")' 2>/dev/null || return
  [ ! -e "$venv/installing" ] || packages_are_whole
}

version_of() { "$1" -c 'import sys; print(sys.version_info[:2])'; }

# Whether each file of each package is there in its size: pip was killed, and might take the rest for installed.
packages_are_whole() {
  "$venv/bin/python" -c '
import sys
from importlib.metadata import distributions
for package in distributions():
    for file in package.files or sys.exit(1):
        if file.size is not None and (not file.locate().exists() or file.locate().stat().st_size != file.size):
            sys.exit(1)' 2>/dev/null
}

# attempt WHAT_FAILED COMMAND …: run it; when it fails, say its own words and what they mean.
attempt() {
  local failed=$1 log words
  shift
  log=$(mktemp) || fail "there is no room for temporary files (${TMPDIR:-/tmp})"
  "$@" >"$log" 2>&1 &
  if watch "$!" "$log"; then
    rm "$log"
    return
  fi
  words=$(<"$log")
  rm "$log"
  printf '%s\n' "$words" >&2
  fail "$failed: $(reason "$words"). Then run ./setup.sh again; it goes on where it stopped"
}

# watch PID LOG: wait for a command, and count in one line the packages that pip names meanwhile.
watch() {
  # shellcheck disable=SC2064 # a command in the background hears no Ctrl-C by itself
  trap "kill $1; exit 130" INT
  while [ -t 1 ] && kill -0 "$1" 2>/dev/null; do
    printf '    %s packages\033[K\r' "$(grep -c '^Collecting' "$2")"
    sleep 1
  done
  [ ! -t 1 ] || printf '\033[K'
  wait "$1"
}

# What the words of pip or venv mean. Without a network pip says so first, and then that there is no such package.
reason() {
  case $1 in
    *'No space left'* | *'Disk quota'*) echo "the disk is full; make room (df -h $here), about 100 MB" ;;
    *'Permission denied'* | *'Read-only file system'*) echo "you cannot write there; see who owns it: ls -ld $here $venv" ;;
    *NewConnectionError* | *NameResolution* | *'Name or service not known'* | *'Temporary failure in name'* | *Timeout* | \
      *ProxyError* | *'Network is unreachable'* | *'Connection refused'* | *SSLError*)
      echo "the package index cannot be reached; is there a network?" ;;
    *'No matching distribution'*) echo "there is no such package for $("$python" -V 2>&1) on $(uname -m)" ;;
    *) echo "the lines above say why" ;;
  esac
}

# The first clone only; later sync_docs and its timer keep the docs fresh. Without them all else works.
fetch_docs() {
  local answer
  if "$venv/bin/python" -m tools call list_docs_map >/dev/null 2>&1; then
    return
  fi
  say "Fetching the Klipper documentation"
  answer=$("$venv/bin/python" -m tools call sync_docs) && return
  warn "the Klipper documentation could not be fetched; everything else works. $(told "$answer")"
  warn "To go on, run ./setup.sh again, or call the tool sync_docs. Another source: KLIPPER_DOCS_URL=… ./setup.sh"
}

# What a tool's answer says is wrong, and what to do.
told() {
  "$venv/bin/python" -c '
import json, sys
answer = json.loads(sys.argv[1] or "{}")
print(*(f"{answer[name].rstrip(chr(46))}." for name in ("error", "hint") if answer.get(name)))' "$1" 2>/dev/null || true
}

# Every setting as a comment, for its owner alone: some are secrets.
make_settings_file() {
  local file=${XDG_CONFIG_HOME:-$HOME/.config}/pi-mcp/env
  [ ! -e "$file" ] || return 0
  (umask 077 && mkdir -p "${file%/*}" && "$venv/bin/python" -m tools settings file >"$file.new" && mv "$file.new" "$file") ||
    warn "$file could not be made; settings may also come from the environment"
}

need_extra() {
  [ -n "$1" ] || fail "--with what? There is: images"
  [ "$1" = images ] || fail "there is no extra '$1'; there is: images"
}

runs_systemd() { [ -n "$root" ] || [ -d /run/systemd/system ]; }

need_systemd() {
  runs_systemd || fail "systemd does not run here; ./setup.sh works without it"
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
  as_root systemctl enable --quiet --now pi-mcp.socket "${timers[@]}"
  [ "$changed" -eq 0 ] || as_root systemctl try-restart pi-mcp.service
}

# Serving over HTTP: a socket and the service behind it.
install_http() {
  local unit changed=0
  umask 022
  fill_in
  http_listen=$("$venv/bin/python" -c 'from tools.core.settings import current; print(current().http_listen)')
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
  base_python=$("$venv/bin/python" -c 'import sys; print(sys._base_executable)')
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
from tools.onepercent import backup, settings as onepercent
try:
    folders = {settings.current().state_dir.absolute(): "state", **dict.fromkeys(folders_to_write(), "docs")}
    for folder in settings.written_folders():
        if not any(folder.is_relative_to(other) for other in folders):
            folders[folder] = "data"
    if not any(backup.folder().is_relative_to(other) for other in folders):
        folders[backup.folder()] = "backups"
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
  before=$(git rev-parse HEAD)
  "$python" -m tools onepercent backup >/dev/null || say "No backup of OnePercent could be made; going on without"
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
  [ -n "$renewed" ] || [[ $(./server.py 2>&1 >/dev/null </dev/null || true) == *'runs another version'* ]] || return 0
  say "Restarting the service; sessions that run go on"
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
