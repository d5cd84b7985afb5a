"""Peak memory for graphs with gigabytes of weights in a file beside them: python memory.py FOLDER [GB...]

Compares dlbricks with the runtime itself, which opens such a graph and runs it once. Memory is the sum over all processes
of their share of pages (PSS), and what is in /dev/shm beside it. Needs Linux; times play no part.
"""

import os
import subprocess
import sys
import time

import onnx
from onnx import TensorProto, helper

from commands import COMMAND

SIDE = 3584
LAYER_BYTES = SIDE * SIDE * 4
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RUNTIME = """
const ort = require('onnxruntime-node');
ort.InferenceSession.create(process.argv[1], { intraOpNumThreads: 1 })
  .then((session) => session.run({ x: new ort.Tensor('float32', new Float32Array(%d), [1, %d]) }));
""" % (SIDE, SIDE)
COMMANDS = {
    "the runtime itself": lambda path, out: ["node", "-e", RUNTIME, path],
    "generate --cut layer": lambda path, out: [*COMMAND, "generate", path, "--cut", "layer", "-o", out],
    "generate --cut kernel": lambda path, out: [*COMMAND, "generate", path, "--cut", "kernel", "-o", out],
    "run --cut kernel": lambda path, out: [*COMMAND, "run", path, "--runs", "3", "--threads", "1", "--store", "memory:", "--quiet"],
    "validate --cut kernel": lambda path, out: [*COMMAND, "validate", path, "--runs", "3", "--threads", "1", "--store", "memory:", "--quiet"],
}


def chain(folder, gigabytes):
    """MatMuls of one size, each with weights of its own, in a file with a hole instead of values."""
    layers = round(gigabytes * 1e9 / LAYER_BYTES)
    nodes, weights, value = [], [], "x"
    for at in range(layers):
        weight = TensorProto(name=f"w{at}", data_type=TensorProto.FLOAT, dims=[SIDE, SIDE], data_location=TensorProto.EXTERNAL)
        for key, text in {"location": "weights.bin", "offset": at * LAYER_BYTES, "length": LAYER_BYTES}.items():
            weight.external_data.add(key=key, value=str(text))
        weights.append(weight)
        nodes += [helper.make_node("MatMul", [value, f"w{at}"], [f"m{at}"]), helper.make_node("Relu", [f"m{at}"], [f"r{at}"])]
        value = f"r{at}"
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, SIDE]) for name in ["x", value]]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:], weights)
    path = os.path.join(folder, "chain.onnx")
    with open(path, "wb") as file:
        file.write(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())
    with open(os.path.join(folder, "weights.bin"), "wb") as file:
        file.truncate(layers * LAYER_BYTES)
    return path


def tree(process):
    found = [process]
    for task in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{task}/children") as file:
            for child in file.read().split():
                found += tree(int(child))
    return found


def share_of_pages(process):
    with open(f"/proc/{process}/smaps_rollup") as file:
        return sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))


def shared_memory():
    usage = os.statvfs("/dev/shm")
    return (usage.f_blocks - usage.f_bfree) * usage.f_frsize


def peak(command):
    before = shared_memory()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        most = most_shared = 0
        while process.poll() is None:
            try:
                most = max(most, sum(map(share_of_pages, tree(process.pid))))
            except OSError:
                pass  # A process ended in between.
            most_shared = max(most_shared, shared_memory() - before)
            time.sleep(0.03)
    return most, most_shared, process.returncode


def main(folder, sizes):
    os.makedirs(folder, exist_ok=True)
    print("| weights (GB) | command | memory (MiB) | of the runtime's | in /dev/shm (MiB) | exit code |\n|---|---|---|---|---|---|")
    for gigabytes in sizes:
        path = chain(folder, gigabytes)
        of_runtime = None
        for name, command in COMMANDS.items():
            bytes_taken, shared, code = peak(command(path, os.path.join(folder, f"made-{len(os.listdir(folder))}")))
            of_runtime = of_runtime or bytes_taken
            row = [gigabytes, name, round(bytes_taken / 2**20), f"{bytes_taken / of_runtime:.2f}", round(shared / 2**20), code]
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], [float(size) for size in sys.argv[2:]] or [1, 2, 3])
