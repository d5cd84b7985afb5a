#!/bin/sh
# Builds the reader of the platform's documents that the tests run, and prints its path.
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
exec "$folder/../../build-go.sh" "$folder" original-analyses
