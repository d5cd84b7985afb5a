#!/bin/sh
# Builds the reader of the platform's documents for the tests, and prints its path.
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
exec "$folder/../../build-go.sh" "$folder" original-analyses
