"""From a seed to a model with its inputs."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import onnx
from onnx import helper

from random_models import recipes_contractions, recipes_elementwise, recipes_layers, recipes_shapes
from random_models.builder import DTYPES, MAX_ELEMENTS, OPSETS, Builder, Value
from random_models.evaluate import Impossible, is_float, make_model, type_code
from random_models.recipes import RECIPES

FAMILIES = (recipes_contractions, recipes_elementwise, recipes_layers, recipes_shapes)
ATTEMPTS = 200
PRUNED = 0.25
"""The share of the models whose constants are mostly zero, and stored without that."""
PRODUCTS = ("Conv", "ConvTranspose", "Einsum", "GRU", "Gemm", "LSTM", "MatMul", "RNN")
"""Operators that multiply by weights, which such models have more of."""
OTHER_MACHINES = 0.35
"""The share of the models for which policies see a machine that is drawn."""
FORMATS = ("any", "each:1", "each:2", "each:4", "union:2", "union:3", "subsets:2", "subsets:3")

Extents = list[int | str]


@dataclass
class Sample:
    """A model, its inputs, and how it is to be compiled.

    `values` has every value for these inputs; those in `exact` must be the very same
    everywhere. `symbols` has the extents of inputs, with names for unknown ones. Bit i
    of `skips` leaves out step i of `poly-form-kernels`. `choices` is a seed of what is
    chosen before kernels are formed, or 0. `sparse` is the format that constants are stored
    in without their zeros, "any" for what is chosen, or empty. `features` leaves out vectors
    of this machine, as LLVM names them: what is chosen by their length is tried on every
    machine. `machine` has the properties of the one that policies see, empty for this one:
    where caches are small, small models reach what is chosen by their sizes.
    """

    opset: int
    nodes: list[onnx.NodeProto]
    constants: list[onnx.TensorProto]
    inputs: dict[str, np.ndarray]
    outputs: list[str]
    values: dict[str, np.ndarray]
    exact: set[str]
    symbols: dict[str, Extents] = field(default_factory=dict)
    winograd: bool = True
    threads: int = 1
    skips: int = 0
    choices: int = 0
    features: str = ""
    sparse: str = ""
    machine: str = ""

    @property
    def dynamic(self) -> bool:
        """Whether an extent is unknown when the model is compiled."""
        return any(isinstance(e, str) for extents in self.symbols.values() for e in extents)

    def model(self) -> onnx.ModelProto:
        """Return the model, with unknown extents if it is dynamic."""
        infos = [
            helper.make_tensor_value_info(
                name, type_code(array.dtype), self.symbols.get(name, list(array.shape))
            )
            for name, array in self.inputs.items()
        ]
        outputs = [(name, self.values[name].dtype) for name in self.outputs]
        return make_model(self.nodes, infos, outputs, self.opset, self.constants)

    def rebound(self) -> dict[str, np.ndarray]:
        """Return inputs for other extents in place of the unknown ones."""
        return {
            name: np.resize(
                array,
                [
                    extent + 2 if isinstance(symbol, str) else extent
                    for extent, symbol in zip(
                        array.shape, self.symbols.get(name, array.shape), strict=True
                    )
                ],
            )
            for name, array in self.inputs.items()
        }

    def disagreeing(self) -> Iterator[dict[str, np.ndarray]]:
        """Yield inputs of which one has another extent in place of an unknown one.

        They may fit nevertheless.
        """
        for name, symbols in self.symbols.items():
            array = self.inputs[name]
            for dim, symbol in enumerate(symbols):
                for extent in (0, array.shape[dim] + 3):
                    if isinstance(symbol, str) and extent != array.shape[dim]:
                        shape = [*array.shape[:dim], extent, *array.shape[dim + 1 :]]
                        yield self.inputs | {name: np.resize(array, shape)}

    def static(self) -> "Sample":
        """Return the sample with all extents known."""
        return replace(self, symbols={})


def generate(seed: int) -> Sample:
    """Return the sample of a seed."""
    rng = np.random.default_rng(seed)
    builder = Builder(rng, int(rng.choice(OPSETS)))
    builder.constant_share = float(rng.choice([0.1, 0.1, 0.3, 0.3, 0.3, 0.6, 1.0]))
    # By numbers of its own, so that other models are what they are without it.
    pruning = np.random.default_rng((seed, len(FORMATS)))
    if pruning.random() < PRUNED:
        builder.pruning = pruning
        builder.constant_share = max(builder.constant_share, 0.6)
    wanted = int(rng.integers(1, 13))
    names = sorted(RECIPES) if builder.pruning is None else [*sorted(RECIPES), *10 * PRODUCTS]
    for _ in range(ATTEMPTS):
        if len(builder.nodes) >= wanted:
            break
        try_recipe(builder, str(rng.choice(names)))
    return _finish(builder)


def generate_one(name: str, seed: int) -> Sample | None:
    """Return a sample of one operator, or None if no attempt gives one."""
    rng = np.random.default_rng(seed)
    for _ in range(ATTEMPTS):
        builder = Builder(rng, int(rng.choice(OPSETS)))
        if try_recipe(builder, name):
            return _finish(builder)
    return None


def generate_convolutions(seed: int) -> Sample:
    """Return 3x3 convolutions, one after the other, and what is chosen for them."""
    rng = np.random.default_rng(seed)
    b = Builder(rng, 18)
    single = np.dtype(np.float32)
    depth = [b.integer(1, 4)] if b.chance(0.3) else []
    image = [*depth, b.integer(4, 13), b.integer(4, 13)]
    batch, channels = b.integer(1, 3), b.integer(1, 5)
    batch = min(batch, MAX_ELEMENTS // (channels * math.prod(image)))
    value = b.leaf(b.draw(single, [batch, channels, *image], -3, 3), constant=False)
    for _ in range(b.integer(1, 3)):
        if min(value.shape[-2:]) < 3:
            break
        taps = [*(b.integer(1, extent) for extent in value.shape[2:-2]), 3, 3]
        shape = (b.integer(1, 6), value.shape[1], *taps)
        weight = b.leaf(b.draw(single, shape, -1, 1), constant=True)
        # So that a result has an element at least.
        dilations = [
            b.integer(1, max(1, min(3, (extent - 1) // max(1, k - 1))))
            for extent, k in zip(value.shape[2:], taps, strict=True)
        ]
        pads = [b.integer(0, d) for d in dilations]
        operands, attributes = [value, weight], {"pads": pads * 2, "dilations": dilations}
        try:
            [value] = b.add("Conv", operands, limit=False, **attributes)
        except Impossible:  # Too large a result: what there is will do.
            break
        if follower := b.choose(["", "Relu", "Neg", "Abs"]):
            [value] = b.add(follower, [value])
    sample = _finish(b)
    if b.chance(0.5):
        sample = replace(sample, machine=draw_machine(rng, b.choose([4, 8, 16]) << 10))
    return replace(sample, winograd=True, skips=0, choices=b.integer(1, 2**30))


def generate_attention(seed: int) -> Sample:
    """Return two products with a softmax between, for a machine with small caches."""
    rng = np.random.default_rng(seed)
    b = Builder(rng, 18)
    single = np.dtype(np.float32)
    heads = b.choose([[], [2], [3], [3], [1, 2], [3, 1]])
    queries, keys = b.choose([16, 17, 20, 31, 32, 34, 36, 37, 41]), b.integer(5, 32)
    depth, width = b.integer(1, 9), b.integer(1, 9)

    def leaf(*shape: int) -> Value:
        return b.leaf(b.draw(single, [*heads, *shape], -2, 2), constant=b.chance(0.2))

    def add(operator: str, *operands: Value, **attributes: int) -> Value:
        return b.add(operator, operands, limit=False, **attributes)[0]

    value = add("MatMul", leaf(queries, depth), leaf(depth, keys))
    if b.chance(0.5):
        value = add(b.choose(["Mul", "Div"]), value, b.leaf(np.array(3, single), constant=True))
    if b.chance(0.5):
        mask = np.where(rng.random((queries, keys)) < 0.3, -np.inf, 0).astype(single)
        mask[:, 0] = 0  # Without any number there is no softmax.
        value = add("Add", value, b.leaf(mask, constant=b.chance(0.5)))
        value = add("Softmax", value, axis=-1)
    else:
        between = b.choose(["Softmax", "LogSoftmax", "LpNormalization", "Relu"])
        value = add(between, value, **({} if between == "Relu" else {"axis": -1}))
    value = add("MatMul", value, leaf(keys, width))
    if b.chance(0.5):
        value = add("Add", value, leaf(queries, width))
    sample = replace(
        _finish(b), sparse="", machine=draw_machine(rng, b.choose([4, 8, 8, 16]) << 10)
    )
    return sample if b.chance(0.2) else replace(sample.static(), skips=0, outputs=[value.name])


def generate_tokens(seed: int) -> Sample:
    """Return images that become tokens, and images again, with products between.

    Only the number of images may be unknown.
    """
    rng = np.random.default_rng(seed)
    b = Builder(rng, 18, max_elements=8 * MAX_ELEMENTS)
    dtype = np.dtype(b.choose(["f4", "f4", "f8", "f2"]))
    image = b.choose([(1, 1), (3, 5), (4, 4), (2, 8), (8, 8), (16, 16), (16, 16), (8, 32)])
    shape = [b.choose([1, 1, 2]), b.choose([3, 8, 32, 33, 32]), *image]
    first = value = b.leaf(b.draw(dtype, shape, -2, 2), constant=False)
    is_dynamic = b.chance(0.3)
    wanted = b.integer(1, 9)
    for _ in range(ATTEMPTS):
        if len(b.nodes) >= wanted:
            break
        with contextlib.suppress(Impossible):
            value = _step_of_tokens(b, value, is_dynamic)
    sample = _finish(b)
    symbols: dict[str, Extents] = {first.name: ["n", *shape[1:]]} if is_dynamic else {}
    if b.chance(0.5):
        sample = replace(sample, machine=draw_machine(rng, b.choose([4, 16, 64]) << 10))
    return replace(sample, symbols=symbols, sparse="")


def _step_of_tokens(b: Builder, value: Value, is_dynamic: bool) -> Value:
    """Add a node that reads `value`; the number of images stays first if it is unknown."""
    shape, rank = value.shape, value.rank

    def weights(*extents: int) -> Value:
        scale = 2 / math.prod(extents[1:]) ** 0.5
        return b.leaf(b.draw(value.dtype, extents, -1, 1) * value.dtype.type(scale), constant=True)

    def reshape(extents: Sequence[int]) -> Value:
        return b.add("Reshape", [value, b.fixed([0, *extents])], exact="move")[0]

    steps = ["merge", "split", "transpose", "transpose", "MatMul", "Relu", "Add"]
    step = b.choose([*steps, "Conv", "Conv", "window"] if rank == 4 else steps)
    if step == "merge":
        at = b.integer(1, rank - 2)
        return reshape([*shape[1:at], shape[at] * shape[at + 1], *shape[at + 2 :]])
    if step == "split":
        at = b.integer(1, min(rank, 5) - 1)
        inner = b.choose(d for d in range(1, shape[at] + 1) if shape[at] % d == 0)
        return reshape([*shape[1:at], shape[at] // inner, inner, *shape[at + 1 :]])
    if step == "transpose":
        start = 1 if is_dynamic or b.chance(0.7) else 0
        order = [*range(start), *(start + int(i) for i in b.rng.permutation(rank - start))]
        return b.add("Transpose", [value], exact="move", perm=order)[0]
    if step == "MatMul":
        return b.add("MatMul", [value, weights(shape[-1], b.choose([1, 8, 24]))])[0]
    if step == "Conv":
        return b.add("Conv", [value, weights(b.choose([4, 24, 32, 33]), shape[1], 1, 1)])[0]
    if step == "window":
        window = weights(shape[1], 1, 3, 3)
        return b.add("Conv", [value, window], group=shape[1], pads=[1] * 4)[0]
    if step == "Relu":
        return b.add("Relu", [value], exact="move")[0]
    alike = [v for v in b.values if v.shape == shape and v is not value and not v.source]
    if alike and b.chance(0.6):
        return b.add("Add", [value, b.choose(alike)])[0]
    extents = shape[-1:] if is_dynamic or b.chance(0.5) else shape
    operand = b.leaf(b.draw(value.dtype, extents, -2, 2), constant=is_dynamic or b.chance(0.5))
    return b.add("Add", [value, operand])[0]


def try_recipe(builder: Builder, name: str) -> bool:
    """Add an operator's node, or leave the model as it was."""
    before = [len(builder.values), len(builder.nodes), len(builder.constants)]
    inputs = dict(builder.inputs)
    readers = [value.readers for value in builder.values]
    try:
        RECIPES[name](builder, name)
        return True
    except Impossible:
        for listed, length in zip(
            (builder.values, builder.nodes, builder.constants), before, strict=True
        ):
            del listed[length:]
        builder.inputs = inputs
        for value, count in zip(builder.values, readers, strict=True):
            value.readers = count
        return False


