#!/usr/bin/env python3
"""Exports networks that people use to ONNX, with random weights, for bench.py --models.

Usage: export.py FOLDER [NAME ...]

They come from torchvision, timm and transformers (`pip install torch torchvision timm
transformers onnx`, in an environment of their own if you like: nothing else needs them). A
name with `-f16` at its end is the same network in half precision, one with `-dynamic` keeps
its batch symbolic. Files that exist stay.
"""

import argparse
import importlib
import itertools
import pathlib
import sys
from collections.abc import Callable

import torch
from torch import nn

IMAGE = (1, 3, 224, 224)
TOKENS = 128
Inputs = tuple[torch.Tensor, ...]
Network = tuple[nn.Module, Inputs]


def vision(name: str, shape: tuple[int, ...] = IMAGE) -> Callable[[], Network]:
    """Return a network of torchvision, on images."""

    def build() -> Network:
        models = importlib.import_module("torchvision.models")
        return models.get_model(name, weights=None), (torch.randn(shape),)

    return build


def timm(name: str, shape: tuple[int, ...] = IMAGE) -> Callable[[], Network]:
    """Return a network of timm, on images."""

    def build() -> Network:
        return importlib.import_module("timm").create_model(name), (torch.randn(shape),)

    return build


class First(nn.Module):
    """A network of transformers, whose result is the first tensor of its answer."""

    def __init__(self, network: nn.Module, argument: str) -> None:
        super().__init__()
        self.network, self.argument = network, argument

    def forward(self, value: torch.Tensor) -> torch.Tensor:
        """Run the network."""
        return self.network(**{self.argument: value}, return_dict=False)[0]


def transformer(
    name: str, argument: str = "input_ids", shape: tuple[int, ...] = (1, TOKENS), **config: object
) -> Callable[[], Network]:
    """Return a network of transformers: its model `NameModel`, with `NameConfig`.

    Arguments:
        argument: what the network takes: numbers of tokens, or values.
    """

    def build() -> Network:
        package = importlib.import_module("transformers")
        model = getattr(package, name if "For" in name else f"{name}Model")
        settings = getattr(package, f"{name.partition('For')[0]}Config")(**config)
        settings._attn_implementation = "eager"
        value = torch.randint(0, 64, shape) if argument == "input_ids" else torch.randn(shape)
        return First(model(settings), argument), (value,)

    return build


