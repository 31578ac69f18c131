"""What stands for dimensions that are not known when kernels are measured."""

from collections.abc import Mapping, Sequence

from espalier.errors import EspalierError

Sizes = Mapping[str, int] | tuple[Mapping[str, int], float]
"""Numbers for dimensions by their names, with a weight or without."""

Measured = tuple[int, float, dict[str, int]]
"""What stands for a dimension without a name, a weight, and those with names."""


def measure_lengths(lengths: Mapping[int, float] | Sequence[int]) -> list[Measured]:
    """Return sizes without names."""
    pairs = lengths.items() if isinstance(lengths, Mapping) else [(one, 1.0) for one in lengths]
    for length, weight in pairs:
        if not 0 < length < 2**31 or not 0 < weight < float("inf"):
            raise EspalierError(
                "argument 'lengths': expects lengths of 1 to 2^31 - 1 and weights above 0, "
                f"but got {length} with {weight}"
            )
    return [(length, float(weight), {}) for length, weight in pairs]


def measure_sizes(sizes: Sequence[Sizes]) -> list[Measured]:
    """Return sizes with names; what does not follow from them is the middle one of them."""
    measured = []
    for one in sizes:
        named, weight = one if isinstance(one, tuple) else (one, 1.0)
        if not named or not 0 < weight < float("inf"):
            raise EspalierError(
                "argument 'sizes': expects numbers by name and a weight above 0, "
                f"but got {dict(named)} with {weight}"
            )
        for name, number in named.items():
            if not 0 < number < 2**31:
                raise EspalierError(
                    f"argument 'sizes': expects numbers of 1 to 2^31 - 1, but got {number} "
                    f"for '{name}'"
                )
        middle = sorted(named.values())[len(named) // 2]
        measured.append((middle, float(weight), dict(named)))
    return measured