def _finish(b: Builder) -> Sample:
    """Choose the results: all that nothing reads, some others, inputs among them."""
    if not b.values:
        b.leaf(np.ones(3, np.float32))
    outputs = [v for v in b.values if not v.source and not v.readers]
    outputs += [v for v in b.values if not v.source and v.readers and b.chance(0.15)]
    if b.chance(0.15):
        # One value as several results; an input or a constant as a result.
        value = b.choose(b.values)
        twins = [_alias(b, value) for _ in range(b.integer(1, 2))]
        outputs += twins
    if not outputs:
        outputs = [_alias(b, b.values[0])]
    if b.inputs and b.chance(0.05):
        outputs.append(next(v for v in b.values if v.name in b.inputs))
    sample = Sample(
        b.opset,
        b.nodes,
        b.constants,
        b.inputs,
        [v.name for v in outputs],
        {v.name: v.array for v in b.values},
        {v.name for v in b.values if v.exact},
        winograd=not b.chance(0.2),
        threads=2 if b.chance(0.2) else 1,
    )
    if b.chance(0.4):
        sample.symbols = _symbols(b)
    if b.chance(0.25):
        sample.skips = b.integer(1, 2**30)
    elif b.chance(0.35):
        sample.choices = b.integer(1, 2**30)
    # Products with zero are left out, also those of what is not finite.
    if b.pruning is not None and all(map(_is_finite, sample.values.values())):
        sample.sparse = str(b.pruning.choice(FORMATS))
    if b.chance(0.4):
        sample.features = b.choose(["-avx512f", "-avx512f", "-avx"])
    machines = np.random.default_rng((b.integer(0, 2**30), 1))
    if machines.random() < OTHER_MACHINES:
        sample.machine = draw_machine(machines)
    return sample


