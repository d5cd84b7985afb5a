"""Errors of latency of graphs that take a millisecond and more: python errors.py FOLDER [NAME...]

Measures each graph whole and by its kernels, on one thread. Needs a machine on which nothing else runs.
"""

import os
import sys

from commands import SETTINGS, report

MIN_MS = 1


def main(folder, names):
    errors = []
    print("| graph | estimate / whole | whole (ms) | repeat |\n|---|---|---|---|")
    for file in sorted(os.listdir(folder)):
        name, ending = os.path.splitext(file)
        if ending != ".onnx" or (names and name not in names):
            continue
        model = report("validate", [os.path.join(folder, file)], *SETTINGS.get(name, [])).get(name, {})
        whole, ratio = model.get("end_to_end_ms"), model.get("normalized_latency")
        if whole is None or ratio is None or whole < MIN_MS:
            continue
        errors.append(abs(ratio - 1) * 100)
        repeat = model["end_to_end_repeat_ms"] / whole - 1 if model.get("end_to_end_repeat_ms") else float("nan")
        print(f"| {name} | {ratio:.3f} | {whole:.2f} | {repeat * 100:+.1f} % |", flush=True)
    if errors:
        print(f"\n{len(errors)} graphs: mean error {sum(errors) / len(errors):.1f} %, worst {max(errors):.1f} %")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
