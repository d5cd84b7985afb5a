"""Graphs by ONNX Runtime's tools: its quantizer, its optimizer for transformers, its generative-AI builder."""

import os

import torch

from .of_torch import PICTURE, export, torchvision_graph
from .of_transformers import IDS, bert, text_graph
from .registry import GRAPHS, graph


def quantized(path, write, inputs, qdq, **options):
    """Static, calibrated with random inputs."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quant_pre_process, quantize_static

    class Inputs(CalibrationDataReader):
        left = 2

        def get_next(self):
            self.left -= 1
            return inputs if self.left >= 0 else None

    write(path + ".float")
    quant_pre_process(path + ".float", path + ".pre")
    quantize_static(path + ".pre", path, Inputs(), quant_format=QuantFormat.QDQ if qdq else QuantFormat.QOperator, **options)
    for part in [".float", ".pre"]:
        os.remove(path + part)


def quantized_picture(path, name, qdq, **options):
    write = lambda path: export(torchvision_graph(name), PICTURE, path, input_names=["x"])
    quantized(path, write, {"x": PICTURE[0].numpy()}, qdq, **options)


def quantized_bert(path):
    inputs = {"input_ids": IDS.numpy(), "attention_mask": torch.ones_like(IDS).numpy()}
    quantized(path, lambda path: text_graph(bert, path), inputs, True)


GRAPHS["quantized-resnet18-qdq"] = lambda path: quantized_picture(path, "resnet18", True, per_channel=True)
GRAPHS["quantized-resnet18-operators"] = lambda path: quantized_picture(path, "resnet18", False)
GRAPHS["quantized-mobilenet_v2-qdq"] = lambda path: quantized_picture(path, "mobilenet_v2", True)
GRAPHS["quantized-squeezenet-operators"] = lambda path: quantized_picture(path, "squeezenet1_1", False, per_channel=True)
GRAPHS["quantized-bert-qdq"] = quantized_bert


@graph("quantized-bert-dynamic")
def dynamic_bert(path):
    from onnxruntime.quantization import quantize_dynamic

    text_graph(bert, path + ".float")
    quantize_dynamic(path + ".float", path)
    os.remove(path + ".float")


def optimized_bert(path, half):
    from onnxruntime.transformers import optimizer

    text_graph(bert, path + ".float")
    model = optimizer.optimize_model(path + ".float", model_type="bert", num_heads=4, hidden_size=256)
    if half:
        model.convert_float_to_float16()
    model.save_model_to_file(path)
    os.remove(path + ".float")


GRAPHS["optimized-bert"] = lambda path: optimized_bert(path, False)
GRAPHS["optimized-bert-float16"] = lambda path: optimized_bert(path, True)


def decoder(path, precision, provider):
    """By the generative-AI builder: of a folder with a model of random weights and a vocabulary of words."""
    import shutil
    import tempfile

    import onnx
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
    create_model(None, folder, made, precision, provider, folder + "/cache")
    onnx.save(onnx.load(made + "/model.onnx"), path)
    shutil.rmtree(made)
    shutil.rmtree(folder)


# The builder makes float16 for graphics cards only; the operators are the same.
for precision, provider in [("fp32", "cpu"), ("int4", "cpu"), ("fp16", "cuda")]:
    for step in ["prefill", "decode"]:
        GRAPHS[f"genai-{precision}-{step}"] = lambda path, of=(precision, provider): decoder(path, *of)
