#!/usr/bin/env bash
# FerretDB v1 with SQLite: a MongoDB-compatible server that builds with nothing but Go and its module proxy.
#
#   ferretdb.sh build         builds it where that was not done yet, and prints the path of the program
#   ferretdb.sh run CMD...    runs a command while a new server is up: MONGODB_URI names it, FERRETDB the program
set -euo pipefail

module=github.com/FerretDB/FerretDB
version=v1.24.0
checksum=h1:7WJmezL48Bj9bYWnhT/bEJgX5gjT5s7LFdHTqkN25rA=
program="${XDG_CACHE_HOME:-$HOME/.cache}/mlmodelscope/ferretdb-$version/ferretdb"

fail() {
  echo "ferretdb.sh: $*" >&2
  exit 1
}

. "$(dirname "$0")/await-listening.sh"

build() {
  [ -x "$program" ] && return
  command -v go > /dev/null || fail 'Go 1.22 or newer is needed to build the server'
  local work json
  work=$(mktemp -d)
  trap 'chmod -R u+w "$work"; rm -rf "$work"' RETURN
  json=$(cd "$work" && go mod download -json "$module@$version") || fail "cannot download $module@$version: $json"
  field() { sed -n "s/^[[:space:]]*\"$1\": \"\(.*\)\",\{0,1\}$/\1/p" <<< "$json"; }
  [ "$(field Sum)" = "$checksum" ] || fail "$module@$version has the checksum $(field Sum), expected $checksum"
  cp -r "$(field Dir)" "$work/source"
  chmod -R u+w "$work/source"
  # Its own build writes this file; the program refuses to run without.
  echo "$version" > "$work/source/build/version/version.txt"
  (cd "$work/source" &&
    go build -buildvcs=false -trimpath -tags ferretdb_no_postgresql,ferretdb_no_mysql,ferretdb_no_hana \
      -o "$work/ferretdb" ./cmd/ferretdb) >&2 || fail 'the server does not build'
  mkdir -p "$(dirname "$program")"
  mv "$work/ferretdb" "$program"
}

stop() {
  [ -z "${command:-}" ] || kill "$command" 2> /dev/null || true
  [ -z "${server:-}" ] || kill "$server" 2> /dev/null || true
  [ -z "${server:-}" ] || wait "$server" 2> /dev/null || true
  rm -rf "$folder"
}

run() {
  local address status=0
  folder=$(mktemp -d)
  trap stop EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  : > "$folder/log"
  "$program" --handler=sqlite --sqlite-url="file:$folder/" --state-dir="$folder" --listen-addr=127.0.0.1:0 \
    --debug-addr=- --telemetry=disable --log-level=info > "$folder/log" 2>&1 &
  server=$!
  address=$(await_listening '.*Listening on TCP \([0-9.:]*[0-9]\)' "$folder/log" "$server" 10)
  # In the background, so that a signal ends it and the server at once.
  MONGODB_URI="mongodb://$address" FERRETDB="$program" "$@" &
  command=$!
  wait "$command" || status=$?
  command=''
  exit "$status"
}

case "${1:-}" in
  build)
    build
    echo "$program"
    ;;
  run)
    shift
    build
    run "$@"
    ;;
  *) fail 'give build, or run and a command' ;;
esac
