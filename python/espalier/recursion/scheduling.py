"""How the nodes of structures are computed."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace

from espalier import _espalier
from espalier.compiler import Options
from espalier.errors import EspalierError, expect
from espalier.recursion.trace import Trace
from espalier.schedules import Schedule

BATCHINGS = ("soonest", "latest", "post-order")
"""In the order of the runtime's numbers."""

MAX_UNROLL = 16

REFACTOR = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) {
    transform.rec.refactor %module : !transform.any_op
    transform.yield
  }
}
"""


@dataclass(frozen=True)
class Scheduling:
    """Choices that change when nodes are computed, and never what.

    Attributes:
        hoist: compute what depends on no child for all nodes before the recursion.
        specialize: store leaves' results that are the same for all leaves once.
        refactor: compute products of one child's results with the child.
        share: look for proved substitutions that make cells faster, such as one product
            for several gates.
        batch: which interior nodes are computed together: those of a level, in which a
            node is as soon as its children are there ("soonest") or as late as its parents
            allow ("latest"); or each by itself, soon after its children ("post-order").
            "auto" is "soonest", but "post-order" for one thread (`Options(threads=False)`)
            where nearly all of the work is in products of many rows at each node.
        unroll: how many levels follow one another in the code of the loop over levels.
    """

    hoist: bool = True
    specialize: bool = True
    refactor: bool = False
    share: bool = False
    batch: str = "auto"
    unroll: int = 1

    def __post_init__(self) -> None:
        """Check the choices."""
        for field in fields(self):
            if field.name not in ("batch", "unroll"):
                expect(f"{field.name} to be a bool", getattr(self, field.name), bool)
        if self.batch not in ("auto", *BATCHINGS):
            raise EspalierError(
                f"expects one of auto, {', '.join(BATCHINGS)}, but got {self.batch!r}"
            )
        if type(self.unroll) is not int or not 1 <= self.unroll <= MAX_UNROLL:
            raise EspalierError(
                f"expects from 1 to {MAX_UNROLL} levels in a row, but got {self.unroll!r}"
            )
        if self.unroll > 1 and self.batch == "post-order":
            raise EspalierError(
                f"expects levels to unroll, but got {self.unroll} of them with batch='post-order', "
                "which has none"
            )

    def batching(self, trace: Trace, options: Options) -> str:
        """Return which nodes of a model are computed together, without "auto"."""
        if self.batch != "auto":
            return self.batch
        is_alone = not options.threads and self.unroll == 1 and trace.has_large_nodes
        return "post-order" if is_alone else "soonest"

    def decide(self, trace: Trace, options: Options) -> Scheduling:
        """Return the choices for a model, without "auto"."""
        return replace(self, batch=self.batching(trace, options))

    def attributes(self) -> str:
        """Return the model's attributes in MLIR, once `decide` has been called."""
        entries = []
        if self.batch == "post-order":
            entries.append("batching = #rec.batching<nodes>")
        if not self.hoist:
            entries.append("hoist = false")
        if not self.specialize:
            entries.append("specialize = false")
        return f" attributes {{{', '.join(entries)}}}" if entries else ""


def unroll_levels(module: _espalier.Module, count: int, options: Options) -> None:
    """Lower a program to kernels, and let those with a loop over levels do `count` in a row."""
    _espalier.lower(module, "poly", options.native())
    for name, kernel in json.loads(_espalier.describe_kernels(module)).items():
        targets = [key for key, dims in kernel["computations"].items() if dims[:1] == ["level"]]
        if targets:
            Schedule.default(module, name, options).unroll(targets[0], "level", count)
