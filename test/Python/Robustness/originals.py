"""Valid files of every kind that something of ours reads, for mutants to be made of."""

import contextlib
import random
import re
import shlex
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx

import espalier
from espalier import _espalier, models
from espalier.compiler import compile_module
from espalier.testing.node_suite import case_model, node_cases

ROOT = Path(__file__).parents[3]
MAX_MODEL_BYTES = 20_000
MAX_TEXT_BYTES = 20_000
MLIR = """
func.func @main(%x: tensor<?x8xf32> {espalier.name = "x"}) -> (tensor<?x3xf32> {espalier.name = "y"}) {
  %w = graph.constant dense<0.5> : tensor<8x3xf32>
  %0 = graph.matmul %x, %w : (tensor<?x8xf32>, tensor<8x3xf32>) -> tensor<?x3xf32>
  %1 = graph.relu %0 : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}
"""  # noqa: E501
SOFTMAX = """
func.func @main(%x: tensor<4x?xf32> {espalier.name = "x"}) -> (tensor<4x?xf32> {espalier.name = "y"}) {
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<4x?xf32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}
"""  # noqa: E501
KERNEL = """
func.func @main(%x: tensor<8xf32> {espalier.name = "x"}) -> (tensor<8xf32> {espalier.name = "y"}) {
  %0 = graph.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""
SCHEDULED = {"relu": KERNEL, "matmul": MLIR, "softmax": SOFTMAX}
"""Programs that scripts are applied to; the first line of a script names one."""
RULES = """
rule commute
src (ewadd ?i0 (ewmul ?i1 ?i2))
dst (ewadd (ewmul ?i2 ?i1) ?i0)

