#!/usr/bin/env bash
# Tries every toolset of pi-mcp on this machine, as a client and from the shell. It only reads: nothing of yours
# changes, no search is made. Prints one line per check; exit status 1 when one of them failed.
#
#   tests/smoke.sh
#
# Variables: those of README.md; PYTHON: the python3 to use (default: python3)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${PYTHON:-python3}
failed=0

main() {
  cd "$here"
  spare_state
  everything_on
  session
  say_ok "shell lists the tools" grep -q '^greet ' <(shell list)
  call greet '{"name": "Алиса"}' 'Привет, Алиса! Я твой MCP-сервер.'
  call greet '{"nam": "Алиса"}' 'Did you mean name?'
  call list_docs_map '{}' '"pages"' DOCS_MISSING
  call read_doc '{"path": "../../etc/passwd"}' INVALID_PATH DOCS_MISSING
  call read_doc '{"path": "Overview"}' '"title"' 'NOT_FOUND\|DOCS_MISSING'
  call search_docs '{"query": "bltouch"}' '"results"\|"result"' DOCS_MISSING
  call get_user_snapshot '{}' '"level_progress"'
  call get_user_snapshot '{"include": ["everything"]}' FIELD_INVALID
  call anki_list_decks '{}' '"id"' ANKI_UNREACHABLE
  call search '{"query": " "}' INVALID_ARGUMENTS
  say_ok "settings print" grep -q MCP_TOOLSETS <(shell settings)
  exit "$failed"
}

# A database that is not there yet is not made for a test: reading one would make it.
spare_state() {
  local database
  database=$("$python" -I -S -c '
import sys
sys.path.insert(0, sys.argv[1])
from tools.core import settings
from tools.onepercent.settings import current
print((settings.current().state_dir / current().onepercent_db).absolute())' "$here") || return 0
  [ ! -e "$database" ] || return 0
  spare=$(mktemp -d)
  trap 'rm -rf "$spare"' EXIT
  export MCP_STATE_DIR=$spare ONEPERCENT_DB=
}

# All toolsets, whatever the settings list: what is looked at here is what there is, in one language.
everything_on() {
  local file
  export MCP_TOOLSETS='' MCP_READ_ONLY=0 MCP_TOOL_NAMES=underscore MCP_LANGUAGE=ru
  for file in tools/*/__init__.py; do
    case $file in */core/* | */resident/* | */http/*) continue ;; esac
    MCP_TOOLSETS+=$(basename "$(dirname "$file")"),
  done
}

# One session over stdio, all requests piped in. The pipe is closed once all are answered: a small Pi may take longer
# than a server waits then.
session() {
  local answers='' line count=0 input output
  coproc SERVER { exec "$python" ./server.py --standalone 2>/dev/null; }
  input=${SERVER[1]}
  output=${SERVER[0]}
  requests >&"$input"
  while [ "$count" -lt 7 ] && IFS='' read -r -t 120 -u "$output" line; do
    answers+=$line$'\n'
    count=$((count + 1))
  done
  exec {input}>&-
  say_ok "server initializes" grep -q '"serverInfo"' <<<"$answers"
  say_ok "server lists its tools" grep -q '"inputSchema"' <<<"$answers"
  say_ok "server calls a tool" grep -q 'Привет, Pi!' <<<"$answers"
  say_ok "server lists prompts" grep -q '"messages"\|"prompts"' <<<"$answers"
  say_ok "server lists resources" grep -q '"resources"' <<<"$answers"
  say_ok "server answers garbage with an error" grep -q -- '-32700' <<<"$answers"
  say_ok "server answered all seven" test "$count" -eq 7
}

requests() {
  cat <<'LINES'
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"smoke","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Pi"}}}
{"jsonrpc":"2.0","id":4,"method":"prompts/list"}
{"jsonrpc":"2.0","id":5,"method":"resources/list"}
{"jsonrpc":"2.0","id":6,"method":"ping"}
garbage
LINES
}

shell() { "$python" -I -S "$here/tools" "$@"; }

# call TOOL ARGUMENTS EXPECTED [UNSET]: the answer has EXPECTED; UNSET in it means that the system is not set up.
call() {
  local answer unset
  answer=$(shell call "$1" "$2" 2>/dev/null) || true
  if [ -n "${4:-}" ] && unset=$(grep -o -m 1 -- "$4" <<<"$answer"); then
    printf 'skip  %s: %s\n' "$1" "$unset"
  else
    say_ok "$1 $2" grep -q -- "$3" <<<"$answer"
  fi
}

# say_ok TEXT COMMAND …: whether the command succeeds.
say_ok() {
  local text=$1
  shift
  if "$@"; then
    printf 'ok    %s\n' "$text"
  else
    printf 'FAIL  %s\n' "$text"
    failed=1
  fi
}

main "$@"
