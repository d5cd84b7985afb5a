"""Writes graphs as exporters make them, with random weights, into a folder: python graphs.py FOLDER [NAME...]"""

import os
import sys
import warnings

import torch

warnings.filterwarnings("ignore")
torch.manual_seed(0)
GRAPHS = {}


def graph(name):
    """Registers what writes the graph of this name to a path."""

    def register(write):
        GRAPHS[name] = write
        return write

    return register


def export(module, inputs, path, **options):
    """By the exporter of TorchScript (dynamo=False) or the one of torch.export (dynamo=True)."""
    with torch.no_grad():
        torch.onnx.export(module.eval(), inputs, path, **{"dynamo": False, "opset_version": 17, **options})


PICTURE = (torch.randn(1, 3, 224, 224),)
NEW = {"dynamo": True, "opset_version": 20, "external_data": False}
PICTURES = {"resnet18": PICTURE, "mobilenet_v3_small": PICTURE, "shufflenet_v2_x1_0": PICTURE, "convnext_tiny": PICTURE}


def torchvision_graph(name, options):
    import torchvision

    return lambda path: export(torchvision.models.get_model(name, weights=None), PICTURES[name], path, **options)


for name in PICTURES:
    GRAPHS[f"torchvision-{name}"] = torchvision_graph(name, {})
GRAPHS["torchvision-resnet18-new"] = torchvision_graph("resnet18", NEW)


@graph("torchvision-deeplab")
def deeplab(path):
    import torchvision

    class Mask(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = torchvision.models.segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None)

        def forward(self, x):
            return self.model(x)["out"]

    export(Mask(), PICTURE, path)


def timm_graph(name, options):
    import timm

    return lambda path: export(timm.create_model(name, pretrained=False), PICTURE, path, **options)


GRAPHS["timm-efficientnet_b0"] = timm_graph("efficientnet_b0", {})
GRAPHS["timm-mixer_s32"] = timm_graph("mixer_s32_224", {})
GRAPHS["timm-deit_tiny-new"] = timm_graph("deit_tiny_patch16_224", NEW)


class First(torch.nn.Module):
    """The first output of a model of transformers, by position."""

    def __init__(self, model, *names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        return self.model(**dict(zip(self.names, inputs)), return_dict=False)[0]


def bert(path, **options):
    from transformers import BertConfig, BertModel

    config = BertConfig(hidden_size=256, num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024)
    ids = torch.randint(0, 1000, (1, 64))
    names = ["input_ids", "attention_mask"]
    export(First(BertModel(config), *names), (ids, torch.ones_like(ids)), path, input_names=names, **options)


GRAPHS["transformers-bert"] = bert
GRAPHS["transformers-bert-new"] = lambda path: bert(path, **NEW)


@graph("transformers-bert-dynamic")
def bert_dynamic(path):
    dims = {0: "batch", 1: "sequence"}
    bert(path, dynamic_axes={"input_ids": dims, "attention_mask": dims})


@graph("transformers-gpt2-new")
def gpt2(path):
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(n_embd=256, n_layer=4, n_head=4, vocab_size=8000, use_cache=False))
    export(First(model, "input_ids"), (torch.randint(0, 1000, (1, 64)),), path, **NEW)


@graph("transformers-t5-encoder")
def t5(path):
    from transformers import T5Config, T5EncoderModel

    model = T5EncoderModel(T5Config(d_model=256, d_ff=512, num_layers=4, num_heads=4, vocab_size=8000))
    export(First(model, "input_ids"), (torch.randint(0, 1000, (1, 64)),), path)


