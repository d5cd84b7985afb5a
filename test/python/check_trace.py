"""Checks what an OpenTelemetry collector received.

check_trace.py FILE: one ExportTraceServiceRequest in JSON per line. Every trace has to have one root and no span whose
parent is missing. At least one trace has to be of an evaluation, with spans of server, plugin and agent.
"""

import collections
import json
import sys


def spans_in(path):
    with open(path) as file:
        for line in file:
            for resource in json.loads(line)["resourceSpans"]:
                attributes = {a["key"]: a["value"] for a in resource["resource"].get("attributes", [])}
                service = attributes.get("service.name", {}).get("stringValue", "")
                for scope in resource["scopeSpans"]:
                    for span in scope["spans"]:
                        yield service, span


def main(path):
    traces = collections.defaultdict(dict)
    services = collections.defaultdict(set)
    for service, span in spans_in(path):
        traces[span["traceId"]][span["spanId"]] = span
        services[span["traceId"]].add(service)
    whole = 0
    for trace, spans in traces.items():
        roots = [span for span in spans.values() if not span.get("parentSpanId")]
        orphans = [s for s in spans.values() if s.get("parentSpanId") and s["parentSpanId"] not in spans]
        names = sorted(span["name"] for span in orphans)
        assert len(roots) == 1 and not orphans, f"trace {trace}: {len(roots)} roots, orphans {names}"
        if any(span["name"] == "evaluation" for span in spans.values()):
            missing = {"mlmodelscope-serve", "mlmodelscope-plugin", "mlmodelscope-agent"} - services[trace]
            assert not missing, f"trace {trace}: no spans of {missing}"
            whole += 1
            print(f"trace {trace}: {len(spans)} spans of {len(services[trace])} processes under {roots[0]['name']}")
    assert whole > 0, f"no evaluation among {len(traces)} traces"
    print(f"{len(traces)} traces, each with one root and no orphan")


if __name__ == "__main__":
    main(sys.argv[1])
