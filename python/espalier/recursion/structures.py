"""Trees, sequences and acyclic graphs as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from espalier import _espalier
from espalier.arrays import expect_no_mask
from espalier.errors import EspalierError
from espalier.recursion.arguments import KINDS

Nested = int | tuple["Nested", ...] | list["Nested"]
"""A tree: a word, or its children."""


@dataclass(frozen=True)
class Structures:
    """Structures of a batch; nodes are numbered from 0 in each.

    Attributes:
        starts: where the nodes of each structure begin among all, and the end.
        children: (nodes, most children): the children of each node, then -1; or, with
            `row_starts`, the children of all nodes side by side.
        parents: the parent of each node, -1 for none; instead of children.
        words: a word for each node, or None.
        row_starts: where each node's children begin, and the end; None for a table.
    """

    starts: np.ndarray
    children: np.ndarray | None = None
    parents: np.ndarray | None = None
    words: np.ndarray | None = None
    row_starts: np.ndarray | None = None

    def __post_init__(self) -> None:
        """Check that the arrays are of integers, and all but the first of 32 bits."""
        starts = np.asarray(self.starts)
        if starts.ndim != 1 or not starts.size or starts.dtype.kind not in "iu":
            raise EspalierError(
                "starts: expects integers of 1 dimension, and an end at least, "
                f"but got {starts.dtype} of shape {starts.shape}"
            )
        object.__setattr__(self, "starts", np.ascontiguousarray(starts, np.int64))
        ranks = {"children": 2 if self.row_starts is None else 1, "parents": 1, "words": 1}
        for name, rank in ranks.items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _numbers(value, name, rank))
        if self.row_starts is not None:
            object.__setattr__(self, "row_starts", self._checked_rows())

    def _checked_rows(self) -> np.ndarray:
        """Return where rows of children begin, which must be rows of `children`."""
        rows = np.asarray(self.row_starts)
        if rows.shape != (self.num_nodes + 1,) or rows.dtype.kind not in "iu":
            raise EspalierError(
                f"row_starts: expects {self.num_nodes + 1} integers, "
                f"but got {rows.dtype} of shape {rows.shape}"
            )
        count = 0 if self.children is None else len(self.children)
        if rows[-1] != count:
            raise EspalierError(f"row_starts: expects an end of {count}, but got {rows[-1]}")
        return np.ascontiguousarray(rows, np.int64)

    @staticmethod
    def from_children(
        tables: Iterable[object], words: Iterable[object] | None = None
    ) -> Structures:
        """Make structures of tables of children, one for each.

        Arguments:
            tables: of shape (nodes, most children), with negative numbers after the
                last child; or lists of each node's children, of any lengths.
            words: one for each node, structure by structure.
        """
        arrays = [_table(table, f"structure #{i}") for i, table in enumerate(tables)]
        columns = max((a.shape[1] for a in arrays), default=0)
        padded = [
            np.pad(a, ((0, 0), (0, columns - a.shape[1])), constant_values=-1) for a in arrays
        ]
        return Structures(
            _starts([len(a) for a in arrays]),
            children=np.concatenate([np.zeros((0, columns), np.int32), *padded]),
            words=_words(words, [len(a) for a in arrays]),
        )

    @staticmethod
    def from_rows(
        pairs: Iterable[tuple[object, object]], words: Iterable[object] | None = None
    ) -> Structures:
        """Make structures of rows of children, as sparse matrices have them (CSR).

        Nothing is padded, so one node with many children costs no more than these.

        Arguments:
            pairs: for each structure, where the children of each of its nodes begin, and
                the end; and the children of all of its nodes.
            words: one for each node, structure by structure.
        """
        starts, children = [np.zeros(1, np.int64)], [np.zeros(0, np.int32)]
        for i, (row_starts, entries) in enumerate(pairs):
            rows = _numbers(row_starts, f"row starts of structure #{i}", 1)
            children.append(_numbers(entries, f"structure #{i}", 1))
            if not rows.size or rows[0] != 0 or rows[-1] != len(children[-1]):
                raise EspalierError(
                    f"row starts of structure #{i}: expects numbers from 0 to "
                    f"{len(children[-1])}, but got {[*rows[:1], *rows[-1:]]}"
                )
            starts.append(starts[-1][-1] + rows[1:].astype(np.int64))
        sizes = [len(rows) for rows in starts[1:]]
        return Structures(
            _starts(sizes),
            children=np.concatenate(children),
            words=_words(words, sizes),
            row_starts=np.concatenate(starts),
        )

    @staticmethod
    def from_parents(pairs: Iterable[tuple[object, object]]) -> Structures:
        """Make trees of (words, parents); the root's parent is -1."""
        given = list(pairs)
        arrays = [_numbers(p, f"structure #{i}", 1) for i, (_, p) in enumerate(given)]
        sizes = [len(a) for a in arrays]
        return Structures(
            _starts(sizes),
            parents=np.concatenate([np.zeros(0, np.int32), *arrays]),
            words=_words([words for words, _ in given], sizes),
        )

    @staticmethod
    def from_sequences(sequences: Iterable[object]) -> Structures:
        """Make sequences of words; the first word is the leaf."""
        arrays = [_numbers(s, f"structure #{i}", 1) for i, s in enumerate(sequences)]
        return Structures.from_children(
            [np.arange(-1, len(a) - 1, dtype=np.int32)[:, None] for a in arrays], arrays
        )

    @staticmethod
    def from_nested(trees: Iterable[Nested]) -> Structures:
        """Make trees of nested tuples; a leaf is its word, other nodes have word 0."""
        return Structures.from_parents(
            _flatten(tree, f"structure #{i}") for i, tree in enumerate(trees)
        )

    @property
    def num_nodes(self) -> int:
        """The number of all nodes."""
        return int(self.starts[-1])

    def parents_first(self) -> Structures:
        """Return the same nodes with edges turned round: children of a node are its parents.

        A model runs on these from the roots down. Nodes keep their numbers and words, so
        what a model returns at all nodes of a structure is a feature of these. As many
        nodes may share a parent, models of these are of kind "dag"; with `arity=1` for
        trees and sequences. Leaves are the former roots. Several parents of a node are in
        the order of their numbers.

        Example:
            >>> h = up(trees, at="nodes", emb=emb, u=u)
            >>> d = down(trees.parents_first(), at="nodes", h=h, v=v)
        """
        # Says which child is no node of its structure, and which nodes are a cycle.
        bare = replace(self, words=None).arrays()
        _espalier.Linearizer().run(bare, KINDS.index("dag"), 0, 0, 0)
        if self.parents is not None:
            return Structures(self.starts, children=self.parents[:, None], words=self.words)
        parents, children = self._edges()
        firsts = np.repeat(self.starts[:-1], np.diff(self.starts))[parents]
        counts = np.bincount(firsts + children, minlength=self.num_nodes)
        return Structures(
            self.starts,
            children=(parents - firsts)[np.argsort(firsts + children, kind="stable")],
            words=self.words,
            row_starts=np.concatenate([[0], np.cumsum(counts)]),
        )

    def _edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the nodes with children, once for each, and the numbers of the children."""
        assert self.children is not None
        if self.row_starts is not None:
            nodes = np.repeat(np.arange(self.num_nodes), np.diff(self.row_starts))
            return nodes, self.children
        nodes, columns = np.nonzero(self.children >= 0)
        return nodes, self.children[nodes, columns]

    def arrays(self) -> _espalier.StructureArrays:
        """Return the arrays as the linearizer takes them."""
        table, entries = self.children, None
        if self.row_starts is not None:
            table, entries = None, table
        return _espalier.StructureArrays(
            self.starts, table, self.parents, self.words, entries, self.row_starts
        )

    def rows(self) -> list[list[int]]:
        """Return the children of each node, numbered over all structures."""
        lists: list[list[int]] = [[] for _ in range(self.num_nodes)]
        for first, end in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True):
            for node in range(first, end):
                if self.children is not None and self.row_starts is not None:
                    row = self.children[self.row_starts[node] : self.row_starts[node + 1]]
                    lists[node] = [first + c for c in row.tolist()]
                elif self.children is not None:
                    lists[node] = [first + c for c in self.children[node].tolist() if c >= 0]
                elif self.parents is not None and self.parents[node] >= 0:
                    lists[first + int(self.parents[node])].append(node)
        return lists


def _numbers(value: object, what: str, rank: int) -> np.ndarray:
    expect_no_mask(what, value)
    array = np.asarray(value)
    if array.ndim != rank or (array.size and array.dtype.kind not in "iu"):
        raise EspalierError(
            f"{what}: expects integers of {rank} dimensions, but got {array.dtype} of {array.ndim}"
        )
    limits = np.iinfo(np.int32)
    wrong = array[(array < limits.min) | (array > limits.max)]
    if wrong.size:
        raise EspalierError(f"{what}: expects numbers of 32 bits, but got {wrong[0]}")
    return np.ascontiguousarray(array, np.int32)


def _table(value: object, what: str) -> np.ndarray:
    """Return the children of each node, and negative numbers after them."""
    if isinstance(value, list | tuple) and all(isinstance(row, list | tuple) for row in value):
        columns = max(map(len, value), default=0)
        value = [[*row, *[-1] * (columns - len(row))] for row in value]
    return _numbers(value, what, 2)


def _starts(sizes: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)


def _words(words: Iterable[object] | None, sizes: Sequence[int]) -> np.ndarray | None:
    if words is None:
        return None
    arrays = [_numbers(w, f"words of structure #{i}", 1) for i, w in enumerate(words)]
    if [len(a) for a in arrays] != list(sizes):
        raise EspalierError(
            f"expects a word for each of {list(sizes)} nodes, but got {[len(a) for a in arrays]}"
        )
    return np.concatenate([np.zeros(0, np.int32), *arrays])


def _flatten(tree: Nested, what: str) -> tuple[list[int], list[int]]:
    """Return words and parents, parents first; children of a node are in their order."""
    parents, words = [-1], [0]
    stack = [(0, tree)]
    while stack:
        number, part = stack.pop()
        if isinstance(part, tuple | list):
            if not part:
                raise EspalierError(f"{what}, node {number}: expects children, but got none")
            stack += zip(range(len(words), len(words) + len(part)), part, strict=True)
            parents += [number] * len(part)
            words += [0] * len(part)
        elif isinstance(part, int | np.integer) and not isinstance(part, bool):
            words[number] = int(part)
        else:
            raise EspalierError(
                f"{what}, node {number}: expects a word or children, but got {type(part).__name__}"
            )
    return words, parents
