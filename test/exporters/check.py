"""Whether graphs are estimated completely at both cuts, as a Markdown table: python check.py FOLDER [NAME...]"""

import os
import sys

from commands import SETTINGS, brief, covered, is_covered, name_of, percent

AT_ONCE = 8


def together(paths):
    """Lists of graphs that need the same options."""
    groups = {}
    for path in paths:
        groups.setdefault(tuple(SETTINGS.get(name_of(path), [])), []).append(path)
    for options, alike in groups.items():
        for first in range(0, len(alike), AT_ONCE):
            yield alike[first : first + AT_ONCE], options


def main(folder, names):
    files = sorted(file for file in os.listdir(folder) if file.endswith(".onnx"))
    paths = [os.path.join(folder, file) for file in files if not names or name_of(file) in names]
    print("| graph | kernels | coverage, kernel cut | coverage, layer cut | remarks |\n|---|---|---|---|---|")
    complete = 0
    for alike, options in together(paths):
        for name, one in covered(alike, options).items():
            complete += is_covered(one)
            shares = [percent(one["coverage"][cut]) for cut in ["kernel", "layer"]]
            print("| " + " | ".join([name, str(one["kernels"] or "-"), *shares, brief(one["reasons"])]) + " |", flush=True)
    print(f"\n{complete} of {len(paths)} graphs completely, at both cuts")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