@graph("torch-lstm")
def lstm(path):
    class Recurrent(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.out = torch.nn.LSTM(128, 256, 2, batch_first=True), torch.nn.Linear(256, 40)

        def forward(self, x):
            return self.out(self.lstm(x)[0])

    export(Recurrent(), (torch.randn(1, 100, 128),), path)


@graph("torch-gru")
def gru(path):
    class Recurrent(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.gru = torch.nn.GRU(128, 256, 1)

        def forward(self, x):
            return self.gru(x)[0]

    export(Recurrent(), (torch.randn(100, 1, 128),), path)


@graph("torch-half")
def half(path):
    import torchvision

    export(torchvision.models.resnet18(weights=None).half(), (PICTURE[0].half(),), path)


@graph("torch-loop")
def loop(path):
    @torch.jit.script
    def steps(x, n: int):
        for _ in range(n):
            x = torch.tanh(x + 1)
        return x

    class Steps(torch.nn.Module):
        def forward(self, x, n):
            return steps(x, n)

    export(torch.jit.script(Steps()), (torch.randn(64, 64), torch.tensor(5)), path, input_names=["x", "n"])


@graph("torch-upsample-to")
def upsample(path):
    class Like(torch.nn.Module):
        def forward(self, x, y):
            return torch.nn.functional.interpolate(x, size=y.shape[-2:], mode="bilinear")

    dims = {2: "h", 3: "w"}
    names = ["x", "y"]
    export(Like(), (torch.randn(1, 8, 16, 16), torch.randn(1, 8, 64, 64)), path, input_names=names, dynamic_axes={"y": dims})


def quantized(path, per_channel, qdq):
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quant_pre_process, quantize_static

    class Random(CalibrationDataReader):
        left = 2

        def get_next(self):
            self.left -= 1
            return {"x": torch.randn(1, 3, 224, 224).numpy()} if self.left >= 0 else None

    import torchvision

    export(torchvision.models.resnet18(weights=None), PICTURE, path, input_names=["x"])
    quant_pre_process(path, path + ".pre")
    form = QuantFormat.QDQ if qdq else QuantFormat.QOperator
    quantize_static(path + ".pre", path, Random(), quant_format=form, per_channel=per_channel)
    os.remove(path + ".pre")


GRAPHS["quantized-resnet18-qdq"] = lambda path: quantized(path, True, True)
GRAPHS["quantized-resnet18-operators"] = lambda path: quantized(path, False, False)


@graph("quantized-bert-dynamic")
def quantized_bert(path):
    from onnxruntime.quantization import quantize_dynamic

    bert(path + ".float")
    quantize_dynamic(path + ".float", path)
    os.remove(path + ".float")


def decoder(path, precision):
    """A decoder by the generative-AI builder: of a folder with a model of random weights and a vocabulary of words."""
    import shutil
    import tempfile

    from onnxruntime_genai.models.builder import create_model
    from tokenizers import Tokenizer, models
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder = tempfile.mkdtemp()
    sizes = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2, "vocab_size": 1000}
    config = LlamaConfig(num_attention_heads=8, num_key_value_heads=2, max_position_embeddings=512, **sizes)
    LlamaForCausalLM(config).save_pretrained(folder)
    words = Tokenizer(models.WordLevel({f"w{n}": n for n in range(1000)}, unk_token="w0"))
    PreTrainedTokenizerFast(tokenizer_object=words, unk_token="w0").save_pretrained(folder)
    made = path + ".made"
    create_model(None, folder, made, precision, "cpu", folder + "/cache")
    import onnx

    onnx.save(onnx.load(made + "/model.onnx"), path)
    shutil.rmtree(made)
    shutil.rmtree(folder)


for precision in ["fp32", "int4"]:
    GRAPHS[f"genai-decoder-{precision}"] = lambda path, precision=precision: decoder(path, precision)


@graph("scikit-learn-pipeline")
def scikit(path):
    import numpy
    from skl2onnx import to_onnx
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x = numpy.random.rand(200, 20).astype("float32")
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(x, x[:, 0] > 0.5)
    save(to_onnx(model, x[:1]), path)


@graph("scikit-learn-forest")
def forest(path):
    import numpy
    from skl2onnx import to_onnx
    from sklearn.ensemble import RandomForestRegressor

    x = numpy.random.rand(500, 20).astype("float32")
    save(to_onnx(RandomForestRegressor(50, max_depth=8).fit(x, x[:, 0]), x[:1]), path)


@graph("lightgbm")
def lightgbm_graph(path):
    import lightgbm
    import numpy
    from onnxmltools import convert_lightgbm
    from onnxmltools.convert.common.data_types import FloatTensorType

    x = numpy.random.rand(500, 20)
    model = lightgbm.LGBMRegressor(n_estimators=50, verbose=-1).fit(x, x[:, 0])
    save(convert_lightgbm(model, initial_types=[("x", FloatTensorType([None, 20]))]), path)


def save(model, path):
    with open(path, "wb") as file:
        file.write(model.SerializeToString())


def main(folder, names):
    os.makedirs(folder, exist_ok=True)
    for name in names or GRAPHS:
        path = os.path.join(folder, f"{name}.onnx")
        if os.path.exists(path):
            continue
        try:
            GRAPHS[name](path + ".part")
            os.rename(path + ".part", path)
            print(f"{name}: written", flush=True)
        except Exception as error:  # An exporter that fails says why, and the others go on.
            print(f"{name}: not written: {type(error).__name__}: {str(error).splitlines()[:1]}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
