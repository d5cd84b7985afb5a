#!/usr/bin/env bash
# Runs a command while mongo-java-server is up, a MongoDB-compatible server in Java. It finds documents by their ids
# without reading all others. MONGODB_URI is its address, DATABASE_PID the id of its process. Needs Java 17 or newer and Maven.
#
#   run.sh CMD...
set -euo pipefail

here="$(cd "$(dirname "$0")" && pwd)"
jars="${XDG_CACHE_HOME:-$HOME/.cache}/mlmodelscope/mongo-java-server-1.47.0"

fail() {
  echo "run.sh: $*" >&2
  exit 1
}

. "$here/../../../test/store/mongodb/await-listening.sh"

if [ ! -d "$jars" ]; then
  command -v mvn > /dev/null || fail 'Maven is needed to get the server'
  mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$jars.new" >&2
  mv "$jars.new" "$jars"
fi

folder=$(mktemp -d)
server=''
stop() {
  [ -z "$server" ] || kill "$server" 2> /dev/null || true
  [ -z "$server" ] || wait "$server" 2> /dev/null || true
  rm -rf "$folder"
}
trap stop EXIT

java -Xmx2g -cp "$jars/*" "$here/Server.java" "$folder/data" > "$folder/log" 2>&1 &
server=$!
address=$(await_listening '^Listening on mongodb://\([0-9.:]*[0-9]\)' "$folder/log" "$server" 30)
unset FERRETDB
MONGODB_URI="mongodb://$address" DATABASE_PID=$server SERVER_NAME='mongo-java-server 1.47 with H2' "$@"
