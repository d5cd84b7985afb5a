#!/bin/sh
# Makes graphs as exporters write them and checks them: test/exporters/run.sh FOLDER [NAME...]
# Needs the project built. The table goes to standard output.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
"$here/make.sh" "$@"
folder=$(cd "$1" && pwd)
shift
PYTHONDONTWRITEBYTECODE=1 python3 "$here/check.py" "$folder/graphs" "$@"
