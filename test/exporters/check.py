"""Runs dlbricks over a folder of graphs at both cuts and prints a Markdown table: python check.py FOLDER [NAME...]

Each graph is measured whole and estimated by `validate` at the kernel cut, and by `run` at the layer cut; `generate`
writes a suite at each. Settings that a graph needs are in SETTINGS.
"""

import json
import os
import subprocess
import sys
import tempfile

COMMAND = ["node", os.path.join(os.path.dirname(__file__), "..", "..", "dist", "src", "cli", "main.js"), "dlbricks"]
QUICK = ["--threads", "1", "--store", "memory:", "--quiet"]
PAST = ["--dimension", "past_sequence_length=127", "--dimension", "total_sequence_length=128"]
SETTINGS = {
    "transformers-bert-dynamic": ["--dimension", "sequence=64"],
    "torch-upsample-to": ["--dimension", "h=64", "--dimension", "w=64"],
    "genai-decoder-fp32": [*PAST, "--dimension", "sequence_length=1"],
    "genai-decoder-int4": [*PAST, "--dimension", "sequence_length=1"],
}


def run(*arguments):
    """Exit code and the errors and warnings that were shown."""
    done = subprocess.run([*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    lines = [line for line in done.stderr.splitlines() if line and not line.startswith(("note:", "whole model"))]
    return done.returncode, lines


def estimate(path, cut, folder, settings):
    report = os.path.join(folder, f"{cut}.json")
    command = "validate" if cut == "kernel" else "run"
    code, said = run(command, path, "--cut", cut, "--export-json", report, "--runs", "15", *QUICK, *settings)
    model = {}
    if os.path.exists(report):
        with open(report) as file:
            model = json.load(file)["models"][0]
    suite, refused = run("generate", path, "--cut", cut, "-o", os.path.join(folder, f"suite-{cut}"), "--quiet", *settings)
    reasons = [missing["reason"] for missing in model.get("missing", [])] or (said if code not in (0, 3) else [])
    if model.get("kernel_differences"):
        reasons.append(f"other kernels: {model['kernel_differences']}")
    if suite != 0:
        reasons += [f"generate: {line}" for line in refused[:1]]
    return model, reasons


def percent(share):
    return "-" if share is None else f"{share * 100:.0f} %"


def main(folder, names):
    print("| graph | kernels | coverage, kernel cut | estimate / whole | whole (ms) | coverage, layer cut | reasons |")
    print("|---|---|---|---|---|---|---|")
    for file in sorted(os.listdir(folder)):
        name, ending = os.path.splitext(file)
        if ending != ".onnx" or (names and name not in names):
            continue
        with tempfile.TemporaryDirectory() as place:
            path, settings = os.path.join(folder, file), SETTINGS.get(name, [])
            kernel, why = estimate(path, "kernel", place, settings)
            layer, why_layer = estimate(path, "layer", place, settings)
        ratio, whole = kernel.get("normalized_latency"), kernel.get("end_to_end_ms")
        figures = ["-" if ratio is None else f"{ratio:.2f}", "-" if whole is None else f"{whole:.2f}"]
        reasons = "; ".join(dict.fromkeys([*why, *(f"layer cut: {one}" for one in why_layer if one not in why)]))
        row = [name, str(kernel.get("kernels", "-")), percent(kernel.get("coverage")), *figures, percent(layer.get("coverage"))]
        print("| " + " | ".join([*row, reasons.replace("|", "/")[:400]]) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
