"""Two products beside guard pages: `padded_rows.py ELEMENT COLUMNS`.

The rows between them have COLUMNS elements, and may be stored longer.
"""

import sys

import numpy as np

from espalier.compiler import Options, compile, interpret
from espalier.testing.guarded import SIDES, guarded_all
from random_models.heap import guarded_heap, is_guarded


def main(element: str, columns: int) -> None:
    """Compare with the interpreter, with guards on either side."""
    assert is_guarded()
    shapes = {"x": (18, 5), "v": (5, columns), "w": (columns, 19)}
    x, v, w = (f"tensor<{rows}x{width}x{element}>" for rows, width in shapes.values())
    hidden, result = f"tensor<18x{columns}x{element}>", f"tensor<18x19x{element}>"
    text = f"""
        func.func @main(%x: {x}, %v: {v}, %w: {w}) -> {result} {{
          %0 = graph.matmul %x, %v : ({x}, {v}) -> {hidden}
          %1 = graph.matmul %0, %w : ({hidden}, {w}) -> {result}
          return %1 : {result}
        }}"""
    program = compile(text, options=Options(cache=None, arena=False))
    random = np.random.default_rng(3)
    feed = {
        info.name: random.integers(-3, 4, shape).astype(info.dtype)
        for info, shape in zip(program.inputs, shapes.values(), strict=True)
    }
    (expected,) = interpret(text, feed).values()
    for side in SIDES:
        inputs = guarded_all(feed, side)
        with guarded_heap(side):
            (actual,) = program.run(inputs).values()
        np.testing.assert_array_equal(actual, expected)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
