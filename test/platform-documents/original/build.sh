#!/bin/sh
# Builds the reader of the platform's documents that the tests run, with modules of the Go module proxy, and prints its
# path. Kept outside of the repository and built once.
set -eu
cd "$(dirname "$0")"
key=$(cat go.sum main.go | sha256sum | cut -c 1-16)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/mlmodelscope-tests"
binary="$folder/original-analyses-$key"
if [ ! -x "$binary" ]; then
  mkdir -p "$folder"
  CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$binary.$$" . >&2
  mv "$binary.$$" "$binary"
fi
echo "$binary"
