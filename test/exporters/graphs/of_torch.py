"""Graphs by torch's two exporters: TorchScript (dynamo=False) and torch.export (dynamo=True, names that end in -new)."""

import torch
from torch import nn

from .registry import GRAPHS, graph

torch.manual_seed(0)
PICTURE = (torch.randn(1, 3, 224, 224),)
SMALL_PICTURE = (torch.randn(1, 3, 64, 64),)
NEW = {"dynamo": True, "opset_version": 20, "external_data": False}


def export(module, inputs, path, **options):
    with torch.no_grad():
        torch.onnx.export(module.eval(), inputs, path, **{"dynamo": False, "opset_version": 17, **options})


def module_graph(name, make, inputs, both=True):
    """Of a module that takes and returns tensors; by both exporters where the newer one takes it."""
    GRAPHS[name] = lambda path: export(make(), inputs, path)
    if both:
        GRAPHS[f"{name}-new"] = lambda path: export(make(), inputs, path, **NEW)


def torchvision_graph(name):
    import torchvision

    options = {"init_weights": False} if name == "googlenet" else {}
    return torchvision.models.get_model(name, weights=None, **options)


def timm_graph(name):
    import timm

    return timm.create_model(name, pretrained=False)


for name in ["resnet18", "mobilenet_v3_small"]:
    module_graph(f"torchvision-{name}", lambda name=name: torchvision_graph(name), PICTURE)
for name in ["shufflenet_v2_x1_0", "convnext_tiny", "squeezenet1_1", "mnasnet0_5", "regnet_y_400mf", "densenet121"]:
    module_graph(f"torchvision-{name}", lambda name=name: torchvision_graph(name), PICTURE, both=False)
for name in ["efficientnet_b0", "mixer_s32_224", "mobilevit_xxs", "ghostnet_100"]:
    module_graph(f"timm-{name}", lambda name=name: timm_graph(name), PICTURE, both=False)
for name in ["deit_tiny_patch16_224", "convnext_atto", "levit_128s"]:
    GRAPHS[f"timm-{name}-new"] = lambda path, name=name: export(timm_graph(name), PICTURE, path, **NEW)


class Only(nn.Module):
    """One output of a module that returns several, by its key."""

    def __init__(self, module, key):
        super().__init__()
        self.module, self.key = module, key

    def forward(self, *inputs):
        return self.module(*inputs)[self.key]


@graph("torchvision-lraspp")
def segmentation(path):
    from torchvision.models import segmentation

    model = segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None)
    export(Only(model, "out"), PICTURE, path)


@graph("torchvision-ssdlite")
def detector(path):
    from torchvision.models import detection

    model = detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None)
    export(model, ([torch.randn(3, 320, 320)],), path)


@graph("torchvision-fasterrcnn")
def two_stages(path):
    from torchvision.models import detection

    model = detection.fasterrcnn_mobilenet_v3_large_320_fpn(weights=None, weights_backbone=None)
    export(model, ([torch.randn(3, 320, 320)],), path)


for name in ["swin_t", "vit_b_32", "efficientnet_v2_s", "googlenet"]:
    module_graph(f"torchvision-{name}", lambda name=name: torchvision_graph(name), PICTURE, both=False)


class Recurrent(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.cell = kind(64, 128, batch_first=True, **options)
        self.out = nn.Linear(256 if options.get("bidirectional") else 128, 40)

    def forward(self, x):
        return self.out(self.cell(x)[0])


STEPS = (torch.randn(1, 50, 64),)
module_graph("torch-lstm", lambda: Recurrent(nn.LSTM, num_layers=2), STEPS)
module_graph("torch-lstm-bidirectional", lambda: Recurrent(nn.LSTM, bidirectional=True), STEPS, both=False)
module_graph("torch-gru", lambda: Recurrent(nn.GRU), STEPS)
module_graph("torch-rnn", lambda: Recurrent(nn.RNN), STEPS, both=False)
module_graph("torch-encoder", lambda: nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), STEPS, both=False)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Conv2d(3, 16, 3, 2, 1), nn.ConvTranspose2d(16, 16, 2, 2)
        self.out = nn.Sequential(nn.Conv2d(19, 12, 3, padding=1), nn.GroupNorm(3, 12), nn.SiLU(), nn.PixelShuffle(2))

    def forward(self, x):
        return self.out(torch.cat([x, self.up(torch.relu(self.down(x)))], 1))


module_graph("torch-unet", UNet, SMALL_PICTURE)
module_graph("torch-conv3d", lambda: nn.Sequential(nn.Conv3d(3, 8, 3), nn.ReLU(), nn.MaxPool3d(2)), (torch.randn(1, 3, 16, 32, 32),))
module_graph("torch-conv1d", lambda: nn.Sequential(nn.Conv1d(16, 32, 5), nn.GELU(), nn.AdaptiveAvgPool1d(4)), (torch.randn(1, 16, 400),))
module_graph("torch-half", lambda: torchvision_graph("mobilenet_v2").half(), (PICTURE[0].half(),), both=False)
module_graph("torch-bfloat16", lambda: nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 64)).bfloat16(), (torch.randn(8, 256).bfloat16(),), both=False)


class Indexing(nn.Module):
    """Operators whose results depend on values: TopK, Gather, ScatterElements, Where, CumSum, Einsum."""

    def forward(self, x, ids):
        values, at = torch.topk(x, 8)
        spread = torch.zeros_like(x).scatter(1, at, values).cumsum(1)
        return torch.einsum("ij,kj->ik", torch.where(x > 0, x, spread), x[ids])


module_graph("torch-indexing", Indexing, (torch.randn(16, 64), torch.arange(4)))


@graph("torch-loop")
def loop(path):
    @torch.jit.script
    def steps(x, n: int):
        for _ in range(n):
            x = torch.tanh(x + 1)
        return x

    class Steps(nn.Module):
        def forward(self, x, n):
            return steps(x, n)

    export(torch.jit.script(Steps()), (torch.randn(64, 64), torch.tensor(5)), path, input_names=["x", "n"])


@graph("torch-if")
def condition(path):
    class Either(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(64, 64), nn.Linear(64, 64)

        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda x: self.a(x), lambda x: torch.relu(self.b(x)), (x,))

    export(Either(), (torch.randn(8, 64),), path, **NEW)


@graph("torch-upsample-to")
def upsample(path):
    class Like(nn.Module):
        def forward(self, x, y):
            return nn.functional.interpolate(x, size=y.shape[-2:], mode="bilinear")

    dims = {2: "h", 3: "w"}
    names = ["x", "y"]
    export(Like(), (torch.randn(1, 8, 16, 16), torch.randn(1, 8, 64, 64)), path, input_names=names, dynamic_axes={"y": dims})
