#!/usr/bin/env bash
# Makes what the Python clients need: prepare.sh STUBS writes the stubs of proto/ into the folder STUBS, with grpcio-tools
# alone, and prints the path of a Python that can import them. Its packages are kept outside of the repository.
set -euo pipefail
stubs="$1"
folder="$(cd "$(dirname "$0")" && pwd)"
proto="$folder/../../proto"
key="$(sha256sum < "$folder/requirements.txt" | cut -c 1-16)-$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
venv="${XDG_CACHE_HOME:-$HOME/.cache}/mlmodelscope-tests/python-$key"
if [ ! -e "$venv/ready" ]; then
  rm -rf "$venv"
  python3 -m venv "$venv" >&2
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$folder/requirements.txt" >&2
  touch "$venv/ready"
fi
mkdir -p "$stubs"
cd "$proto"
find . -name '*.proto' -printf '%P\0' |
  xargs -0 "$venv/bin/python" -m grpc_tools.protoc -I . --python_out="$stubs" --grpc_python_out="$stubs"
echo "$venv/bin/python"
