#!/bin/sh
# Receives traces until it is ended: run.sh GRPC_ADDRESS HTTP_ADDRESS FILE, addresses as host:port. FILE gets one
# ExportTraceServiceRequest in JSON per line. OTEL_COLLECTOR names the collector; without it build.sh makes one.
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
collector="${OTEL_COLLECTOR:-$("$folder/build.sh")}"
export RECEIVER_GRPC="$1" RECEIVER_HTTP="$2" RECEIVER_FILE="$3"
exec "$collector" --config "file:$folder/collector.yml"
