"""Writes graphs as exporters make them, with random weights: python make_graphs.py MODULES FOLDER [NAME...]

MODULES are names of graphs/of_*.py with commas, as `torch,onnx`.
"""

import importlib
import os
import sys
import warnings

from graphs.registry import GRAPHS

warnings.filterwarnings("ignore")


def main(modules, folder, names):
    for module in modules.split(","):
        importlib.import_module(f"graphs.of_{module}")
    os.makedirs(folder, exist_ok=True)
    for name, write in GRAPHS.items():
        path = os.path.join(folder, f"{name}.onnx")
        if os.path.exists(path) or (names and name not in names):
            continue
        part = os.path.join(folder, f"part-{name}.onnx.tmp")
        try:
            write(part)
            os.rename(part, path)
            print(f"{name}: written", flush=True)
        except Exception as error:  # An exporter that fails says why, and the others go on.
            print(f"{name}: not written: {type(error).__name__}: {str(error).splitlines()[:1]}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