class Cached(nn.Module):
    """A decoder that takes one token and the keys and values of those before."""

    def __init__(self, network: nn.Module, layers: int) -> None:
        super().__init__()
        self.network, self.layers = network, layers

    def forward(self, token: torch.Tensor, *past: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return the last token's features, and keys and values with those of the token."""
        cache = importlib.import_module("transformers").DynamicCache()
        for layer in range(self.layers):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        result = self.network(input_ids=token, past_key_values=cache, use_cache=True)
        pairs = ((layer.keys, layer.values) for layer in result.past_key_values.layers)
        return (result.last_hidden_state, *(tensor for pair in pairs for tensor in pair))


class Segmentation(nn.Module):
    """A network of torchvision that gives a class for each pixel."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Run the network."""
        return self.network(image)["out"]


def segmentation(name: str) -> Callable[[], Network]:
    """Return a network of torchvision that segments images."""

    def build() -> Network:
        models = importlib.import_module("torchvision.models")
        network = models.get_model(name, weights=None, weights_backbone=None)
        return Segmentation(network), (torch.randn(IMAGE),)

    return build


SMALL: dict[str, object] = {"hidden_size": 512, "vocab_size": 4096}
"""Of language models, which are larger than their speed is worth."""
DECODER = SMALL | {"num_hidden_layers": 6, "num_attention_heads": 8}


def gpt2_cached() -> Network:
    """Return a step of GPT-2 after a hundred and twenty-eight tokens."""
    package = importlib.import_module("transformers")
    config = package.GPT2Config()
    config._attn_implementation = "eager"
    past = (1, config.n_head, TOKENS, config.n_embd // config.n_head)
    tensors = (torch.randn(past) for _ in range(2 * config.n_layer))
    network = Cached(package.GPT2Model(config), config.n_layer)
    return network, (torch.randint(0, 64, (1, 1)), *tensors)


class UNet(nn.Module):
    """U-Net (Ronneberger et al., 2015) with borders that keep extents, as it is used."""

    def __init__(self, channels: int = 32, depth: int = 4) -> None:
        super().__init__()
        widths = [channels << level for level in range(depth + 1)]
        pairs = list(itertools.pairwise(widths))
        self.first = self.block(3, channels)
        self.down = nn.ModuleList(self.block(a, b) for a, b in pairs)
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in reversed(pairs))
        self.joined = nn.ModuleList(self.block(2 * a, a) for a, b in reversed(pairs))
        self.last = nn.Conv2d(channels, 1, 1)
        self.pool = nn.MaxPool2d(2)

    @staticmethod
    def block(inputs: int, outputs: int) -> nn.Module:
        """Return two convolutions."""
        layers: list[nn.Module] = []
        for before in (inputs, outputs):
            layers += [nn.Conv2d(before, outputs, 3, padding=1)]
            layers += [nn.BatchNorm2d(outputs), nn.ReLU()]
        return nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return a mask."""
        kept = [self.first(x)]
        for block in self.down:
            kept.append(block(self.pool(kept[-1])))
        y = kept.pop()
        for up, block in zip(self.up, self.joined, strict=True):
            y = block(torch.cat([kept.pop(), up(y)], 1))
        return self.last(y)


def unet() -> Network:
    """Return U-Net on an image."""
    return UNet(), (torch.randn(1, 3, 256, 256),)


NETWORKS: dict[str, Callable[[], Network]] = {
    "densenet121": vision("densenet121"),
    "detr": transformer(
        "Detr",
        "pixel_values",
        (1, 3, 320, 320),
        use_timm_backbone=True,
        backbone="resnet50",
        use_pretrained_backbone=False,
    ),
    "convnext_tiny": vision("convnext_tiny"),
    "efficientnet_b0": vision("efficientnet_b0"),
    "efficientnet_v2_s": vision("efficientnet_v2_s"),
    "ghostnet": timm("ghostnet_100"),
    "googlenet": vision("googlenet"),
    "gpt2": transformer("GPT2", n_layer=12),
    "gpt2_cached": gpt2_cached,
    "hrnet_w18": timm("hrnet_w18"),
    "llama_small": transformer(
        "Llama",
        hidden_size=512,
        intermediate_size=1376,
        num_hidden_layers=8,
        num_attention_heads=8,
        vocab_size=4096,
    ),
    "mixer_b16": timm("mixer_b16_224"),
    "mnasnet1_0": vision("mnasnet1_0"),
    "mobilenet_v3_large": vision("mobilenet_v3_large"),
    "mobilevit_s": timm("mobilevit_s", (1, 3, 256, 256)),
    "r3d_18": vision("r3d_18", (1, 3, 8, 112, 112)),
    "regnet_y_800mf": vision("regnet_y_800mf"),
    "resnet18": vision("resnet18"),
    "segformer_b0": transformer("Segformer", "pixel_values", (1, 3, 256, 256)),
    "shufflenet_v2_x1_0": vision("shufflenet_v2_x1_0"),
    "swin_t": vision("swin_t"),
    "unet": unet,
    "vit_b_16": timm("vit_base_patch16_224"),
    "wav2vec2": transformer("Wav2Vec2", "input_values", (1, 16000)),
    "albert": transformer(
        "Albert", hidden_size=768, num_attention_heads=12, intermediate_size=3072
    ),
    "bloom": transformer("Bloom", n_layer=6, n_head=8, **SMALL),
    "coatnet_nano": timm("coatnet_nano_rw_224"),
    "convmixer": timm("convmixer_768_32"),
    "cspdarknet53": timm("cspdarknet53", (1, 3, 256, 256)),
    "deberta": transformer(
        "DebertaV2",
        **DECODER | {"hidden_size": 384, "num_attention_heads": 6, "intermediate_size": 1536},
    ),
    "deeplab_mnv3": segmentation("deeplabv3_mobilenet_v3_large"),
    "distilbert": transformer("DistilBert", n_layers=6),
    "dla34": timm("dla34"),
    "dpn68": timm("dpn68"),
    "edgenext_xx": timm("edgenext_xx_small", (1, 3, 256, 256)),
    "fcn_resnet50": segmentation("fcn_resnet50"),
    "focalnet": timm("focalnet_tiny_srf"),
    "gmlp_s16": timm("gmlp_s16_224"),
    "gpt_neox": transformer("GPTNeoX", intermediate_size=2048, **DECODER),
    "hubert": transformer("Hubert", "input_values", (1, 16000), num_hidden_layers=6),
    "levit_128": timm("levit_128"),
    "mambaout": timm("mambaout_femto"),
    "mc3_18": vision("mc3_18", (1, 3, 8, 112, 112)),
    "mobilebert": transformer("MobileBert", num_hidden_layers=12),
    "mobilenetv4": timm("mobilenetv4_conv_small"),
    "nfnet_l0": timm("nfnet_l0"),
    "opt": transformer("OPT", ffn_dim=2048, word_embed_proj_dim=512, **DECODER),
    "poolformer_s12": timm("poolformer_s12"),
    "pvt_v2_b0": timm("pvt_v2_b0"),
    "qwen2": transformer("Qwen2", intermediate_size=1376, num_key_value_heads=2, **DECODER),
    "res2net50": timm("res2net50_26w_4s"),
    "resnest14d": timm("resnest14d"),
    "rexnet": timm("rexnet_100"),
    "skresnet18": timm("skresnet18"),
    "squeezenet": vision("squeezenet1_1"),
    "tinynet_a": timm("tinynet_a", (1, 3, 192, 192)),
    "xception41": timm("xception41", (1, 3, 299, 299)),
}
"""The networks by name."""


def export(name: str, path: pathlib.Path) -> None:
    """Write a network."""
    base, *variants = name.split("-")
    torch.manual_seed(0)
    network, inputs = NETWORKS[base]()
    if "f16" in variants:
        network = network.half()
        inputs = tuple(x.half() if x.is_floating_point() else x for x in inputs)
    names = [f"x{number}" for number in range(len(inputs))]
    axes = {n: {0: "batch"} for n in names} if "dynamic" in variants else None
    temporary = path.with_suffix(".tmp")
    with torch.no_grad():
        torch.onnx.export(
            network.eval(),
            inputs,
            str(temporary),
            input_names=names,
            opset_version=17,
            dynamic_axes=axes,
            dynamo=False,
        )
    temporary.rename(path)


def main() -> int:
    """Export what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of: " + " ".join(NETWORKS))
    args = parser.parse_args()
    for name in args.names:
        base, *variants = name.split("-")
        if base not in NETWORKS or not {*variants} <= {"f16", "dynamic"}:
            parser.error(f"expects names of networks, but got '{name}'; there are {[*NETWORKS]}")
    args.folder.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in args.names or NETWORKS:
        path = args.folder / f"{name}.onnx"
        if path.exists():
            continue
        try:
            export(name, path)
            print(path, flush=True)
        except Exception as error:
            failed = True
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
