#!/usr/bin/env bash
# Tests the platform as its users run it: a server, a plugin, agents of two frameworks and a tracing receiver, each a
# process of its own. A Python client predicts and evaluates. The same evaluation by `mlmodelscope evaluate`, and by
# `mlmodelscope dlbricks run` without a server, has to give the same plan and the same estimate.
#
# PROJECT is the project's folder, with its build. OTEL_COLLECTOR is the path of a collector; without it, a collector is
# built.
set -euo pipefail
folder="$(cd "$(dirname "$0")" && pwd)"
project="$(cd "${PROJECT:-$folder/../..}" && pwd)"
work="$(mktemp -d)"
pids=()

finish() {
  local status=$?
  for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
    kill "${pids[i]}" 2> /dev/null || true
    wait "${pids[i]}" 2> /dev/null || true
  done
  [ "$status" = 0 ] || tail -n 20 "$work"/*.log >&2
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT

fail() {
  echo "run.sh: $*" >&2
  exit 1
}

mlmodelscope=(node "$project/lib/src/bin/main.js")

# start NAME PATTERN CMD...: starts a process, and waits until its output matches the pattern; sets `answer` to the text
# that follows the match
start() {
  local name="$1" pattern="$2" said
  shift 2
  # The process that is started may open it later than sed does.
  : > "$work/$name.log"
  "$@" > "$work/$name.log" 2>&1 &
  pids+=("$!")
  for _ in $(seq 300); do
    said=$(sed -n "s/^.*$pattern\(\S*\).*$/\1/p" "$work/$name.log" | head -n 1)
    [ -n "$said" ] && break
    kill -0 "${pids[-1]}" 2> /dev/null || fail "$name ended"
    sleep 0.1
  done
  [ -n "$said" ] || fail "$name does not print '$pattern'"
  answer="$said"
}

# stop_all: ends the processes, the newest first, and waits for each, so that it sends its spans
stop_all() {
  for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
    kill "${pids[i]}"
    wait "${pids[i]}" || true
  done
  pids=()
}

evaluation() {
  cat << END
dlspec: evaluation/v1
name: $1
version: 1.0.0
models: [zoo:squeezenet1.1]
software: { framework: { name: $1, version: '>=1' } }
settings: { cut: ${2:-layer} }
protocol: { warmup_runs: 1, runs: 3, min_runs: 3 }
END
}

python="$("$folder/../python/prepare.sh" "$work/stubs")"
OTEL_COLLECTOR="${OTEL_COLLECTOR:-$("$folder/../tracing/receiver/build.sh")}"
export OTEL_COLLECTOR
read -r grpc http <<< "$("$python" -c '
import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*[s.getsockname()[1] for s in sockets])')"
"$folder/../tracing/receiver/run.sh" "127.0.0.1:$grpc" "127.0.0.1:$http" "$work/spans.json" > "$work/receiver.log" 2>&1 &
receiver=$!
pids+=("$receiver")
for _ in $(seq 100); do
  "$python" -c "import socket; socket.create_connection(('127.0.0.1', $grpc), 1)" 2> /dev/null && break
  sleep 0.1
done

export MLMODELSCOPE_STORE="$work/store" MLMODELSCOPE_CACHE="$work/cache"
export OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:$grpc" OTEL_EXPORTER_OTLP_PROTOCOL=grpc
start server 'server listening on ' "${mlmodelscope[@]}" serve --listen 127.0.0.1:0 --no-plugins
server="$answer"
start plugin 'registered with ' "${mlmodelscope[@]}" plugin dlbricks --server "$server"
start agent 'as ' "${mlmodelscope[@]}" agent --listen 127.0.0.1:0 --server "$server"
agent="$answer"
start web-agent 'as ' "${mlmodelscope[@]}" agent --listen 127.0.0.1:0 --framework onnxruntime-web --server "$server"

# An agent in another language keeps the contract, and its measurements are found in the store.
PYTHONPATH="$work/stubs" start foreign 'listening on ' "$python" "$folder/../python/agent.py"
AGENT="$answer" node --test "$project/dist/test/agent/support/contract-at.js" > "$work/contract.log" || fail 'the contract is not kept'

# A load run on a server of the Open Inference Protocol, in another language.
PYTHONPATH="$work/stubs" start inference 'listening on ' "$python" "$folder/../python/inference_server.py"
"${mlmodelscope[@]}" load zoo:squeezenet1.1 --threads 1 --scenario clients --clients 2 --queries 50 \
  --deployment "oip://$answer/product" --export-json "$work/load.json" > "$work/load.out" 2>&1 || [ "$?" = 3 ]
"$python" -c '
import json, sys
(row,) = json.load(open(sys.argv[1]))["rows"]
measured = row["measured"]
assert measured["ended"] == "complete" and measured["failed"] == 0 and measured["queries"] >= 50, measured
' "$work/load.json"

evaluation onnxruntime kernel > "$work/native.yml"
evaluation onnxruntime-web > "$work/web.yml"
PYTHONPATH="$work/stubs" "$python" "$folder/../python/client.py" --agent "$agent" --server "$server" \
  --result "$work/python.json" "$work/web.yml" "$work/native.yml"

# Each report is compared with a run right after it, which measures nothing. An evaluation may repeat measurements that
# other processes disturbed.
run() {
  "${mlmodelscope[@]}" dlbricks run "$work/native.yml" --remeasure none --export-json "$1" 2> "$work/run.err"
}
run "$work/run-after-python.json"
"${mlmodelscope[@]}" evaluate "$work/native.yml" --server "$server" --export-json "$work/evaluate.json" 2> "$work/evaluate.err"
run "$work/run-after-evaluate.json"
plan() { grep -o '[0-9]* layers, .*' "$1" || fail "no plan in $1: $(cat "$1")"; }
[ "$(plan "$work/evaluate.err")" = "$(plan "$work/run.err")" ] || fail 'the plans differ'
"$python" -c '
import json, sys
def findings(path):
    report = json.load(open(path))
    # When the command ran, and the time that it took itself.
    del report["provenance"]["created_at"]
    for key in "costs", "ratios":
        del report["summary"][key]
    for model in report["models"]:
        del model["preparing_seconds"]
    return report
python, after_python, evaluate, after_evaluate = map(findings, sys.argv[1:])
assert python == after_python and evaluate == after_evaluate, "the reports differ"
' "$work/python.json" "$work/run-after-python.json" "$work/evaluate.json" "$work/run-after-evaluate.json"
echo "same plan and same estimate: $(plan "$work/run.err")"

pids=("${pids[@]:1}")
stop_all
sleep 1
kill "$receiver"
wait "$receiver" || true
"$python" "$folder/../python/check_trace.py" "$work/spans.json"
