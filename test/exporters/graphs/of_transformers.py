"""Graphs of transformers, small configurations with random weights."""

import torch
from torch import nn

from .of_torch import NEW, export
from .registry import GRAPHS, graph

SIZES = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 1024}
IDS = torch.randint(0, 1000, (1, 64))
DIMS = {0: "batch", 1: "sequence"}


class First(nn.Module):
    """The first output of a model of transformers, by position."""

    def __init__(self, model, *names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        return self.model(**dict(zip(self.names, inputs)), return_dict=False)[0]


def text_graph(make, path, **options):
    names = ["input_ids", "attention_mask"]
    export(First(make(), *names), (IDS, torch.ones_like(IDS)), path, input_names=names, **options)


def bert():
    from transformers import BertConfig, BertModel

    return BertModel(BertConfig(**SIZES))


def distilbert():
    from transformers import DistilBertConfig, DistilBertModel

    return DistilBertModel(DistilBertConfig(dim=256, n_layers=4, n_heads=4, hidden_dim=1024))


def albert():
    from transformers import AlbertConfig, AlbertModel

    return AlbertModel(AlbertConfig(embedding_size=64, **SIZES))


def roberta():
    from transformers import RobertaConfig, RobertaModel

    return RobertaModel(RobertaConfig(**SIZES))


def electra():
    from transformers import ElectraConfig, ElectraModel

    return ElectraModel(ElectraConfig(embedding_size=64, **SIZES))


for make in [bert, distilbert, albert, roberta, electra]:
    GRAPHS[f"transformers-{make.__name__}"] = lambda path, make=make: text_graph(make, path)
GRAPHS["transformers-bert-new"] = lambda path: text_graph(bert, path, **NEW)
GRAPHS["transformers-bert-dynamic"] = lambda path: text_graph(
    bert, path, dynamic_axes={"input_ids": DIMS, "attention_mask": DIMS}
)


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(GPT2Config(n_embd=256, n_layer=4, n_head=4, vocab_size=8000))


@graph("transformers-gpt2-new")
def gpt2_whole(path):
    export(First(gpt2(), "input_ids"), (IDS,), path, **NEW)


@graph("transformers-gpt2-decode")
def gpt2_decode(path):
    """One step with a past of open length."""
    from transformers import DynamicCache

    class Step(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = gpt2()

        def forward(self, ids, *past):
            pairs = tuple(zip(past[::2], past[1::2]))
            done = self.model(ids, past_key_values=DynamicCache.from_legacy_cache(pairs), use_cache=True)
            return done.logits, *[tensor for pair in done.past_key_values.to_legacy_cache() for tensor in pair]

    past = [torch.randn(1, 4, 32, 64) for _ in range(8)]
    names = ["ids", *[f"past_{at}" for at in range(8)]]
    axes = {name: {2: "past"} for name in names[1:]}
    export(Step(), (IDS[:, :1], *past), path, input_names=names, dynamic_axes=axes)


@graph("transformers-t5-encoder")
def t5(path):
    from transformers import T5Config, T5EncoderModel

    model = T5EncoderModel(T5Config(d_model=256, d_ff=512, num_layers=4, num_heads=4, vocab_size=8000))
    export(First(model, "input_ids"), (IDS,), path)


@graph("transformers-vit")
def vit(path):
    from transformers import ViTConfig, ViTModel

    export(First(ViTModel(ViTConfig(**SIZES)), "pixel_values"), (torch.randn(1, 3, 224, 224),), path)


@graph("transformers-whisper-encoder")
def whisper(path):
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    sizes = {"d_model": 256, "encoder_layers": 2, "encoder_attention_heads": 4, "encoder_ffn_dim": 512}
    export(First(WhisperEncoder(WhisperConfig(**sizes)), "input_features"), (torch.randn(1, 80, 3000),), path)


@graph("transformers-bart-encoder")
def bart(path):
    from transformers import BartConfig
    from transformers.models.bart.modeling_bart import BartEncoder

    sizes = {"d_model": 768, "encoder_layers": 4, "encoder_attention_heads": 12, "encoder_ffn_dim": 3072, "vocab_size": 2000}
    export(First(BartEncoder(BartConfig(**sizes)), "input_ids"), (IDS[:, :32],), path)


@graph("transformers-phi3-prefill")
def phi3(path):
    from transformers import Phi3Config, Phi3Model

    sizes = {"hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 4, "num_attention_heads": 16}
    model = Phi3Model(Phi3Config(vocab_size=2000, pad_token_id=0, use_cache=False, **sizes))
    export(First(model, "input_ids"), (IDS[:, :16],), path, **NEW)


@graph("transformers-mamba")
def mamba(path):
    """A chain of hundreds of small kernels: the state of each token follows from that of the one before."""
    from transformers import MambaConfig, MambaModel

    model = MambaModel(MambaConfig(hidden_size=64, state_size=8, num_hidden_layers=4, vocab_size=1000, use_cache=False))
    export(First(model, "input_ids"), (IDS[:, :16],), path)


@graph("transformers-swin")
def swin(path):
    """Its masks of -100 make results of Softmax denormal."""
    from transformers import SwinConfig, SwinModel

    model = SwinModel(SwinConfig(embed_dim=48, depths=[2, 2, 2, 2], num_heads=[3, 6, 12, 24]))
    export(First(model, "pixel_values"), (torch.randn(1, 3, 224, 224),), path)
