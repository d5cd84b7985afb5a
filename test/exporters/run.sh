#!/bin/sh
# Makes graphs as exporters write them and checks them: test/exporters/run.sh FOLDER [NAME...]
# FOLDER gets a Python environment of its own (5 GB, for the exporters) and the graphs; what is there already stays.
# Needs Python 3.11, and the project built. The table goes to standard output.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
if [ ! -d "$folder/env" ]; then
  python3.11 -m venv "$folder/env"
  "$folder/env/bin/pip" install --no-compile --no-cache-dir --quiet -r "$here/requirements.txt"
  # It asks for an onnxruntime of its own, and its builder of models needs none.
  "$folder/env/bin/pip" install --no-cache-dir --quiet --no-deps onnxruntime-genai==0.10.0
fi
"$folder/env/bin/python" "$here/graphs.py" "$folder/graphs" "$@" >&2
"$folder/env/bin/python" "$here/check.py" "$folder/graphs" "$@"
