#!/usr/bin/env bash
# Sets pi-mcp up on a Raspberry Pi OS or Debian machine, or any Linux with python3 (3.11 or newer), venv and git.
#
#   ./setup.sh         everything: Python packages into .venv, the Klipper docs into docs_repo/, then a check
#   ./setup.sh test    install the test tools and run the tests
#   ./setup.sh lint    install the test tools and look at the sources
#
# Every step looks first and does only what is missing: a second run changes nothing.
#
# Variables: PYTHON       the python3 that .venv is made of (default: python3)
#            KLIPPER_DOCS_URL, KLIPPER_DOCS_DIR …   as in README.md
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=$here/.venv
python=${PYTHON:-python3}

say() { printf '\033[1m==>\033[0m %s\n' "$*"; }
warn() { printf '\033[1mwarning:\033[0m %s\n' "$*" >&2; }
fail() { printf 'setup.sh: %s\n' "$*" >&2; exit 1; }

main() {
  cd "$here"
  case ${1:-} in
    '') need_programs; make_venv requirements.txt; fetch_docs; check ;;
    test) shift; need_programs; make_venv requirements.txt requirements-test.txt; run_tests "$@" ;;
    lint) need_programs; make_venv requirements.txt requirements-test.txt; look_at_sources ;;
    -h | --help | help) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" ;;
    *) printf "setup.sh: unknown word '%s' (--help shows what there is)\n" "$1" >&2; exit 2 ;;
  esac
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
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@"
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

run_tests() {
  "$venv/bin/python" -m pytest "$@"
}

look_at_sources() {
  "$venv/bin/ruff" check .
  "$venv/bin/ruff" format --check .
  "$venv/bin/shellcheck" setup.sh .ci/run tests/smoke.sh
}

main "$@"
