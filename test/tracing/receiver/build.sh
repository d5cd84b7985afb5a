#!/bin/sh
# Builds the OpenTelemetry Collector that the tracing tests send to, and prints its path: about 40 s on two cores.
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
exec "$folder/../../build-go.sh" "$folder" otel-collector
