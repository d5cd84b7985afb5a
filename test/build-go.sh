#!/bin/sh
# Builds a Go program that tests run, with modules of the Go module proxy, and prints its path. Kept outside of the
# repository and built once.
#
#   build-go.sh FOLDER NAME
set -eu
cd "$1"
key=$(cat go.sum main.go | sha256sum | cut -c 1-16)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/mlmodelscope-tests"
binary="$folder/$2-$key"
if [ ! -x "$binary" ]; then
  mkdir -p "$folder"
  CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$binary.$$" . >&2
  mv "$binary.$$" "$binary"
fi
echo "$binary"
