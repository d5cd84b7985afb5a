"""The ONNX project's backend tests through `run` and `generate` at both cuts: python backend.py FOLDER [SHARE]

Writes the models of the tests into FOLDER, asks the runtime which of them it runs with the tests' inputs, and takes one of
SHARE of those (default: all). Counts those that are estimated completely, and lists all others with what was said.
"""

import glob
import os
import sys
import warnings

import numpy
import onnx
import onnxruntime
from onnx import numpy_helper

from commands import brief, covered, is_covered

warnings.filterwarnings("ignore")
AT_ONCE = 100
OF_FILES = ["simple", "pytorch-converted", "pytorch-operator", "light"]
READERS = {
    "tensor_type": (onnx.TensorProto, numpy_helper.to_array),
    "sequence_type": (onnx.SequenceProto, numpy_helper.to_list),
    "optional_type": (onnx.OptionalProto, numpy_helper.to_optional),
}


def made_cases():
    from onnx.backend.test.case.node import collect_testcases

    for case in collect_testcases(None):
        if case.model is not None:
            yield f"node-{case.name}", case.model, case.data_sets[0][0]


def read_input(path, kind):
    message, convert = READERS[kind]
    proto = message()
    with open(path, "rb") as file:
        proto.ParseFromString(file.read())
    return convert(proto)


def random_input(value):
    dims = [dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim]
    return numpy.random.rand(*dims).astype("float32")


def stored_cases():
    data = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")
    for kind in OF_FILES:
        for path in sorted(glob.glob(os.path.join(data, kind, "*", "model.onnx")) + glob.glob(os.path.join(data, kind, "*.onnx"))):
            stored = path.endswith("model.onnx")
            name = os.path.basename(os.path.dirname(path) if stored else path[: -len(".onnx")])
            model = onnx.load(path)
            weights = {tensor.name for tensor in model.graph.initializer}
            inputs = [value for value in model.graph.input if value.name not in weights]
            files = [os.path.join(os.path.dirname(path), "test_data_set_0", f"input_{at}.pb") for at in range(len(inputs))]
            has_data = all(os.path.exists(file) for file in files) and stored
            values = [
                read_input(file, value.type.WhichOneof("value")) if has_data else random_input(value)
                for file, value in zip(files, inputs)
            ]
            yield f"{kind}-{name}", model, values


def runs(model, values):
    """Whether the runtime runs it; of inputs that Python cannot hand over, whether the runtime opens it."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception:
        return False
    feeds = {}
    for asked, value in zip(session.get_inputs(), values):
        plain = numpy.asarray(value) if isinstance(value, numpy.generic) else value
        if isinstance(plain, onnx.TensorProto) or getattr(getattr(plain, "dtype", None), "isbuiltin", 1) != 1:
            return True
        feeds[asked.name] = plain
    try:
        session.run(None, feeds)
        return True
    except Exception:
        return False


def main(folder, share=1):
    os.makedirs(folder, exist_ok=True)
    names = []
    for name, model, values in [*made_cases(), *stored_cases()]:
        if runs(model, values):
            names.append(name)
            onnx.save(model, os.path.join(folder, f"{name}.onnx"))
    chosen = sorted(names)[::share]
    print(f"the runtime runs {len(names)} models, of which {len(chosen)} are taken", flush=True)
    complete = 0
    for first in range(0, len(chosen), AT_ONCE):
        for name, one in covered([os.path.join(folder, f"{name}.onnx") for name in chosen[first : first + AT_ONCE]]).items():
            complete += is_covered(one)
            if not is_covered(one) or one["reasons"]:
                print(f"{name}: {brief(one['reasons'])}", flush=True)
    print(f"{complete} of {len(chosen)} completely, at both cuts")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