rule by-identity
src (matmul :act none ?i0 (const_imm))
dst ?i0
where dim(const_imm#1, 1) == dim(?i0, 1)
"""
ROWS = "#sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>"
COLUMNS = "#sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : dense, d0 : compressed) }>"
FILTERS = (
    "#sparse_tensor.encoding<{ map = (d0, d1, d2) -> "
    "(d0 : dense, d1 : compressed(nonunique), d2 : singleton) }>"
)
SPARSE = {
    "right": f"""
func.func @main(%x: tensor<?x3xf32>, %b: tensor<2xf32>) -> tensor<?x2xf32> {{
  %w = graph.constant dense<[[1.0, 0.0], [-0.0, 2.0], [0.0, 0.0]]> : tensor<3x2xf32, {COLUMNS}>
  %0 = graph.matmul %x, %w : (tensor<?x3xf32>, tensor<3x2xf32, {COLUMNS}>) -> tensor<?x2xf32>
  %1 = graph.add %0, %b : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %2 = graph.relu %1 : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return %2 : tensor<?x2xf32>
}}
""",
    "left": f"""
func.func @main(%x: tensor<2x5xf32>) -> tensor<3x5xf32> {{
  %w = graph.constant dense<[[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]> : tensor<3x2xf32, {ROWS}>
  %r = graph.matmul %w, %x : (tensor<3x2xf32, {ROWS}>, tensor<2x5xf32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}}
""",
    "conv": f"""
func.func @main(%x: tensor<1x2x8xf32>) -> tensor<1x2x6xf32> {{
  %w = graph.constant dense<[[[0.0, 5.0, 0.0]], [[0.0, 0.0, 2.0]]]> : tensor<2x1x3xf32, {FILTERS}>
  %r = graph.conv %x, %w {{dilations = array<i64: 1>, groups = 2 : i64, pads_high = array<i64: 0>,
    pads_low = array<i64: 0>, strides = array<i64: 1>}}
    : (tensor<1x2x8xf32>, tensor<2x1x3xf32, {FILTERS}>) -> tensor<1x2x6xf32>
  return %r : tensor<1x2x6xf32>
}}
""",
    "argument": f"""
func.func @main(%x: tensor<3x2xf32, {ROWS}>) -> tensor<3x2xf32, {ROWS}> {{
  %r = graph.relu %x : (tensor<3x2xf32, {ROWS}>) -> tensor<3x2xf32, {ROWS}>
  return %r : tensor<3x2xf32, {ROWS}>
}}
""",
    "both": f"""
func.func @main(%x: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32, {ROWS}>) {{
  %w = graph.constant dense<[[0.0, 2.0], [0.0, 3.0], [1.0, 0.0]]> : tensor<3x2xf32, {ROWS}>
  %r = graph.add %x, %w : (tensor<3x2xf32>, tensor<3x2xf32, {ROWS}>) -> tensor<3x2xf32>
  return %r, %w : tensor<3x2xf32>, tensor<3x2xf32, {ROWS}>
}}
""",
}
"""Modules with types that say how constants are stored."""
STATED = """
#row = affine_set<(n, j)[b, e] : (j - b >= 0, e - 1 - j >= 0)>
memref.global "private" constant @starts : memref<4xi32> = dense<[0, 2, 2, 5]>
memref.global "private" constant @columns : memref<5xi32> = dense<[1, 0, 3, 2, 1]>
poly.kernel @rows(
    %starts: memref<4xi32> {poly.monotonic, poly.bounded_by = affine_map<() -> (6)>},
    %columns: memref<5xi32> {poly.bounded_by = affine_map<() -> (4)>},
    %x: memref<4xf32>, %y: memref<3xf32>) {
  poly.given @ordered dims ["n"] domain [affine_set<(n) : (n >= 0, 2 - n >= 0)>]
      reads(%starts[affine_map<(n) -> (n)>], %starts[affine_map<(n) -> (n + 1)>]
            : memref<4xi32>, memref<4xi32>)
      holds affine_set<(n)[b, e] : (e - b >= 0)>
  poly.compute @zero dims ["n"] domain [affine_set<(n) : (n >= 0, 2 - n >= 0)>]
      reads() writes(%y[affine_map<(n) -> (n)>] : memref<3xf32>) {
    %0 = arith.constant 0.0 : f32
    poly.yield %0 : f32
  }
  poly.compute @acc dims ["n", "j"]
      domain [affine_set<(n, j) : (n >= 0, 2 - n >= 0, j >= 0, 4 - j >= 0)>] where #row
      reads(%starts[affine_map<(n, j) -> (n)>], %starts[affine_map<(n, j) -> (n + 1)>],
            %columns[affine_map<(n, j) -> (j)>],
            %x[affine_map<(n, j)[b, e, c] -> (c)>], %y[affine_map<(n, j) -> (n)>]
            : memref<4xi32>, memref<4xi32>, memref<5xi32>, memref<4xf32>, memref<3xf32>)
      writes(%y[affine_map<(n, j) -> (n)>] : memref<3xf32>) reduction add {
  ^bb0(%b: i32, %e: i32, %c: i32, %v: f32, %s: f32):
    %r = arith.addf %s, %v : f32
    poly.yield %r : f32
  }
}
func.func @main(%x: memref<4xf32> {espalier.name = "x"}, %y: memref<3xf32> {espalier.name = "y"})
    attributes {espalier.num_inputs = 1 : i64} {
  %starts = memref.get_global @starts : memref<4xi32>
  %columns = memref.get_global @columns : memref<5xi32>
  poly.call @rows(%starts, %columns, %x, %y)
      : memref<4xi32>, memref<5xi32>, memref<4xf32>, memref<3xf32>
  return
}
func.func @main_plan(%size: index) -> index {
  %0 = arith.constant 3 : index
  return %0 : index
}
"""
"""A kernel that states what constants hold."""
CHOICES = ('{"size": 4}', '{"size": [1, {"x": -2.5e3}], "other": null, "more": true}')
GENERATE = ("espalier-rules", "generate", "--depth=2", "--operators=paper")


def make_onnx(folder: Path, wide: bool) -> None:
    """Write models: weights, attributes, symbolic dimensions; all operators if `wide`."""
    net = models.Net("tiny")
    x = net.input("x", ["batch", 4])
    y = net.node("Softmax", net.node("Relu", net.linear(x, 4, 3)), axis=1)
    model = net.finish((y, "y", ["batch", 3]))
    onnx.save(model, folder / "tiny")
    # The weights lie beside the mutants.
    path = folder.parent / "external"
    onnx.save(model, path, save_as_external_data=True, location="weights", size_threshold=0)
    path.rename(folder / "external")
    if wide:
        for case in node_cases():
            model = case_model(case)
            if model.ByteSize() < MAX_MODEL_BYTES:
                onnx.save(model, folder / case.name)


def _texts(wide: bool) -> Iterator[tuple[str, str]]:
    """Yield the text of MLIR tests, with their paths."""
    pattern = "*/**/*.mlir" if wide else "Dialect/Graph/ops.mlir"
    for path in sorted((ROOT / "test").glob(pattern)):
        text = path.read_text(encoding="utf-8")
        yield str(path), re.sub(r"^ *// (?!RUN|-----).*\n", "", text, flags=re.MULTILINE)


def _parts(text: str) -> Iterator[str]:
    for part in text.split("// -----\n"):
        if len(part) < MAX_TEXT_BYTES:
            yield re.sub(r"^ *//.*\n", "", part, flags=re.MULTILINE)


def make_mlir(folder: Path, wide: bool) -> None:
    """Write modules that Python reads."""
    texts = [MLIR, SOFTMAX]
    for _, text in _texts(wide):
        for part in _parts(text):
            with contextlib.suppress(espalier.CompileError):
                _espalier.Module.parse(part)
                texts.append(part)
    for i, text in enumerate(texts):
        (folder / str(i)).write_text(text)


def make_passes(folder: Path, wide: bool) -> None:
    """Write MLIR after a line with options of espalier-opt that the tests have for it."""
    count = 0
    for path, text in _texts(wide):
        runs = re.findall(r"RUN: *(?:not )?espalier-opt %s ([^|>\\\n]*)[|>\n]", text)
        options = {_options(run, path) for run in runs} - {None} or {""}
        for part in _parts(text):
            for line in options:
                (folder / str(count)).write_text(f"// {line}\n{part}")
                count += 1


def _options(run: str, path: str) -> str | None:
    """Return the options of a RUN line; nothing if they name files that a test makes."""
    known = re.sub(r" 2$", "", run).replace("%S", str(Path(path).parent))
    try:
        words = shlex.split(known)
    except ValueError:
        return None
    kept = [
        word
        for word in words
        if not word.startswith(("-split-input-file", "-verify-diagnostics", "-remark"))
    ]
    if any("%" in word or word.startswith(("-o", "--o", "-mlir-reproducer")) for word in kept):
        return None
    return shlex.join(kept)


def make_script(folder: Path, wide: bool) -> None:
    """Write schedules: the default ones, one that was written, one with choices."""
    for name, program in SCHEDULED.items():
        module = _espalier.Module.parse(program)
        _espalier.lower(module, "poly")
        text = _espalier.default_schedule(module)
        (folder / name).write_text(f"// {name}\n{text}")
        schedule = espalier.Schedule(module)
        compute, loops = next(iter(schedule.computations.items()))
        schedule.split(compute, loops[0], [4])
        schedule.save(folder / "split")
        text = (folder / "split").read_text()
        (folder / "split").unlink()
        (folder / f"{name}-split").write_text(f"// {name}\n{text}")
        knob = 'transform.tune.knob<"size"> options = [2, 4] -> !transform.param<i64>'
        text = text.replace("transform.poly.split", f"%size = {knob}\n    transform.poly.split")
        (folder / f"{name}-choice").write_text(f"// {name}\n{text.replace('[4]', '[%size]')}")


def make_choices(folder: Path, wide: bool) -> None:
    """Write what is selected for choices, as JSON."""
    for i, text in enumerate(CHOICES):
        (folder / str(i)).write_text(text)


def make_arrays(folder: Path, wide: bool) -> None:
    """Write an archive of arrays."""
    np.savez(folder / "a.npz", x=np.arange(6.0).reshape(2, 3), y=np.int8([1, 2]))


def make_cache(folder: Path, wide: bool) -> None:
    """Write an entry of the cache, and beside the folder where it belongs."""
    module = _espalier.Module.parse(KERNEL)
    cache = folder.parent / "cache"
    compile_module(module, options=espalier.Options(cache=cache))
    (entry,) = cache.glob("*.espalier")
    (folder / "entry").write_bytes(entry.read_bytes())


def make_times(folder: Path, wide: bool) -> None:
    """Write a table of measured kernels, all in one file."""
    path = folder / "times"
    options = espalier.Options(
        cache=None, optimize="egraph", kernel_times=path, measure_seconds=0.1
    )
    compile_module(_espalier.Module.parse(KERNEL), options=options)
    _close(path)


def make_records(folder: Path, wide: bool) -> None:
    """Write what was tuned, of which something won, all in one file."""
    path = folder / "records"
    options = espalier.Options(cache=None, records=path)
    espalier.tune(KERNEL, trials=4, options=options)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as table:
        table.execute(
            "INSERT OR REPLACE INTO winners SELECT task, target, rule, script, seconds, "
            " 2 * seconds FROM trials WHERE status = 'measured' ORDER BY id DESC LIMIT 1"
        )
    _close(path)


def _close(path: Path) -> None:
    """Bring a database into one file."""
    with contextlib.closing(sqlite3.connect(path)) as table:
        table.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        table.execute("PRAGMA journal_mode = DELETE")


def make_rules(folder: Path, wide: bool) -> None:
    """Write rules with parameters, variables and conditions."""
    (folder / "rules").write_text(RULES)
    if wide:
        text = (ROOT / "lib/Substitution/Rules/library.rules").read_text()
        rules = [part for part in text.split("\n\n") if "rule " in part]
        for i, part in enumerate(random.Random(0).sample(rules, min(len(rules), 60))):
            (folder / str(i)).write_text(part + "\n")


def _run(*command: str) -> bytes:
    return subprocess.run(command, capture_output=True, check=True).stdout


def _emitted(folder: Path, wide: bool) -> Iterator[Path]:
    """Yield files of rules beside the folder."""
    source = folder.parent / "rules"
    source.mkdir()
    make_rules(source, wide)
    yield from source.iterdir()


def make_patterns(folder: Path, wide: bool) -> None:
    """Write rules as PDL patterns."""
    for path in _emitted(folder, wide):
        # Some rules have no such form.
        with contextlib.suppress(subprocess.CalledProcessError):
            (folder / path.name).write_bytes(_run("espalier-rules", "emit", str(path)))


def make_proof(folder: Path, wide: bool) -> None:
    """Write the proofs of rules with conditions."""
    for path in _emitted(folder, wide):
        with contextlib.suppress(subprocess.CalledProcessError):
            _run("espalier-rules", "verify", f"--proofs={folder}", str(path))


def make_costs(folder: Path, wide: bool) -> None:
    """Write a table of costs."""
    (folder / "costs").write_text("# Seconds.\n1e-6 graph.relu tensor<8xf32> -> tensor<8xf32>\n")


def make_input(folder: Path, wide: bool) -> None:
    """Write what espalier-run takes as an input."""
    (folder / "values").write_text("8xf32=1,-2.5,3e2,4,5,6,7,8")
    (folder / "iota").write_text("8xf32=iota")


def make_sparse(folder: Path, wide: bool) -> None:
    """Write the starts of three rows, and columns."""
    (folder / "csr").write_bytes(np.int32([0, 2, 2, 5, 0, 6, 1, 2, 3]).tobytes())


def make_encodings(folder: Path, wide: bool) -> None:
    """Write modules with constants whose types say how entries are stored."""
    for name, text in SPARSE.items():
        (folder / name).write_text(text)


def make_stated(folder: Path, wide: bool) -> None:
    """Write a kernel that states what constants hold."""
    (folder / "rows").write_text(STATED)


def make_stored(folder: Path, wide: bool) -> None:
    """Write models with sparse tensors: initializers, and the value of a node."""
    model = sparse_model()
    onnx.save(model, folder / "initializers")
    graph = model.graph
    node = onnx.helper.make_node("Constant", [], ["w"], sparse_value=graph.sparse_initializer[0])
    graph.node.insert(0, node)
    del graph.sparse_initializer[0]
    onnx.save(model, folder / "node")


def sparse_model() -> onnx.ModelProto:
    """Return a model with two sparse initializers, with indices of both kinds."""
    helper = onnx.helper
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Add", ["h", "b"], ["y"]),
    ]
    x, y = (
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [4, size])
        for name, size in (("x", 5), ("y", 6))
    )
    stored = [
        ("w", [5, 6], [1, -2, 3], [[0, 5], [2, 0], [2, 4]]),
        ("b", [6], [2, -1], [1, 4]),
    ]
    graph = helper.make_graph(nodes, "sparse", [x], [y])
    for name, dims, values, indices in stored:
        parts = [np.array(values, np.float32), np.array(indices, np.int64)]
        tensors = (onnx.numpy_helper.from_array(p, name) for p in parts)
        graph.sparse_initializer.append(helper.make_sparse_tensor(*tensors, dims))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def make_partition(folder: Path, wide: bool) -> None:
    """Write a finished partition of a generation of rules."""
    _run(*GENERATE, f"--resume={folder}")


MAKERS: dict[str, Callable[[Path, bool], None]] = {
    name.removeprefix("make_"): value
    for name, value in list(globals().items())
    if name.startswith("make_")
}