def draw_machine(rng: np.random.Generator, l2: int = 0) -> str:
    """Return what `#poly.target` says of a machine with small caches."""
    bits = int(rng.choice([128, 256, 512]))
    l1 = 2 ** int(rng.integers(7, 13))
    l2 = l2 or l1 * 2 ** int(rng.integers(0, 5))
    properties = {
        "vector_bits": bits,
        "registers": 32 if bits == 512 else int(rng.choice([8, 16, 32])),
        "l1": l1,
        "l2": l2,
        "l3": l2 * 2 ** int(rng.integers(0, 5)),
        "cores": int(rng.choice([1, 2, 4, 64])),
    }
    named = ", ".join(f"{name} = {value}" for name, value in properties.items())
    return f'cpu = "{rng.choice(["generic", "znver3"])}", features = "", {named}'


def _is_finite(array: np.ndarray) -> bool:
    return not is_float(array.dtype) or bool(np.isfinite(array.astype(np.float64)).all())


def _alias(b: Builder, value: Value) -> Value:
    assert value.dtype in DTYPES
    return b.add("Identity", [value], exact="move", limit=False)[0]


def _symbols(b: Builder) -> dict[str, Extents]:
    """Give names to extents; an extent of 1 repeats only where it is known."""
    shared = b.chance(0.7)
    symbols: dict[str, Extents] = {}
    for name, array in b.inputs.items():
        symbols[name] = [
            (f"n{extent}" if shared else f"{name}.{axis}")
            if extent != 1 and b.chance(0.6)
            else extent
            for axis, extent in enumerate(array.shape)
        ]
    return symbols
