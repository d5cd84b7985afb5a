#!/bin/sh
# Makes graphs as exporters write them: test/exporters/make.sh FOLDER [NAME...]
# FOLDER gets two Python environments of its own (7 GB, for the exporters) and the graphs; what is there already stays.
# Needs Python 3.11.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
export PYTHONDONTWRITEBYTECODE=1
environment() {
  [ -d "$folder/$1" ] && return
  python3.11 -m venv "$folder/$1"
  "$folder/$1/bin/pip" install --no-compile --no-cache-dir --quiet -r "$here/$2"
}
environment env requirements.txt
# It asks for an onnxruntime of its own, and its builder of models needs none.
"$folder/env/bin/pip" install --no-cache-dir --quiet --no-deps onnxruntime-genai==0.10.0
environment tfenv requirements-tensorflow.txt
cd "$here"
"$folder/env/bin/python" make_graphs.py onnx,learners,torch,transformers,onnxruntime "$folder/graphs" "$@" >&2
"$folder/tfenv/bin/python" make_graphs.py tensorflow "$folder/graphs" "$@" >&2
