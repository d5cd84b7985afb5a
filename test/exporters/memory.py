"""Peak memory for graphs with gigabytes of weights in a file beside them: python memory.py FOLDER [GB...]

Compares dlbricks with the runtime itself, which opens such a graph and runs it once. Memory is the sum over all processes
of their share of pages (PSS), and of files in memory. Needs Linux; times play no part.
"""

import glob
import itertools
import os
import subprocess
import sys
import time

import numpy
import onnx
from onnx import TensorProto, helper

from commands import COMMAND

SIDE = 3584
# By how much layers differ: one brick stands for all of them, or each is a brick of its own.
STEPS = {"all alike": 0, "all different": 16}
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


def chain(folder, gigabytes, step):
    """MatMuls whose sides get smaller by a step, each with weights of its own: the runtime keeps equal ones only once."""
    nodes, weights, value, side, end = [], [], "x", SIDE, 0
    random = numpy.random.default_rng(0)
    with open(os.path.join(folder, "weights.bin"), "wb") as file:
        while end < gigabytes * 1e9:
            at, dims = len(weights), [side, side - step]
            values = (random.random(dims, numpy.float32) - 0.5).tobytes()
            file.write(values)
            weight = TensorProto(name=f"w{at}", data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
            for key, text in {"location": "weights.bin", "offset": end, "length": len(values)}.items():
                weight.external_data.add(key=key, value=str(text))
            weights.append(weight)
            nodes += [helper.make_node("MatMul", [value, f"w{at}"], [f"m{at}"]), helper.make_node("Relu", [f"m{at}"], [f"r{at}"])]
            value, side, end = f"r{at}", side - step, end + len(values)
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, last]) for name, last in [("x", SIDE), (value, side)]]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:], weights)
    path = os.path.join(folder, "chain.onnx")
    with open(path, "wb") as file:
        file.write(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())
    return path


def tree(process):
    found = [process]
    for task in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{task}/children") as file:
            for child in file.read().split():
                found += tree(int(child))
    return found


def share_of_pages(process):
    """A process's share of its pages (PSS) but shared memory."""
    with open(f"/proc/{process}/smaps_rollup") as file:
        sizes = dict(line.split()[:2] for line in file if line.startswith("Pss"))
    return (int(sizes["Pss:"]) - int(sizes["Pss_Shmem:"])) * 1024


def removed_files(process):
    """Bytes of removed files in memory that a process has mapped: all of them are there, also where it has not read them."""
    with open(f"/proc/{process}/maps") as file:
        ranges = [line.split()[0].split("-") for line in file if "/dev/shm/" in line and "(deleted)" in line]
    return sum(int(end, 16) - int(start, 16) for start, end in ranges)


def files_in_memory(process):
    """Bytes of the files in memory that dlbricks has made in this process."""
    files = glob.glob(f"/dev/shm/mlmodelscope-*-{process}-*/**", recursive=True)
    return sum(os.stat(file).st_blocks * 512 for file in files if os.path.isfile(file))


def memory_of(process):
    processes = tree(process)
    # In this order, so that a file that is removed meanwhile is not counted twice.
    return sum(count(each) for count in [removed_files, files_in_memory, share_of_pages] for each in processes)


def peak(command):
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        most = 0
        while process.poll() is None:
            try:
                most = max(most, memory_of(process.pid))
            except OSError:
                pass  # A process or a file was gone in between.
            time.sleep(0.03)
    return most, process.returncode


def main(folder, sizes):
    os.makedirs(folder, exist_ok=True)
    print("| weights (GB) | layers | command | memory (MiB) | of the runtime's | exit code |\n|---|---|---|---|---|---|")
    for gigabytes, (layers, step) in itertools.product(sizes, STEPS.items()):
        path = chain(folder, gigabytes, step)
        of_runtime = None
        for name, command in COMMANDS.items():
            bytes_taken, code = peak(command(path, os.path.join(folder, f"made-{len(os.listdir(folder))}")))
            of_runtime = of_runtime or bytes_taken
            row = [gigabytes, layers, name, round(bytes_taken / 2**20), f"{bytes_taken / of_runtime:.2f}", code]
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], [float(size) for size in sys.argv[2:]] or [1, 3])
